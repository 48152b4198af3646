# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carriers: handoff carry, its other ends, and what is no connection."""

from __future__ import annotations

import os
import signal
import socket
import stat
import tempfile

import pytest
from buses import BRIDGE, BRIDGE_ROOT, BusError, wait
from carriers import (Carrier, about, carry, configure, connected_to, has_ended, is_peer, listen, other_end, program,
                      started_by, switch_off, told)
from clients import Client, Dock
from streams import Background, Continuation, receive, send
from support import PROGRAMS, Machine, case, device_path, refused, start_machine, trust_each_other, wait_for_link

Machines = tuple[Machine, Machine]


# Commands


def test_link_by_a_command(apart: Machines) -> None:
    """Where there is no direct way a command brings a link, over which activities are continued and streams go in both
    directions, and nothing is printed. At the end it leaves nothing behind."""
    desk, lap = apart
    assert not desk.connected_to(lap.device_id)
    desk.start("handoff", "carry", "lap", "--", other_end(lap))
    wait_for_link(desk, lap)
    assert (about(desk, lap.device_id, "Way"), about(desk, lap.device_id, "ConnectedAddress")) == ("carried", "by dial")
    assert (about(lap, desk.device_id, "Way"), about(lap, desk.device_id, "ConnectedAddress")) \
        == ("carried", "by a carrier")
    for one, other in ((desk, lap), (lap, desk)):
        continuation = Continuation(one, other, title=f"From {one.name}")
        for here, there in (continuation.open(), continuation.open()[::-1]):
            sending, receiving = Background(lambda end=there: send(end, 5 << 20)), Background(lambda end=here: receive(end))
            assert receiving.result() == (5 << 20, sending.result())
        continuation.release()
    started = started_by(desk.processes["handoff"].pid)
    assert started
    assert desk.kill("handoff", signal.SIGTERM) == 0
    wait(lambda: all(map(has_ended, started)), "the end of the commands")
    assert desk.log("handoff") == ""
    wait(lambda: not desk.connected_to(lap.device_id) and not lap.connected_to(desk.device_id), "the end of the link")


def test_name_of_a_carrier(apart: Machines) -> None:
    """A carrier is called as the user says, and is registered again with each bridge."""
    desk, lap = apart
    desk.start("handoff", "carry", "--label", "the tube", "lap", "--", other_end(lap))
    wait_for_link(desk, lap)
    assert about(desk, lap.device_id, "ConnectedAddress") == "by the tube"
    assert "connected by the tube" in desk.run("handoff", "devices").stdout
    desk.kill("handoff-bridge")
    desk.start_bridge()
    wait_for_link(desk, lap)
    assert about(desk, lap.device_id, "ConnectedAddress") == "by the tube"
    assert desk.log("handoff") == ""


def test_killed_carrier(apart: Machines) -> None:
    """What carries and is killed leaves no process behind, and the link ends."""
    desk, lap = apart
    desk.start("handoff", "carry", "lap", "--", other_end(lap))
    wait_for_link(desk, lap)
    started = started_by(desk.processes["handoff"].pid)
    assert started
    desk.kill("handoff")
    wait(lambda: all(map(has_ended, started)), "the end of the commands")
    wait(lambda: not desk.connected_to(lap.device_id) and not lap.connected_to(desk.device_id), "the end of the link")


def test_command_that_fails(apart: Machines) -> None:
    """What a command that fails at once has said last is told, and not again when it says the same."""
    desk, lap = apart
    ran = desk.folder / "ran"
    fails = program(desk, "fails", f"echo x >>{ran}", "echo first >&2", "echo '\033[2Jno route' >&2", "exit 255")
    desk.start("handoff", "carry", "lap", "--", fails)
    wait(lambda: told(desk, "no route"), "the last words of the command")
    for _ in range(2):
        before = len(ran.read_text())
        desk.kill("handoff-bridge")
        desk.start_bridge()
        wait(lambda: len(ran.read_text()) > before, "another attempt")
    [line] = desk.log("handoff").splitlines()
    assert "“lap”" in line and "status 255" in line and "no route" in line and "\033" not in line
    assert "first" not in line and not desk.connected_to(lap.device_id)


def test_command_that_brings_something_else(apart: Machines) -> None:
    """A command that writes something else than the other device does is no connection, and that is told."""
    desk, lap = apart
    desk.start("handoff", "carry", "lap", "--", program(desk, "banner", "echo Welcome to this machine", "exec cat"))
    wait(lambda: told(desk, "“Welcome …” instead of a greeting of Handoff"), "what it has brought to be told")
    wait(lambda: "instead of a greeting" in about(desk, lap.device_id, "ConnectionError"), "the reason to be shown")
    assert "org.freedesktop" not in about(desk, lap.device_id, "ConnectionError")


@pytest.mark.long
def test_command_that_hangs(apart: Machines) -> None:
    """A command that brings nothing is ended after nine seconds, and that is told."""
    desk, lap = apart
    desk.start("handoff", "carry", "lap", "--", program(desk, "hangs", "trap '' TERM", "exec sleep 1000"))
    wait(lambda: started_by(desk.processes["handoff"].pid), "the command")
    first = started_by(desk.processes["handoff"].pid)
    wait(lambda: "has brought nothing within 9 seconds" in about(desk, lap.device_id, "ConnectionError"), "the reason", 15)
    wait(lambda: all(map(has_ended, first)), "the end of the command")


def test_what_cannot_be_carried(apart: Machines) -> None:
    """What the command line lacks, a device that is no peer, and a program that is not there are told, each with its status."""
    desk, _lap = apart
    for arguments, status, text in (
            ((), 2, "Something is missing"), (("lap",), 2, "Something is missing"), (("lap", "true"), 2, "“--”"),
            (("pad", "--", "true"), 3, "no paired device"), (("lap", "--", "no-such-program"), 1, "no program"),
            (("--label", "a\nb", "lap", "--", "true"), 2, "control characters"),
            (("--accept", "--all"), 2, "cannot be combined"), (("--listen", "/nowhere/x"), 1, "No such file"),
            (("--listen", f"/tmp/{'x' * 200}"), 1, "too long")):
        with case(*arguments):
            result = desk.run("handoff", "carry", *arguments)
            assert (result.returncode, result.stdout) == (status, ""), result.stderr
            assert text in result.stderr


# The file of settings


def test_carriers_in_the_settings(machine_list: list[Machine]) -> None:
    """Those that handoff.conf names are carriers, also to a device that is paired only later; a line that cannot be used is
    told, and the others go on. Without any, the command ends at once."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    result = desk.run("handoff", "carry", "--all")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    configure(desk, f'lap="{other_end(lap)}"', "pad=no-such-program", 'tv=ssh "x')
    desk.start("handoff", "carry", "--all")
    wait(lambda: told(desk, "cannot be used") == 2, "what cannot be used to be told")
    assert told(desk, "“pad”") == told(desk, "“tv”") == 1
    trust_each_other(lap, desk)
    wait_for_link(desk, lap)
    assert about(desk, lap.device_id, "ConnectedAddress") == "by dial"
    assert desk.kill("handoff", signal.SIGTERM) == 0


def test_unpaired_and_paired_again(apart: Machines) -> None:
    """A device in handoff.conf that is unpaired and paired again is carried to again."""
    desk, lap = apart
    configure(desk, f"{lap.device_id[:8]}={other_end(lap)}")
    desk.start("handoff", "carry", "--all")
    wait_for_link(desk, lap)
    desk.session.call(device_path(lap.device_id), "Device.Unpair")
    wait(lambda: not is_peer(desk, lap.device_id) and not is_peer(lap, desk.device_id), "the end of the pairing on both")
    trust_each_other(lap, desk)
    wait_for_link(desk, lap)
    assert desk.log("handoff") == ""


# Other ends


def test_listening(apart: Machines) -> None:
    """What connects to a socket of this user alone is a connection of another device. The socket goes with the command, and one
    that a killed command has left is replaced."""
    desk, lap = apart
    path = lap.folder / "carried"
    listen(lap, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lap.kill("handoff")
    assert path.is_socket()
    listen(lap, path)
    carrier = Carrier(desk, lambda: connected_to(path))
    carrier.register(lap.device_id)
    wait_for_link(desk, lap)
    assert about(desk, lap.device_id, "ConnectedAddress") == "by tube"
    here, there = Continuation(lap, desk).open()
    sending, receiving = Background(lambda: send(there, 5 << 20)), Background(lambda: receive(here))
    assert receiving.result() == (5 << 20, sending.result())
    result = lap.run("handoff", "carry", "--listen", str(path))
    assert result.returncode == 1 and "listens" in result.stderr, result
    assert lap.kill("handoff", signal.SIGTERM) == 0
    assert not path.exists() and lap.log("handoff") == ""
    path.write_text("precious")
    result = lap.run("handoff", "carry", "--listen", str(path))
    assert result.returncode == 1 and "not a socket" in result.stderr, result
    assert path.read_text() == "precious"


def test_listening_without_a_bridge(machine: Machine) -> None:
    """What connects while there is no bridge is closed, which is told once, and so is what the bridge refuses."""
    path = machine.folder / "carried"
    listen(machine, path)
    switch_off(machine)
    for _ in range(3):
        with connected_to(path) as connection:
            assert connection.recv(1) == b""
    wait(lambda: told(machine, "switched off"), "the refusal to be told")
    assert told(machine, "switched off") == 1
    machine.kill("handoff-bridge", signal.SIGTERM)
    wait(lambda: not machine.session.owner(BRIDGE), "the bridge to go")

    def is_told() -> int:
        # Until it is noticed that the bridge has gone, it is the bus that says so.
        with connected_to(path) as connection:
            assert connection.recv(1) == b""
        return told(machine, "no bridge")

    assert wait(is_told, "the absence of the bridge to be told") == 1


def test_accepting(machine: Machine) -> None:
    """What the bridge refuses is told on standard error in one line, with the status that it has everywhere, and nothing is
    written to standard output; nor is anything if one of the two is closed."""
    switch_off(machine)
    for command in (("handoff", "carry", "--accept"), ("handoff", "carry", "--accept", "--json")):
        result = machine.run(*command)
        assert (result.returncode, result.stdout) == (4, ""), result
        assert len(result.stderr.splitlines()) == len(command) - 2
    result = machine.run("sh", "-c", "handoff carry --accept <&-")
    assert (result.returncode, result.stdout) == (2, "") and "closed" in result.stderr
    machine.environment |= {"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": f"{machine.folder}/nowhere"}
    result = machine.run("handoff", "carry", "--accept")
    assert (result.returncode, result.stdout) == (6, "")


def test_end_of_what_is_accepted(machine: Machine) -> None:
    """When the bridge ends a connection, standard output ends and the command succeeds, though its input goes on."""
    reading, writing = os.pipe()
    try:
        with tempfile.TemporaryFile() as output:
            pid = os.posix_spawn(str(PROGRAMS / "handoff"), ["handoff", "carry", "--accept"], machine.environment,
                                 file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_DUP2, output.fileno(), 1)])
            os.write(writing, b"GET / HTTP/1.1\r\n\r\n" * 10)
            ended = wait(lambda: (found := os.waitpid(pid, os.WNOHANG))[0] and found, "the end of the command")
            assert ended == (pid, 0)
            output.seek(0)
            assert b"handoff" not in output.read()
    finally:
        os.close(reading)
        os.close(writing)


# What the bridge takes


def test_what_is_no_connection(machine: Machine) -> None:
    """What is given to Carry and is no connected stream socket is refused."""
    reading, writing = os.pipe()
    listening, single = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    listening.bind(str(machine.folder / "s"))
    listening.listen()
    datagrams = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    packets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as file:
        for name, end in (("pipe", reading), ("end of a pipe", writing), ("file", file.fileno()),
                          ("listening socket", listening.fileno()), ("socket without a connection", single.fileno()),
                          ("datagrams", datagrams[0].fileno()), ("packets", packets[0].fileno())):
            with case(name), refused("InvalidArgs"):
                carry(machine.session, end)()
    for number in (reading, writing):
        os.close(number)
    for end in (listening, single, *datagrams, *packets):
        end.close()


def test_what_is_no_carrier(apart: Machines) -> None:
    """A carrier to a device that is no peer, or whose label cannot be shown, is refused."""
    desk, lap = apart
    carrier = Carrier(desk, lambda: socket.socketpair()[0])
    for device, label, error in (
            ("0" * 64, "tube", "NotPaired"), (desk.device_id, "tube", "NotPaired"), ("no id", "tube", "InvalidArgs"),
            (lap.device_id, "", "InvalidArgs"), (lap.device_id, "a\nb", "InvalidArgs"),
            (lap.device_id, "x" * 65, "InvalidArgs")):
        with case(device, repr(label)), refused(error):
            carrier.register(device, label)
    carrier.register(lap.device_id, "x" * 64)


def test_ten_thousand_connections(machines: Machines) -> None:
    """Who gives the bridge connections without end is refused at some point; it answers, and goes on with its peers."""
    desk, lap = machines
    origin, target, dock = Client(lap), Client(desk), Dock(desk)
    kept: list[socket.socket] = []
    refusals = 0
    for _ in range(200):
        # Those of the round before are closed now, which makes room for others.
        former, kept = kept, [end for _ in range(50) for end in socket.socketpair()]
        for end in former:
            end.close()
        for finish in [carry(desk.session, end.fileno()) for end in kept[::2]]:
            try:
                finish()
            except BusError as error:
                assert error.short_name == "LimitsExceeded", error
                refusals += 1
    assert refusals
    assert desk.session.get(BRIDGE_ROOT, "Bridge.DeviceId") == desk.device_id
    assert desk.connected_to(lap.device_id)
    origin.offer("A letter")
    dock.continue_offer(dock.offer("A letter"))
    assert dock.outcome() == (target.application_id, "", "")
    for end in kept:
        end.close()
