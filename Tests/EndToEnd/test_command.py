# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line, handoff."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from buses import wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from support import PROGRAMS, SOURCE, Machine, start_machine
from test_extension_translated import LANGUAGE, install_catalogue

Machines = tuple[Machine, Machine]
CONTACTS = str(SOURCE / "data" / "examples" / "contacts.py")
APPLICATION = ("--app-id", "org.example.Shell", "--type", "org.example.shell.note")


def done(result: subprocess.CompletedProcess[str]) -> str:
    """What a command has printed, which must have succeeded."""
    assert result.returncode == 0, result.stderr
    return result.stdout


def listed(machine: Machine, title: str) -> dict:
    """Waits until “handoff list” shows an offer, and gives it back."""
    def found() -> dict | None:
        offers = json.loads(done(machine.run("handoff", "list", "--json")))
        return next((offer for offer in offers if offer["title"] == title), None)
    return wait(found, f"“{title}” in the list")


def printed(machine: Machine, text: str) -> None:
    """Waits until a handoff that was left running has printed this."""
    wait(lambda: text in machine.log("handoff"), f"“{text}” in what handoff prints")


def test_publish_and_receive(machines: Machines) -> None:
    """What one shell publishes another receives, with its types, and both are told."""
    desk, lap = machines
    lap.start("handoff", "receive", *APPLICATION, "--once")
    printed(lap, "Waiting")
    desk.start("handoff", "publish", *APPLICATION, "--title", "A note", "--webpage", "https://example.com/note",
               "--user-info", "text=hello", "--user-info", "when:=('date', <int64 5>)", "--user-info", "n:=uint16 7")
    offer = listed(lap, "A note")
    assert offer["deviceName"] == "desk"
    assert offer["handlers"] == ["org.example.Shell"]
    output = done(lap.run("handoff", "continue", offer["activityId"][:8]))
    assert "A note" in output and "desk" in output
    wait(lambda: lap.processes["handoff"].poll() is not None, "the end of handoff receive --once")
    assert lap.processes.pop("handoff").returncode == 0
    received = json.loads(next(line for line in lap.log("handoff").splitlines() if line.startswith("{")))
    assert received["title"] == "A note"
    assert received["userInfo"]["text"] == "hello"
    assert received["userInfoTypes"] == {"text": "s", "when": "(sv)", "n": "q"}
    assert (received["deviceId"], received["deviceName"]) == (desk.device_id, "desk")
    assert received["webpageURL"] == "https://example.com/note"
    printed(desk, "which calls itself “lap”")
    assert desk.kill("handoff", signal.SIGINT) == 0
    wait(lambda: json.loads(done(lap.run("handoff", "list", "--json"))) == [], "the offer to go")


def test_list_is_a_table_for_people(machines: Machines) -> None:
    """“handoff list” prints a table with a heading and short ids; without offers it says so."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    empty = lap.run("handoff", "list")
    assert (done(empty), bool(empty.stderr)) == ("", True)
    activity = origin.offer("A letter")
    dock.offer("A letter")
    heading, line = done(lap.run("handoff", "list")).splitlines()
    assert heading.split()[:4] == ["ID", "SENT", "DEVICE", "TITLE"]
    assert line.startswith(activity.id[:8])
    for text in ("desk", "A letter", APPLICATION_ID):
        assert text in line


def test_continue_tells_what_went_wrong(machines: Machines) -> None:
    """A continuation that fails is told on standard error, with the application's words and status 1."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    dock.offer("A letter")
    target.fail("ContinueActivity", "The letter is sealed.")
    result = lap.run("handoff", "continue", activity.id)
    assert result.returncode == 1
    assert "The letter is sealed." in result.stderr
    result = lap.run("handoff", "continue", "0" * 32)
    assert result.returncode == 3
    assert "0" * 32 in result.stderr


def test_the_only_offer_is_continued_without_an_id(machines: Machines) -> None:
    """“handoff continue” without an id continues the only offer; of several it names none by itself."""
    desk, lap = machines
    dock, target = Dock(lap), Client(lap, "org.example.Shell", ("org.example.shell.note",))
    assert "No other device offers" in lap.run("handoff", "continue").stderr
    desk.start("handoff", "publish", *APPLICATION, "--title", "A note")
    dock.offer("A note")
    result = lap.run("handoff", "continue")
    assert result.returncode == 0 and "A note" in result.stdout, result
    assert target.calls


@pytest.mark.parametrize("typed, meant", [
    (("stauts",), "“handoff status”"), (("list", "--jsno"), "--json"), (("publish",), "--app-id ID, --type TYPE and --title TITLE"),
    (("receive", "--app-id", "org.example.Shell"), "--type TYPE is missing")])
def test_what_was_meant_is_said(machine: Machine, typed: tuple[str, ...], meant: str) -> None:
    """A command or option that is nearly right is suggested, and all that is missing is named at once."""
    result = machine.run("handoff", *typed)
    assert result.returncode == 2 and meant in result.stderr, result


def test_on_and_off(machine: Machine) -> None:
    """“handoff off” and “handoff on” flip the switch, and “handoff status” shows it."""
    for word, enabled in (("off", False), ("on", True)):
        assert word in done(machine.run("handoff", word))
        status = json.loads(done(machine.run("handoff", "status", "--json")))
        assert status["broker"]["enabled"] is enabled
        assert f"switched {word}" in machine.run("handoff", "status").stdout


def test_status_shows_everything(machines: Machines) -> None:
    """“handoff status” shows this device, its peers, its current activity, and no problem where there is none."""
    desk, lap = machines
    Client(desk).offer("A letter")
    status = json.loads(done(desk.run("handoff", "status", "--json")))
    assert status["bridge"]["deviceId"] == desk.device_id
    assert status["bridge"]["port"] == desk.port
    assert status["broker"]["current"]["title"] == "A letter"
    assert [device["deviceId"] for device in status["bridge"]["devices"]] == [lap.device_id]
    assert status["problems"] == []
    text = done(desk.run("handoff", "status"))
    for part in (desk.device_id, str(desk.port), "A letter", "lap", "connected"):
        assert part in text


def test_status_without_daemons(machine_list: list[Machine]) -> None:
    """Without daemons “handoff status” says what to do, with status 1; other commands fail with a reason."""
    machine = Machine("bare")
    machine_list.append(machine)
    result = machine.run("handoff", "status")
    assert result.returncode == 1
    assert "Problems" in result.stdout
    for command in (("list",), ("on",), ("continue", "0" * 32), ("devices",), ("connect", "127.0.0.1:1")):
        result = machine.run("handoff", *command)
        assert result.returncode == 6
        assert "not running" in result.stderr


def test_pairing_by_command(machine_list: list[Machine]) -> None:
    """Trusting each other, connecting, listing the devices and ending it is all done by command."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    done(desk.run("handoff", "trust", lap.device_id, "my lap"))
    done(lap.run("handoff", "trust", desk.device_id))
    assert desk.device_id in done(lap.run("handoff", "connect", f"127.0.0.1:{desk.port}"))
    wait(lambda: "paired, connected" in done(desk.run("handoff", "devices")), "the link in the list")
    done(desk.run("handoff", "untrust", "lap"))
    wait(lambda: not lap.connected_to(desk.device_id), "the pairing to end on the other side")
    devices = json.loads(done(desk.run("handoff", "devices", "--json")))
    assert not any(device["paired"] for device in devices)


def test_watch_tells_what_comes_and_goes(machines: Machines) -> None:
    """“handoff watch” prints each offer as it comes, changes and goes."""
    desk, lap = machines
    origin, _target = Client(desk), Client(lap)
    lap.start("handoff", "watch", "--json")
    activity = origin.offer("A letter")
    printed(lap, '"event":"offered"')
    activity.update(Title="A longer letter")
    printed(lap, "A longer letter")
    activity.resign_current()
    printed(lap, '"event":"withdrawn"')
    assert lap.kill("handoff", signal.SIGINT) == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_publisher_outlives_the_broker(machines: Machines, number: signal.Signals) -> None:
    """“handoff publish” publishes again when there is a new broker."""
    desk, lap = machines
    dock, _target = Dock(lap), Client(lap, "org.example.Shell", ("org.example.shell.note",))
    desk.start("handoff", "publish", *APPLICATION, "--title", "A note")
    path = dock.offer("A note")
    desk.kill("handoffd", number)
    dock.wait_until_gone(path)
    desk.start_broker()
    dock.offer("A note", 5)


def test_publisher_leaves_current_what_is(machines: Machines) -> None:
    """After a restart of the broker “handoff publish” does not take the place of what the user has turned to."""
    desk, lap = machines
    dock, _target = Dock(lap), Client(lap)
    desk.start("handoff", "publish", *APPLICATION, "--title", "A note")
    wait(lambda: re.search("^[0-9a-f]{32}$", desk.log("handoff"), re.MULTILINE), "the note")
    writer = Client(desk)
    writer.offer("A letter")
    dock.offer("A letter")
    writer.follow_broker(lambda: writer.offer("A letter"))
    desk.kill("handoffd")
    desk.start_broker()
    wait(lambda: len(re.findall("^[0-9a-f]{32}$", desk.log("handoff"), re.MULTILINE)) == 2, "the note to be back")
    dock.offer("A letter")
    status = json.loads(desk.run("handoff", "status", "--json").stdout)
    assert status["broker"]["current"]["title"] == "A letter"


@pytest.mark.parametrize("program", ["handoff", CONTACTS], ids=["handoff publish", "the example"])
def test_who_was_forgotten_comes_back(machines: Machines, program: str) -> None:
    """An application that answered no more and was forgotten says why when it goes on, registers again, and has its activity
    again."""
    desk, lap = machines
    dock = Dock(lap)
    if program == CONTACTS:
        desk.start(CONTACTS, "edit", "A note")
        Client(lap, "org.example.Contacts", ("org.example.Contacts.edit",))
    else:
        desk.start("handoff", "publish", *APPLICATION, "--title", "A note")
        Client(lap, "org.example.Shell", ("org.example.shell.note",))
    path = dock.offer("A note")
    desk.processes[program].send_signal(signal.SIGSTOP)
    for times in range(1, 4):
        dock.continue_offer(path)
        wait(lambda: len(dock.finished()) == times, "the outcome")
    dock.wait_until_gone(path)
    desk.processes[program].send_signal(signal.SIGCONT)
    wait(lambda: "forgotten" in desk.log(program), "the reason")
    wait(lambda: any(interfaces.get("org.example.Handoff.Activity", {}).get("Title") == "A note"
                     for interfaces in desk.session.managed_objects().values()), "the activity to be back")
    if program == "handoff":
        # The example has resigned: it was told that the contact goes on elsewhere.
        dock.offer("A note")


def test_publish_and_receive_under_one_id(machines: Machines) -> None:
    """Who publishes last under an id does not take what another program of that id continues."""
    desk, lap = machines
    Client(desk, "org.example.Shell", ("org.example.shell.note",)).offer("To lap")
    lap.start("handoff", "receive", *APPLICATION, "--once")
    printed(lap, "Waiting")
    receiver = lap.processes.pop("handoff")
    lap.start("handoff", "publish", *APPLICATION, "--title", "Of lap")
    wait(lambda: re.search("^[0-9a-f]{32}$", lap.log("handoff"), re.MULTILINE), "what lap publishes")
    done(lap.run("handoff", "continue", listed(lap, "To lap")["activityId"]))
    wait(lambda: receiver.poll() == 0, "handoff receive to have got it")


def test_what_is_hidden_is_listed_on_request(machines: Machines) -> None:
    """What nothing here continues is told of by “handoff list”, listed by “--all”, and shown by “handoff status”, with the
    reason."""
    desk, lap = machines
    Client(desk).offer("A letter")

    def hidden() -> dict | None:
        offers = json.loads(done(lap.run("handoff", "list", "--all", "--json")))
        return next((offer for offer in offers if offer.get("hidden")), None)

    offer = wait(hidden, "the hidden offer")
    assert (offer["title"], offer["applicationId"], offer["deviceId"]) == ("A letter", APPLICATION_ID, desk.device_id)
    assert json.loads(done(lap.run("handoff", "list", "--json"))) == []
    result = lap.run("handoff", "list")
    assert (done(result), "--all" in result.stderr) == ("", True)
    for command in (("list", "--all"), ("status",)):
        text = done(lap.run("handoff", *command))
        for part in ("Hidden", "A letter", ACTIVITY_TYPE, APPLICATION_ID, offer["reason"].rstrip(".")):
            assert part in text, text
    status = json.loads(done(lap.run("handoff", "status", "--json")))
    assert status["broker"]["hiddenOffers"] == [offer]


def test_what_was_fetched_is_not_called_continued(machines: Machines) -> None:
    """A fetch whose continuation failed is shown as a fetch, with how many there were for each device."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    target.fail("ContinueActivity", "The letter is sealed.")
    for times in (1, 2):
        dock.continue_offer(dock.offer("A letter"))
        wait(lambda: len(dock.finished()) == times, "the failure")
    text = done(desk.run("handoff", "status"))
    assert "Fetched by other devices" in text and "ontinued" not in text, text
    broker = json.loads(done(desk.run("handoff", "status", "--json")))["broker"]
    assert [fetch["kind"] for fetch in broker["fetches"]] == ["activity", "activity"]
    (device,) = broker["fetchesByDevice"]
    assert (device["deviceId"], device["title"], device["fetchCount"], device["streamCount"]) \
        == (lap.device_id, "A letter", 2, 0)


@pytest.mark.parametrize("command", [
    (), ("fly",), ("list", "too", "much"), ("list", "--jsno"), ("continue", "a", "b"), ("publish", "--title", "x"),
    ("receive",), ("--nonsense",), ("trust",), ("trust", "abc"), ("connect",), ("continue", "not hexadecimal"),
    ("publish", *APPLICATION, "--title", "x", "--user-info", "no equals sign"),
    ("publish", *APPLICATION, "--title", "x", "--user-info", "key:=[1, 'x'")])
def test_wrong_command_line(machine: Machine, command: tuple[str, ...]) -> None:
    """A wrong command line is status 2 and one line on standard error, never a crash."""
    result = machine.run("handoff", *command)
    assert result.returncode == 2, result
    assert not result.stdout
    assert 10 <= len(result.stderr) <= 400


def test_help_and_version(machine: Machine) -> None:
    """--help and --version answer on standard output, of all three programs."""
    for program in ("handoff", "handoffd", "handoff-bridge"):
        assert "Usage" in done(machine.run(program, "--help"))
        assert done(machine.run(program, "--version")).split()[0] == program
    assert "--once" in done(machine.run("handoff", "help", "receive"))


def test_refused_publication(machine: Machine) -> None:
    """What no activity may have is told with its reason, by the option that gives it or as the broker refuses it."""
    result = machine.run("handoff", "publish", *APPLICATION, "--title", "x", "--webpage", "no page")
    assert result.returncode == 1
    assert "--webpage" in result.stderr
    large = machine.run("handoff", "publish", *APPLICATION, "--title", "x", "--user-info", f"k:={[0] * 40000}")
    assert large.returncode == 1
    assert "131072" in large.stderr


def test_german(machines: Machines, tmp_path: Path) -> None:
    """Where its catalogue is installed the command is German, in its help, its errors and its tables, and its JSON is not"""
    desk, lap = machines
    origin, _target = Client(desk), Client(lap)
    origin.offer("A letter")
    listed(lap, "A letter")
    # It looks for catalogues beside the folder that it is in.
    (tmp_path / "bin").mkdir()
    handoff = shutil.copy(PROGRAMS / "handoff", tmp_path / "bin")
    install_catalogue(tmp_path / "share")
    english = done(lap.run(handoff, "status", "--json")), lap.run(handoff, "lsit", "--json").stdout
    lap.environment |= LANGUAGE
    assert "  on        Handoff einschalten\n" in done(lap.run(handoff, "help"))
    # Names of arguments are names, though there is a translation of the same word.
    assert "--type=TYPE " in done(lap.run(handoff, "publish", "--help"))
    mistaken = lap.run(handoff, "lsit")
    assert mistaken.returncode == 2
    assert mistaken.stderr == "handoff: Es gibt keinen Befehl „lsit“. Meinten Sie „handoff list“?\n"
    heading, row = done(lap.run(handoff, "list")).splitlines()
    assert heading.index("TITEL") == row.index("A letter")
    assert re.search("  (gerade eben|vor [0-9]+ s)  ", row)
    broker, bridge = done(lap.run(handoff, "status")).splitlines()[:2]
    assert broker == "Vermittler  läuft, eingeschaltet"
    assert bridge.startswith("Brücke      läuft, nimmt Verbindungen auf Port ")
    assert (done(lap.run(handoff, "status", "--json")), lap.run(handoff, "lsit", "--json").stdout) == english
