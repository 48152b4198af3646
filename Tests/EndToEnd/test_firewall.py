# SPDX-License-Identifier: LGPL-2.1-or-later
"""A firewall that keeps other devices out is told by “handoff status”, with what to let in."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT, BROKER, wait
from firewalls import NAMES, PORTS, SETTINGS, FalseFirewalld, GuardedMachine, SystemBus
from support import Machine, own_port

RANGE = "45700-45799/tcp"


@pytest.fixture
def desk(machine_list: list[Machine]) -> GuardedMachine:
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("there can't be another /etc")
    desk = GuardedMachine("desk")
    machine_list.append(desk)
    return desk


@pytest.fixture
def bus(desk: GuardedMachine) -> Iterator[SystemBus]:
    bus = SystemBus(desk)
    yield bus
    bus.end()


@pytest.fixture
def firewalld(bus: SystemBus) -> Iterator[FalseFirewalld]:
    firewalld = FalseFirewalld(bus)
    yield firewalld
    firewalld.end()


def start(desk: GuardedMachine) -> None:
    desk.start_broker()
    desk.start("handoff-bridge")
    desk.wait_for("org.example.Handoff.Bridge", "handoff-bridge")


def found(desk: GuardedMachine) -> dict[str, object]:
    """What the bridge knows of a firewall."""
    return desk.session.get(BRIDGE_ROOT, "Bridge.Firewall")


class Reports:
    """What a bridge that has been started says of a firewall: what it says by now, if anything, and each change."""

    def __init__(self, desk: GuardedMachine) -> None:
        self.all: list[dict[str, object]] = []
        desk.session.connection.signal_subscribe(
            None, "org.freedesktop.DBus.Properties", "PropertiesChanged", BRIDGE_ROOT, f"{BROKER}.Bridge", 0, self._changed)
        # Who has asked for the objects is told of changes.
        desk.session.managed_objects(BRIDGE_ROOT)
        known = found(desk)
        if known and not self.all:
            self.all.append(known)

    def _changed(self, _connection: object, _sender: str, _path: str, _interface: str, _member: str,
                 arguments: GLib.Variant) -> None:
        changed = arguments.unpack()[1]
        if "Firewall" in changed:
            self.all.append(changed["Firewall"])

    def only(self) -> dict[str, object]:
        """Waits for a report, which has to be the first: the bridge looks once after the other, so that whatever it might have
        said of what was there before would have come before it."""
        wait(lambda: self.all, "a report of a firewall")
        assert len(self.all) == 1, self.all
        return self.all[0]


def problem(desk: GuardedMachine) -> tuple[str, str]:
    """What “handoff status” says of a firewall, and what to do."""
    return next(((each["message"], each["remedy"]) for each in desk.status()["problems"] if "firewall" in each["message"]),
                ("", ""))


def test_firewalld_keeps_out(desk: GuardedMachine, firewalld: FalseFirewalld) -> None:
    """What firewalld does not let in is named, with the command for the zone; when it does, that is gone at once."""
    firewalld.zone = {"services": GLib.Variant("as", ["ssh"])}
    start(desk)
    wait(lambda: found(desk), "the firewall to be found")
    assert found(desk) == {"Program": "firewalld", "Zone": "public", "Ports": [RANGE, "5353/udp"], "Certain": True,
                           "Service": ""}
    text, remedy = problem(desk)
    assert f"in the zone public it does not let in {RANGE}, 5353/udp" in text
    assert "firewall-cmd --permanent --zone=public --add-port=45700-45799/tcp --add-port=5353/udp" in remedy
    assert RANGE in desk.run("handoff", "status").stdout
    firewalld.knows_handoff()
    firewalld.set(services=GLib.Variant("as", ["ssh", "mdns"]))
    wait(lambda: found(desk).get("Service") == "handoff", "the name of the service")
    assert found(desk)["Ports"] == [RANGE]
    assert "--zone=public --add-service=handoff" in problem(desk)[1]
    firewalld.set(services=GLib.Variant("as", ["ssh", "handoff"]))
    wait(lambda: not found(desk), "it to be let in")
    assert problem(desk) == ("", "")


@pytest.mark.parametrize("zone", [
    {"target": GLib.Variant("s", "ACCEPT")},
    {"ports": GLib.Variant(PORTS, [("1025-50000", "tcp"), ("5353", "udp")])},
    {"ports": GLib.Variant(PORTS, [("45700-45750", "tcp"), ("45751-45799", "tcp")]),
     "services": GLib.Variant("as", ["mdns"])},
    {"rules_str": GLib.Variant("as", ['rule family="ipv4" source address="10.0.0.0/8" accept'])},
    {"services": GLib.Variant("s", "nonsense"), "ports": GLib.Variant("as", ["nonsense"]),
     "target": GLib.Variant("s", "ACCEPT")},
], ids=["trusted", "ports", "ports side by side", "rich rule", "nonsense"])
def test_firewalld_lets_in(desk: GuardedMachine, firewalld: FalseFirewalld, zone: dict[str, GLib.Variant]) -> None:
    """What is let in, by whatever setting, is not complained of."""
    firewalld.zone = zone
    start(desk)
    reports = Reports(desk)
    wait(lambda: "getZoneSettings2" in firewalld.asked, "firewalld to be asked")
    firewalld.set(ports=GLib.Variant(PORTS, [("5353", "udp")]))
    assert reports.only()["Ports"] == [RANGE]


def test_firewalld_says_nothing(desk: GuardedMachine, firewalld: FalseFirewalld) -> None:
    """If firewalld does not answer the user's programs, nothing is said of it."""
    firewalld.refusal = "org.fedoraproject.FirewallD1.Exception"
    start(desk)
    reports = Reports(desk)
    wait(lambda: firewalld.asked, "firewalld to be asked")
    firewalld.refusal = ""
    firewalld.set(ports=GLib.Variant(PORTS, [("5353", "udp")]))
    assert reports.only()["Ports"] == [RANGE]


@pytest.mark.parametrize(("allowed", "zone"), [({NAMES}, "public"), (set(), "")], ids=["settings", "everything"])
def test_firewalld_behind_a_password(desk: GuardedMachine, firewalld: FalseFirewalld, allowed: set[str], zone: str) -> None:
    """What firewalld shows only after a password is not looked at, so that nobody is asked for one; that is said, with the
    command."""
    firewalld.polkit.allowed = allowed
    start(desk)
    wait(lambda: found(desk), "the firewall to be found")
    assert found(desk) == {"Program": "firewalld", "Zone": zone, "Ports": [RANGE, "5353/udp"], "Certain": False,
                           "Service": ""}
    text, remedy = problem(desk)
    assert "firewalld is switched on. Only the administrator can see whether it lets in" in text
    assert "--add-port=45700-45799/tcp --add-port=5353/udp" in remedy
    firewalld.knows_handoff()
    firewalld.polkit.allowed = {NAMES}
    firewalld.set()
    wait(lambda: found(desk)["Service"] == "handoff", "the name of the service")
    # Once it may be seen, it is looked at.
    firewalld.polkit.allowed = {NAMES, SETTINGS}
    firewalld.set(services=GLib.Variant("as", ["handoff"]))
    wait(lambda: not found(desk), "it to be let in")


def test_firewalld_without_polkit(desk: GuardedMachine, bus: SystemBus) -> None:
    """Without polkit nothing is asked of firewalld that it could refuse."""
    firewalld = FalseFirewalld(bus, has_polkit=False)
    start(desk)
    wait(lambda: found(desk), "the firewall to be found")
    assert (found(desk)["Program"], found(desk)["Certain"]) == ("firewalld", False)
    assert not firewalld.asked
    firewalld.end()


def test_firewalld_comes_and_goes(desk: GuardedMachine, bus: SystemBus) -> None:
    """A firewalld that is not there is neither asked nor started; one that starts is asked then."""
    start(desk)
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Port"), "a port")
    assert found(desk) == {}
    firewalld = FalseFirewalld(bus)
    wait(lambda: found(desk), "the firewall to be found")
    firewalld.end()
    wait(lambda: not found(desk), "the firewall to be gone")


def test_configured_port(desk: GuardedMachine, firewalld: FalseFirewalld) -> None:
    """The port that the user has set is the one to let in, and the service of the others is no help."""
    firewalld.knows_handoff()
    firewalld.zone = {"services": GLib.Variant("as", ["handoff"])}
    file = desk.folder / "config_home" / "handoff" / "handoff.conf"
    # None that the system gives away: another program could have it.
    port = own_port(desk.host_address)
    file.write_text(file.read_text() + f"[Network]\nPort={port}\n")
    start(desk)
    wait(lambda: found(desk), "the firewall to be found")
    assert (found(desk)["Ports"], found(desk)["Service"]) == ([f"{port}/tcp"], "")


def test_ufw(desk: GuardedMachine) -> None:
    """Of ufw it is known whether it is switched on, no more; that is said, with the command, and follows the switch."""
    desk.set_ufw()
    start(desk)
    wait(lambda: found(desk), "the firewall to be found")
    assert found(desk) == {"Program": "ufw", "Zone": "", "Ports": [RANGE, "5353/udp"], "Certain": False, "Service": ""}
    text, remedy = problem(desk)
    assert "Only the administrator can see whether it lets in" in text
    assert "ufw allow 45700:45799/tcp && sudo ufw allow 5353/udp" in remedy
    desk.set_ufw(enabled=False)
    wait(lambda: not found(desk), "ufw to be switched off")
    desk.set_ufw(profile=True)
    wait(lambda: found(desk), "ufw to be switched on")
    assert found(desk)["Service"] == "Handoff"
    assert "sudo ufw allow Handoff" in problem(desk)[1]


@pytest.mark.parametrize("setting", [{"enabled": False}, {"policy": "ACCEPT"}], ids=["switched off", "open"])
def test_ufw_at_rest(desk: GuardedMachine, setting: dict) -> None:
    """A ufw that is installed and keeps nobody out is not mentioned."""
    desk.set_ufw(**setting)
    start(desk)
    reports = Reports(desk)
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Port"), "a port")
    desk.set_ufw(profile=True)
    assert reports.only()["Service"] == "Handoff"


def test_without_firewall(desk: GuardedMachine, bus: SystemBus) -> None:
    """A firewalld that could be started is not."""
    start(desk)
    reports = Reports(desk)
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Port"), "a port")
    # The bridge has looked at what there was before it sees what has come.
    firewalld = FalseFirewalld(bus)
    assert reports.only()["Program"] == "firewalld"
    firewalld.end()
    assert not bus.started.exists()
