# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a sandboxed program may try that has the bus's socket itself: it gets no more than its sandbox may have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, BUS, HANDOFF_ERROR, ROOT, let_pass, wait
from clients import APPLICATION_ID, Client, Dock
from sandbox import RawClient, can_be_made
from support import Machine, wait_for_link
from test_starting import NAME, application, failed, offered, told
from test_web_pages import BROWSER, PAGE, install_browser, named

SOME_ID = "0123456789abcdef" * 2
SOME_DEVICE = "0123456789abcdef" * 4
CLOSED = ("AccessDenied", "UnknownObject", "UnknownInterface")
SET = f"{BUS}.Properties.Set"
# As long as a call takes to come, or what is said to go to the other machine.
QUIET = 0.3


@pytest.fixture
def intruder(machines: tuple[Machine, Machine]) -> Iterator[RawClient]:
    """A program in a sandbox on the first machine."""
    desk = machines[0]
    if reason := can_be_made(desk):
        pytest.skip(reason)
    client = RawClient(desk, "com.example.intruder")
    yield client
    client.close()


def gets_nothing(intruder: RawClient, machine: Machine, victim: str) -> None:
    """What is for unsandboxed programs, for the daemons and for other applications is closed to it."""
    for interface in ("Manager", "Preferences"):
        assert intruder.call(BROKER, ROOT, SET, f"('{BROKER}.{interface}', 'Enabled', <false>)") in CLOSED
    assert intruder.call(BROKER, ROOT, f"{BUS}.Properties.Get", f"('{BROKER}.Manager', 'RecentFetches')") in CLOSED
    assert intruder.call(BROKER, ROOT, f"{BUS}.Properties.GetAll", f"('{BROKER}.Preferences',)") in CLOSED
    assert intruder.call(BROKER, ROOT, f"{BROKER}.Manager.RegisterApplication",
                         f"('{APPLICATION_ID}', @as [], objectpath '/x', @a{{sv}} {{}})") == "AccessDenied"
    assert intruder.call(BROKER, ROOT, f"{BROKER}.PeerManager.AddPeer", f"('{SOME_DEVICE}', @a{{sv}} {{}})") in CLOSED
    assert intruder.call(BROKER, victim, f"{BUS}.Properties.GetAll", f"('{BROKER}.Activity',)") in CLOSED
    assert machine.session.get(ROOT, "Manager.Enabled") is True


def bridge_gives_nothing(intruder: RawClient) -> None:
    """Nor does the bridge."""
    assert intruder.call(BRIDGE, BRIDGE_ROOT, f"{BRIDGE}.Trust", f"('{SOME_DEVICE}', 'x')") in CLOSED
    assert intruder.call(BRIDGE, BRIDGE_ROOT, f"{BUS}.Properties.GetAll", f"('{BRIDGE}',)") in CLOSED
    assert intruder.call(BRIDGE, f"{BRIDGE_ROOT}/peers", f"{BROKER}.Peer.Withdraw", f"('{SOME_ID}',)") in CLOSED


def test_sandbox_with_the_bus_itself(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """A sandboxed program without a proxy gets what a sandbox may have."""
    victim = Client(machines[0]).offer("Secret", UserInfo={"secret": GLib.Variant("s", "x")})
    gets_nothing(intruder, machines[0], victim.path)
    bridge_gives_nothing(intruder)


@pytest.mark.parametrize("end", ["a zombie", "gone", "without its first thread"])
def test_process_that_has_ended(machines: tuple[Machine, Machine], intruder: RawClient, end: str) -> None:
    """Whoever has the connection of a sandboxed process that has ended is in a sandbox, also if nothing tells it."""
    victim = Client(machines[0]).offer("Secret", UserInfo={"secret": GLib.Variant("s", "x")})
    if end == "without its first thread":
        intruder.behead()
    else:
        intruder.orphan()
    if end == "gone":
        intruder.reap()
    gets_nothing(intruder, machines[0], victim.path)
    bridge_gives_nothing(intruder)


def test_sandbox_that_takes_the_bridge_s_name(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """Who owns the bridge's name in a sandbox is no bridge: it is let do nothing and asked for nothing."""
    desk, _lap = machines
    client = Client(desk)
    client.offer("Before")
    intruder.take_name(BRIDGE, "handoff-bridge")
    wait(lambda: "from a sandbox" in desk.log("handoffd"), "a warning")
    victim = client.offer("Secret", UserInfo={"secret": GLib.Variant("s", "x")})
    gets_nothing(intruder, desk, victim.path)
    for member, arguments in (("Fetch", f"('{SOME_ID}', '{SOME_ID}')"), ("Withdraw", f"('{SOME_ID}',)")):
        path = f"{ROOT}/peers/{machines[1].device_id}"
        assert intruder.call(BROKER, path, f"{BROKER}.Peer.{member}", arguments) in CLOSED
    client.offer("Later")
    desk.session.set(ROOT, "Preferences.Port", GLib.Variant("q", 45712))
    let_pass(QUIET)
    assert intruder.calls == []


def test_sandbox_that_takes_the_broker_s_name(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """Who owns the broker's name in a sandbox is no broker: the bridge tells it nothing and does nothing for it."""
    desk, lap = machines
    intruder.take_name(BROKER, "handoffd")
    wait(lambda: "from a sandbox" in desk.log("handoff-bridge"), "a warning")
    summary = "{'ActivityType': <'x'>, 'ApplicationId': <'com.example.x'>}"
    for path, member, arguments in (
            (f"{BRIDGE_ROOT}/peers", "Offer", f"('{SOME_ID}', {summary})"),
            (f"{BRIDGE_ROOT}/peers/{lap.device_id}", "Fetch", f"('{SOME_ID}', '{SOME_ID}')")):
        assert intruder.call(BRIDGE, path, f"{BROKER}.Peer.{member}", arguments) in CLOSED
    bridge_gives_nothing(intruder)
    other = Client(lap)
    other.offer("From the lap")
    let_pass(QUIET)
    assert intruder.calls == []


def test_sandbox_that_takes_the_broker_s_name_from_clients(
        machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """Who owns the broker's name in a sandbox is handed nothing by a client: no registration, and no activity."""
    desk = machines[0]
    desk.start("handoff", "publish", "--app-id", APPLICATION_ID, "--type", "com.example.notes.edit", "--title", "Secret")
    wait(lambda: re.search("^[0-9a-f]{32}$", desk.log("handoff"), re.MULTILINE), "what is published")
    intruder.take_name(BROKER, "handoffd")
    wait(lambda: "runs in a sandbox" in desk.log("handoff"), "a warning")
    let_pass(QUIET)
    assert intruder.calls == []


def test_true_daemons_after_false_ones(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """When the name is free again, the next bridge is one."""
    desk, lap = machines
    intruder.take_name(BRIDGE, "handoff-bridge")
    intruder.call(BUS, "/org/freedesktop/DBus", f"{BUS}.ReleaseName", f"('{BRIDGE}',)")
    desk.start_bridge()
    wait_for_link(desk, lap)
    Client(desk).offer("After")
    Client(lap)
    wait(lambda: any(objects.get(f"{BROKER}.RemoteActivity", {}).get("Title") == "After"
                     for objects in lap.session.managed_objects().values()), "the offer")


def own(intruder: RawClient, name: str) -> None:
    assert not intruder.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{name}', uint32 6)")


def test_sandbox_that_takes_the_browser_s_name(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """Who owns the name of the default browser in a sandbox of another application is not given the web page, and the user
    is told why."""
    desk, lap = machines
    install_browser(desk, DBusActivatable="true")
    own(intruder, BROWSER)
    origin, dock = Client(lap), Dock(desk)
    origin.offer("A page", WebpageURL=PAGE)
    path = named(dock, "A page", BROWSER)
    dock.continue_offer(path, ActivationToken="token_7")
    _application, error, message = dock.outcome()
    assert error == f"{HANDOFF_ERROR}.ApplicationFailed" and "sandbox" in message
    assert intruder.calls == []
    let_pass(QUIET)
    assert not origin.called("WasContinued")


def test_sandbox_that_takes_the_name_of_systemd(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """Who owns the name of the user's systemd in a sandbox is not told what is started, and keeps nothing from being
    started."""
    desk, lap = machines
    own(intruder, "org.freedesktop.systemd1")
    command, result = application(desk)
    dock, path = offered((lap, desk), command)
    dock.continue_offer(path, ActivationToken="token_7")
    assert told(result)["calls"] == ["WillContinueActivity", "ContinueActivity"]
    assert dock.outcome() == (NAME, "", "")
    assert intruder.calls == []


def test_sandbox_that_takes_an_application_s_name(machines: tuple[Machine, Machine], intruder: RawClient) -> None:
    """Who owns the name of an application in a sandbox of another one keeps it from being started, and the user is told why
    at once."""
    desk, lap = machines
    services = Path(desk.environment["XDG_RUNTIME_DIR"], "dbus-1", "services")
    services.mkdir(parents=True, exist_ok=True)
    (services / f"{NAME}.service").write_text(f"[D-BUS Service]\nName={NAME}\nExec=/bin/true\n")
    own(intruder, NAME)
    dock, path = offered((lap, desk), "true", DBusActivatable="true")
    assert "sandbox" in failed(dock, path)
    assert intruder.calls == []
