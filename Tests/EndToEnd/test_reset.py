# SPDX-License-Identifier: LGPL-2.1-or-later
"""“handoff reset”: everything is forgotten, and nothing that runs writes it back."""

from __future__ import annotations

import fcntl
import signal
import subprocess
from pathlib import Path

import pytest
from gi.repository import Gio, GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, BUS, ROOT, TIMEOUT, BusError, Session, wait
from clients import Client, Dock
from support import PROGRAMS, Machine, device_path, start_machine
from terminal import Terminal


def state(machine: Machine) -> Path:
    """The folder of the key and the list of peers, which has to be there."""
    [folder] = (machine.folder / "state_home" / "handoff").iterdir()
    return folder


def kept(machine: Machine) -> list[str]:
    """What is still kept of Handoff in the user's folders."""
    folders = ("config_home", "state_home", "cache_home", "runtime_dir")
    return sorted(str(path.relative_to(machine.folder)) for folder in folders
                  for path in (machine.folder / folder).glob("handoff/**/*") if path.is_file())


def reset(machine: Machine) -> subprocess.CompletedProcess[str]:
    done = machine.run("handoff", "reset", "--yes")
    # The daemons have ended as they were asked to.
    for program in ("handoffd", "handoff-bridge"):
        if process := machine.processes.get(program):
            if process.poll() is not None:
                assert machine.processes.pop(program).returncode == 0
    return done


def test_everything(machines: tuple[Machine, Machine]) -> None:
    """Key, peers, settings and what was remembered are gone, the daemons have ended, and the peer knows."""
    desk, lap = machines
    former = desk.device_id
    desk.session.set(ROOT, "Preferences.NotifyOffers", GLib.Variant("s", "never"))
    for name in ("cache_home/handoff/sites", "runtime_dir/handoff/errands/" + "0" * 32, "runtime_dir/handoff/notifications",
                 "state_home/handoff/welcomed"):
        path = desk.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    received = desk.folder / "home" / "Handoff" / "letter.txt"
    received.parent.mkdir()
    received.write_text("Dear reader")
    assert len(kept(desk)) >= 6
    done = reset(desk)
    assert done.returncode == 0, done.stderr
    assert "forgotten everything" in done.stdout and "“lap” knows" in done.stdout, done.stdout
    assert not kept(desk)
    assert not (desk.folder / "state_home" / "handoff").exists()
    assert not desk.session.owner(BROKER) and not desk.session.owner(BRIDGE)
    assert received.read_text() == "Dear reader"
    wait(lambda: not is_paired(lap, former), "the peer to forget this device")
    # What starts now is another device that knows nobody.
    desk.start_broker()
    desk.start_bridge()
    assert desk.device_id != former
    assert "No device is paired" in desk.run("handoff", "status").stdout


def is_paired(machine: Machine, device_id: str) -> bool:
    """Whether the machine has this device as a peer."""
    try:
        return machine.session.get(device_path(device_id), "Device.Paired")
    except BusError:
        return False


def test_unreachable_peer(machines: tuple[Machine, Machine]) -> None:
    """A peer that cannot be told is named, with what to do there."""
    desk, lap = machines
    peer = lap.device_id
    lap.kill("handoff-bridge", signal.SIGTERM)
    wait(lambda: not desk.session.get(device_path(peer), "Device.Connected"), "the link to end")
    assert desk.session.get(device_path(peer), "Device.DisconnectedSince") > 0
    done = reset(desk)
    assert done.returncode == 0, done.stderr
    assert "“lap” could not be told" in done.stdout, done.stdout
    assert not kept(desk)


def halfway(desk: Machine, lap: Machine) -> tuple[Client, Client, Dock]:
    """Has an application of desk continue what one of lap offers and does not save: gives back that one, this one, and who asked."""
    origin = Client(lap)
    origin.hang("WillSave")
    origin.offer("In the middle", NeedsSave=True)
    target, dock = Client(desk), Dock(desk)
    dock.continue_offer(dock.offer("In the middle"))
    origin.wait_for("WillSave")
    return origin, target, dock


def test_while_something_is_continued(machines: tuple[Machine, Machine]) -> None:
    """A continuation that is under way ends with an error, and nothing of it stays."""
    desk = machines[0]
    _origin, target, _dock = halfway(*machines)
    done = reset(desk)
    assert done.returncode == 0, done.stderr
    assert not kept(desk)
    assert not target.called("ContinueActivity")
    target.wait_for("DidFailToContinueActivity")


def test_end_of_the_broker(machines: tuple[Machine, Machine]) -> None:
    """A broker that is ended while something is continued says so to the application and to who asked for it."""
    desk = machines[0]
    _origin, target, dock = halfway(*machines)
    desk.kill("handoffd", signal.SIGTERM)
    assert dock.outcome()[1].endswith(".ConnectionUnavailable")
    target.wait_for("DidFailToContinueActivity")


def test_damaged_store(machine_list: list[Machine]) -> None:
    """A store that no bridge can use is removed too, with what was set aside of it; of a link only the link."""
    desk = start_machine(machine_list, "desk")
    folder = state(desk)
    desk.kill("handoff-bridge", signal.SIGTERM)
    (folder / "identity.pem").write_text("nonsense")
    (folder / "identity.pem.damaged-1").write_text("nonsense")
    (folder / "trust").unlink(missing_ok=True)
    (folder / "trust").mkdir()
    (folder / "trust" / "inner").write_text("nonsense")
    elsewhere = desk.folder / "elsewhere"
    elsewhere.write_text("not Handoff's")
    (folder / "link").symlink_to(elsewhere)
    configuration = desk.folder / "config_home" / "handoff"
    (configuration / "handoff.conf").unlink()
    (configuration / "handoff.conf").symlink_to(elsewhere)
    (configuration / "notes.txt").write_text("the user's own")
    (configuration / "handoff.conf.bak").write_text("the user's own")
    (configuration / "handoff.conf.7F5LKX").write_text("what was being written")
    done = reset(desk)
    assert done.returncode == 0, done.stderr
    assert kept(desk) == ["config_home/handoff/handoff.conf.bak", "config_home/handoff/notes.txt"]
    assert not folder.exists() and elsewhere.read_text() == "not Handoff's"


def test_state_elsewhere(machine_list: list[Machine]) -> None:
    """If the user has put the state elsewhere by a link, the key and the list of peers are gone there too, and what is not
    Handoff's stays."""
    desk = start_machine(machine_list, "desk")
    folder = state(desk)
    desk.kill("handoff-bridge", signal.SIGTERM)
    elsewhere = desk.folder / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    (elsewhere / "notes.txt").write_text("the user's own")
    (elsewhere / "trust.damaged-1").write_text("nonsense")
    done = reset(desk)
    assert done.returncode == 0, done.stderr
    assert not folder.is_symlink() and [path.name for path in elsewhere.iterdir()] == ["notes.txt"]


def test_question(machine_list: list[Machine]) -> None:
    """It says what goes and asks; any answer but yes changes nothing, and without a terminal it refuses."""
    desk = start_machine(machine_list, "desk")
    before = kept(desk)
    done = desk.run("handoff", "reset")
    assert done.returncode == 2 and "--yes" in done.stderr
    terminal = Terminal(desk, "handoff", "reset")
    terminal.until("Type “yes”")
    assert "paired again" in terminal.text and "Received documents stay" in terminal.text
    terminal.type("y\n")
    assert terminal.end() == 4
    assert kept(desk) == before and desk.session.owner(BROKER)
    terminal = Terminal(desk, "handoff", "reset")
    terminal.until("Type “yes”")
    terminal.type("yes\n")
    assert terminal.end() == 0
    for program in ("handoffd", "handoff-bridge"):
        assert desk.processes.pop(program).wait(5) == 0
    assert not kept(desk)


def test_other_session(machine_list: list[Machine]) -> None:
    """A bridge of another session keeps its state, and the message says so."""
    desk = start_machine(machine_list, "desk")
    before = kept(desk)
    environment = {name: value for name, value in desk.environment.items() if name != "DBUS_SESSION_BUS_ADDRESS"}
    # Where a bus would be looked for.
    (desk.folder / "no-runtime").mkdir()
    environment["XDG_RUNTIME_DIR"] = str(desk.folder / "no-runtime")
    done = subprocess.run([PROGRAMS / "handoff", "reset", "--yes"], env=environment, capture_output=True, text=True,
                          timeout=TIMEOUT, check=False)
    assert done.returncode == 1 and "Another bridge is using" in done.stderr, done
    assert kept(desk) == before and desk.session.owner(BRIDGE)


def test_bridge_of_another_session(machines: tuple[Machine, Machine]) -> None:
    """If the state is that of a bridge of another session, that is known before any peer is told anything."""
    desk, lap = machines
    other = desk.folder / "other_state"
    folder = other / "handoff" / state(desk).name
    folder.mkdir(parents=True, mode=0o700)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([PROGRAMS / "handoff", "reset", "--yes"],
                              env=desk.environment | {"XDG_STATE_HOME": str(other)}, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
    assert done.returncode == 1 and "Another bridge is using" in done.stderr, done
    assert "Nothing was changed" in done.stderr and not done.stdout
    assert is_paired(desk, lap.device_id) and is_paired(lap, desk.device_id)
    assert desk.session.owner(BROKER) and desk.session.owner(BRIDGE)


def test_daemon_that_does_not_end_after_farewells(machines: tuple[Machine, Machine]) -> None:
    """If a daemon does not end after the peers were told, the message names those that are not paired any more."""
    desk, _lap = machines
    before = kept(desk)
    process = desk.processes["handoffd"]
    process.send_signal(signal.SIGSTOP)
    try:
        done = desk.run("handoff", "reset", "--yes")
        assert done.returncode == 1 and "No file was removed" in done.stderr, done
        assert "The pairing with “lap” has ended already" in done.stderr, done.stderr
        assert {"trust", "identity.pem"} <= {Path(name).name for name in before if name in kept(desk)}
    finally:
        process.send_signal(signal.SIGCONT)
    assert desk.processes.pop("handoffd").wait(5) == 0
    # The bridge has ended first.
    assert desk.processes.pop("handoff-bridge").wait(5) == 0


class FalseBridge(Session):
    """A bridge with connected peers, by name; it does not let its name be taken, so that nothing is removed."""

    def __init__(self, machine: Machine, *names: str) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.devices = {f"{BRIDGE_ROOT}/devices/{number:064x}": name for number, name in enumerate(names)}
        # Those whose pairing cannot be ended, and whether nothing is told any more once one has ended.
        self.stubborn: set[str] = set()
        self.falls_silent = False
        self.unpaired: list[str] = []
        description = Gio.DBusNodeInfo.new_for_xml(f"""<node>
            <interface name="{BUS}.ObjectManager">
              <method name="GetManagedObjects"><arg type="a{{oa{{sa{{sv}}}}}}" direction="out"/></method>
            </interface>
            <interface name="{BROKER}.Device"><method name="Unpair"/></interface></node>""")
        [objects, device] = description.interfaces
        self.connection.register_object(BRIDGE_ROOT, objects, self._asked, None, None)
        for path in self.devices:
            self.connection.register_object(path, device, self._unpair, None, None)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BRIDGE, 4)), destination=BUS)

    def _asked(self, *arguments: object) -> None:
        invocation = arguments[-1]
        if self.falls_silent and self.unpaired:
            invocation.return_dbus_error("org.freedesktop.DBus.Error.Failed", "No more.")
            return
        known = {path: {f"{BROKER}.Device": {"Name": GLib.Variant("s", name), "Paired": GLib.Variant("b", True),
                                             "Connected": GLib.Variant("b", True)}}
                 for path, name in self.devices.items() if name not in self.unpaired}
        invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (known,)))

    def _unpair(self, *arguments: object) -> None:
        path, invocation = arguments[2], arguments[-1]
        name = self.devices[path]
        if name in self.stubborn:
            invocation.return_dbus_error("org.freedesktop.DBus.Error.UnknownObject", "It is gone.")
            return
        self.unpaired.append(name)
        invocation.return_value(None)


def test_farewell_that_fails(machine_list: list[Machine]) -> None:
    """A peer whose pairing cannot be ended keeps no other from being told, and is named as one that could not be."""
    desk = Machine("desk")
    machine_list.append(desk)
    bridge = FalseBridge(desk, "anvil", "bell", "crane")
    bridge.stubborn = {"anvil"}
    done = desk.run("handoff", "reset", "--yes")
    assert bridge.unpaired == ["bell", "crane"]
    assert "“anvil” could not be told" in done.stdout, done
    assert "“bell” knows" in done.stdout and "“crane” knows" in done.stdout
    assert "The pairing with “bell”, “crane” has ended already" in done.stderr


def test_bridge_that_falls_silent(machine_list: list[Machine]) -> None:
    """If the bridge says nothing any more, the peers of which nothing is known are named as not told."""
    desk = Machine("desk")
    machine_list.append(desk)
    bridge = FalseBridge(desk, "anvil", "bell")
    bridge.falls_silent = True
    done = desk.run("handoff", "reset", "--yes")
    assert bridge.unpaired == ["anvil", "bell"]
    assert "“anvil” could not be told" in done.stdout and "“bell” could not be told" in done.stdout, done


def test_daemon_that_does_not_end(machine_list: list[Machine]) -> None:
    """If a daemon does not end, nothing is removed."""
    desk = start_machine(machine_list, "desk")
    before = kept(desk)
    process = desk.processes["handoff-bridge"]
    process.send_signal(signal.SIGSTOP)
    try:
        done = desk.run("handoff", "reset", "--yes")
        assert done.returncode == 1 and "No file was removed" in done.stderr, done
        assert str(process.pid) in done.stderr
        assert kept(desk) == before
    finally:
        process.send_signal(signal.SIGCONT)
    # Once it goes on, it sees that it has lost its name.
    assert desk.processes.pop("handoff-bridge").wait(5) == 0


def test_what_stays_is_told(machine_list: list[Machine]) -> None:
    """What cannot be removed is listed with the reason, and the rest is removed."""
    desk = Machine("desk")
    machine_list.append(desk)
    folder = desk.folder / "cache_home" / "handoff"
    (folder / "sites").mkdir(parents=True)
    attempt = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder / "sites"], capture_output=True, check=False)
    if attempt.returncode:
        pytest.skip("nothing can be mounted")
    try:
        done = reset(desk)
        assert done.returncode == 1, done
        assert f"{folder / 'sites'} could not be removed" in done.stderr, done.stderr
        assert not (desk.folder / "config_home" / "handoff" / "handoff.conf").exists()
    finally:
        subprocess.run(["umount", folder / "sites"], check=True)
