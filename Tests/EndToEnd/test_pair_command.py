# SPDX-License-Identifier: LGPL-2.1-or-later
"""“handoff pair”: what its user sees and types, whoever is at the other end."""

from __future__ import annotations

import json
import re
import select
import shutil
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

import pytest
from gi.repository import GLib
import pairing
from buses import BRIDGE_ROOT, BusError, wait
from finding import hosted, nearby
from link import Link, method_call
from pairing import discoverable
from rig import Network, start_hosted
from support import Machine, start_machine, wait_for_link
from terminal import Terminal, Typing
from test_announcements import set_clock
from test_opening import clocked_peers, secret_of
from transcript import Scribe, octets

Machines = tuple[Machine, Machine]
CODE = r"\b\d{3}\s?\d{3}\b"
# What a device may call itself that plays the prompt with a code of its own.
HOSTILE = "Pixel” (device 8f3a91c2) has to show the same code: 123 456"


def named(machine_list: list[Machine], name: str, calls_itself: str) -> Machine:
    """A machine that calls itself something else than the tests do."""
    machine = Machine(name)
    machine_list.append(machine)
    file = machine.folder / "config_home" / "handoff" / "handoff.conf"
    file.write_text(f"[Device]\nName={calls_itself}\n")
    machine.start_broker()
    machine.start_bridge()
    return machine


@pytest.fixture
def strangers(machine_list: list[Machine]) -> Machines:
    """Two machines that do not know each other."""
    return start_machine(machine_list, "desk"), start_machine(machine_list, "lap")


def is_discoverable(machine: Machine) -> bool:
    return machine.session.get(BRIDGE_ROOT, "Bridge.Discoverable")


def asking(machine: Machine, name: str) -> tuple[Scribe, Link]:
    """A stranger of this name that asks this machine to be paired, and has shown what it committed itself to."""
    device = Scribe()
    link = device.link_to(machine)
    transcript = device.transcript(link, machine)
    link.hello(paired=False, Name=GLib.Variant("s", name))
    link.call("Pairing.Commit", octets(transcript.commitment()))
    link.call("Pairing.Reveal", octets(transcript.nonce))
    wait(lambda: pairing.state(machine, device.id) == "comparing", "the code")
    return device, link


@pytest.mark.parametrize("answer", ["y\n", "n\n", ""])
def test_pair_by_command(strangers: Machines, answer: str) -> None:
    """“handoff pair” shows the code on both machines and asks; “handoff unpair” ends it on both."""
    desk, lap = strangers
    there = Typing(desk, "handoff", "pair")
    port = there.until(r"HOST:(\d+)")
    here = Typing(lap, "handoff", "pair", f"127.0.0.1:{port}")
    code = here.until(r"(\d{3} \d{3})")
    assert there.until(r"(\d{3} \d{3})") == code
    there.type("yes\n")
    if answer:
        here.type(answer)
    else:
        here.process.stdin.close()
    if answer != "y\n":
        assert here.end() == (4 if answer else 1) and there.end() == 4
        assert "Not paired" in here.text and "Not paired" in there.text
        return
    assert here.end() == 0 and there.end() == 0
    assert f"Paired with device {desk.device_id}, which calls itself “desk”." in here.text
    assert "which calls itself “lap”." in there.text
    assert not is_discoverable(desk), "nobody else is to find it"
    wait_for_link(desk, lap)
    result = lap.run("handoff", "unpair", "desk")
    assert result.returncode == 0, result.stderr
    wait(lambda: not pairing.shown(desk, lap.device_id).get("Paired"), "desk to be told")


def test_named_before_it_can_be_found(network: Network, machine_list: list[Machine]) -> None:
    """A device that is named a moment before it lets itself be found is waited for; one that does not come is not there."""
    desk, lap = hosted(network, machine_list)
    here = Typing(lap, "handoff", "pair", "desk")
    here.until("Looking for “(desk)”")
    there = Typing(desk, "handoff", "pair")
    assert here.until(r"(\d{3} \d{3})") == there.until(r"(\d{3} \d{3})")
    here.type("z\n")
    here.until("(Type “y” if)")
    here.process.stdin.close()
    result = lap.run("handoff", "pair", "nobody")
    assert (result.returncode, "There is no device “nobody”." in result.stderr) == (3, True)


def test_a_name_shows_no_other_code(machine_list: list[Machine]) -> None:
    """A device that calls itself what the command would say, with a false code, cannot put that before the true one."""
    desk, lap = start_machine(machine_list, "desk"), named(machine_list, "lap", HOSTILE)
    there = Terminal(desk, "handoff", "pair")
    here = Terminal(lap, "handoff", "pair", f"127.0.0.1:{there.until(r'HOST:([0-9]+)')}")
    for screen, machine, other in ((there, desk, lap), (here, lap, desk)):
        screen.until(r"\[y/N\]")
        code = pairing.shown(machine, other.device_id)["PairingCode"]
        assert re.search(CODE, screen.text)[0] == code, screen.text
        assert code in screen.text.splitlines(), "it stands alone"
    assert "123 456" not in there.text
    line = next(line for line in there.text.splitlines() if "Pixel" in line)
    assert re.fullmatch("“[^“”]*”", line), "the name has a line of its own, and does not end its quotation"
    there.type("y\n")
    here.type("y\n")
    assert (there.end(), here.end()) == (0, 0)
    assert there.text.index(lap.device_id) < there.text.rindex("Pixel")
    wait_for_link(desk, lap)
    for command in (("devices",), ("status",), ("pair", "nobody")):
        result = desk.run("handoff", *command)
        assert not re.search(CODE, re.sub("[0-9a-f]{64}", "", result.stdout + result.stderr)), result
    # The name can be typed as it is shown.
    shown = re.search("“(Pixel.*)”", there.text)[1]
    assert desk.run("handoff", "unpair", shown).returncode == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, "terminal"], ids=str)
@pytest.mark.parametrize("stage", ["waiting", "comparing"])
def test_interrupted(machine: Machine, stage: str, how: signal.Signals | str) -> None:
    """However “handoff pair” is interrupted, the device cannot be found any more, and the attempt is over."""
    screen = Terminal(machine, "handoff", "pair")
    screen.until("HOST:")
    assert is_discoverable(machine)
    device = None
    if stage == "comparing":
        device, _link = asking(machine, "lap")
        screen.until(r"\[y/N\]")
    if how == "terminal":
        screen.close()
        assert screen.end() == 1
    else:
        assert screen.interrupt(how) == 1
        assert "Interrupted" in screen.text
    assert not is_discoverable(machine)
    if device:
        assert pairing.state(machine, device.id) in ("", "none")
        assert not pairing.shown(machine, device.id).get("Paired")


def test_interrupted_while_it_connects(machine: Machine) -> None:
    """An interruption is heard at once, also while a device is being connected to that does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        screen = Terminal(machine, "handoff", "pair", f"127.0.0.1:{silent.getsockname()[1]}")
        wait(lambda: select.select([silent], [], [], 0)[0], "the connection")
        assert screen.interrupt() == 1
    assert "Interrupted" in screen.text


def test_what_others_have_switched_on_stays_on(machine: Machine) -> None:
    """A device that could be found before can be found after “handoff pair” too."""
    discoverable(machine)
    screen = Terminal(machine, "handoff", "pair")
    screen.until("HOST:")
    assert screen.interrupt() == 1
    assert is_discoverable(machine)


def test_whose_output_nobody_reads(machine: Machine) -> None:
    """A command whose reader has gone ends, and leaves nothing switched on."""
    script = "handoff pair 2>&1 </dev/null | head -n 1"
    reader = Typing(machine, "sh", "-c", script)
    reader.until("HOST:")
    with suppress(AssertionError, BusError):
        # What the command has to say of this one it cannot.
        asking(machine, "lap")
    assert reader.end() == 0
    wait(lambda: not is_discoverable(machine), "nobody to find it any more")


def test_the_only_one_that_asks_is_named(machine: Machine) -> None:
    """One that was waiting before is not taken without a word: its id stands before all else."""
    discoverable(machine)
    device, _link = asking(machine, HOSTILE)
    screen = Terminal(machine, "handoff", "pair")
    screen.until(r"\[y/N\]")
    assert f"Device {device.id[:8]} asks to be paired.\n" in screen.text
    assert re.search(CODE, screen.text.replace(device.id[:8], ""))[0] \
        == pairing.shown(machine, device.id)["PairingCode"]
    screen.type("n\n")
    assert screen.end() == 4


def test_of_several_none_is_picked(machine: Machine) -> None:
    """When several ask they are listed, harmlessly, and the user says which one it is; the others are left alone."""
    discoverable(machine)
    (first, _one), (second, _other) = asking(machine, HOSTILE), asking(machine, "lap")
    screen = Terminal(machine, "handoff", "pair")
    screen.until("Type the number")
    assert not re.search(CODE, screen.text.replace(first.id[:8], "").replace(second.id[:8], "")), screen.text
    numbers = dict(re.findall(r"(\d)  asks +device (\w{8})", screen.text))
    assert sorted(numbers.values()) == sorted([first.id[:8], second.id[:8]])
    screen.type("7\n")
    screen.until("not one of the numbers")
    chosen = next(number for number, start in numbers.items() if start == second.id[:8])
    screen.type(f"{chosen}\n")
    screen.until(r"\[y/N\]")
    assert pairing.shown(machine, second.id)["PairingCode"] in screen.text
    assert pairing.shown(machine, first.id)["PairingCode"] not in screen.text
    screen.type("n\n")
    assert screen.end() == 4
    assert pairing.state(machine, first.id) == "comparing"


def test_of_several_none_is_picked_without_a_keyboard(machine: Machine) -> None:
    """Where nobody can choose, the command ends with the list, as a wrong command line, and none is paired."""
    discoverable(machine)
    first, _one = asking(machine, "one")
    second, _other = asking(machine, "two")
    result = machine.run("handoff", "pair")
    assert result.returncode == 2
    for part in (first.id[:8], second.id[:8], "“one”", "“two”"):
        assert part in result.stderr
    assert pairing.state(machine, first.id) == pairing.state(machine, second.id) == "comparing"


def test_one_that_asks_beside_a_stranger_nearby(network: Network, machine_list: list[Machine]) -> None:
    """One that asks is not picked while another device lets itself be found; both are listed with their places."""
    network.add("pad")
    network.start_avahi()
    desk, lap, tablet = (start_hosted(machine_list, host) for host in network.hosts.values())
    lap.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", HOSTILE))
    discoverable(lap)
    wait(lambda: nearby(desk), "lap to be nearby")
    screen = Terminal(desk, "handoff", "pair")
    port = screen.until(r"HOST:(\d+)")
    screen.until("Nearby at ")
    asks = Typing(tablet, "handoff", "pair", f"{desk.place.address}:{port}")
    number = screen.until(r"(\d)  asks")
    assert re.search(r"\d  nearby +at .*" + re.escape(lap.place.address), screen.text), screen.text
    assert "123 456" not in screen.text
    screen.type(f"{number}\n")
    code = screen.until(r"\n(\d{3} \d{3})\n")
    assert asks.until(r"(\d{3} \d{3})") == code
    screen.type("y\n")
    asks.type("y\n")
    assert (screen.end(), asks.end()) == (0, 0)


def stranger_that_waits(machine: Machine) -> Callable[[], bool]:
    """A stranger that asks when it may not any more without the user; tells whether it was answered."""
    for attempt in range(4):
        device = Scribe()
        link = device.link_to(machine)
        link.hello(paired=False)
        serial = link.send(method_call("Pairing.Commit", octets(bytes(32))))
        if attempt < 3:
            wait(lambda: link.answer_to(serial), "the answer")
            link.close()
            wait(lambda: pairing.state(machine, device.id) in ("", "none"), "the end")
    wait(lambda: pairing.state(machine, device.id) == "waiting", "the stranger to wait")
    return lambda: link.answer_to(serial) is not None


def test_a_stranger_that_waits_is_not_answered_among_others(machine: Machine) -> None:
    """A stranger that waits is not even answered as long as the user has not chosen it."""
    discoverable(machine)
    is_answered = stranger_that_waits(machine)
    other = Scribe()
    link = other.link_to(machine)
    link.hello(paired=False)
    screen = Terminal(machine, "handoff", "pair")
    number = screen.until(r"(\d)  asks")
    assert not is_answered()
    screen.type(f"{number}\n")
    wait(is_answered, "the answer, once it was chosen")
    screen.interrupt()


def test_titles_and_names_stay_in_their_place(machine_list: list[Machine]) -> None:
    """A title or name with line ends, quotation marks, colours and columns of its own neither leaves its line nor its quotation
    in any command."""
    desk, lap = named(machine_list, "desk", "desk”   x   “123 456"), start_machine(machine_list, "lap")
    desk.trust(lap.device_id, "lap")
    lap.trust(desk.device_id, "desk")
    desk.dial(lap.port)
    wait_for_link(desk, lap)
    title = "A” of “b”\n0123abcd  desk  Letter\u202e\x1b[2J     com.example.x  „«"
    desk.start("handoff", "publish", "--app-id", "org.example.Shell", "--type", "org.example.note", "--title", title)
    lap.start("handoff", "watch")

    def offered() -> list[dict]:
        return json.loads(lap.run("handoff", "list", "--all", "--json").stdout)

    wait(lambda: desk.log("handoff") and offered(), "the offer")
    for arguments in (("list", "--all"), ("status",)):
        result = lap.run("handoff", *arguments)
        lines = [line for line in result.stdout.splitlines() if "A' of 'b'" in line]
        assert len(lines) == 1, result
        for text in ("\x1b", "\u202e", "”", "„", "«", "123 456"):
            assert text not in lines[0], lines[0]
        assert not any(line.startswith("0123abcd") for line in result.stdout.splitlines())


def test_a_restored_backup_has_to_be_paired_again(machine_list: list[Machine]) -> None:
    """A device whose state folder is an old copy cannot be linked by the secret of then, until both are paired again."""
    desk, lap = clocked_peers(machine_list)
    first, lap_id = secret_of(lap), lap.device_id
    state, copy = lap.folder / "state_home" / "handoff", lap.folder / "copy"
    shutil.copytree(state, copy)

    def link_anew() -> None:
        lap.kill("handoff-bridge")
        wait(lambda: not desk.connected_to(lap_id), "the end of the link")
        lap.start_bridge()
        wait_for_link(desk, lap)

    # Another secret, and a link by which both know that the other has it: then the former is forgotten.
    set_clock(desk, 25 * 3600)
    link_anew()
    wait(lambda: secret_of(desk) == secret_of(lap) != first, "another secret")
    link_anew()
    lap.kill("handoff-bridge")
    shutil.rmtree(state)
    shutil.copytree(copy, state)
    lap.start_bridge()
    assert secret_of(lap) == first
    # The one that dials can say what is wrong.
    wait(lambda: "pair both again" in desk.run("handoff", "status").stdout, "the reason")
    for one, other in ((lap, desk), (desk, lap)):
        result = one.run("handoff", "connect", f"127.0.0.1:{other.port}")
        assert result.returncode == 5, result
    assert not lap.connected_to(desk.device_id) and not desk.connected_to(lap_id)
    there = Typing(desk, "handoff", "pair")
    here = Typing(lap, "handoff", "pair", f"127.0.0.1:{there.until(r'HOST:([0-9]+)')}")
    for screen in (there, here):
        screen.until(r"\[y/N\]")
        screen.type("y\n")
    assert (there.end(), here.end()) == (0, 0), there.text + here.text
    wait_for_link(desk, lap)
    assert secret_of(desk) == secret_of(lap) != first
