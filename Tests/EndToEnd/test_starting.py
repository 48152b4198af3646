# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications that do not run, and are started by the command lines of their desktop entries."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import HANDOFF_ERROR, ROOT, let_pass, wait
from clients import Client, Dock
from link import SOME_ID, Device, offer
from support import SANITIZED, Machine, memory
from test_desktop_entries import STARTED, have_bus_start, install

Machines = tuple[Machine, Machine]
NAME, TYPE = "com.example.started-by-exec", "com.example.started.edit"


def script(machine: Machine, text: str) -> str:
    """A command line that runs this text as a shell script."""
    path = machine.folder / "program"
    path.write_text(text)
    return f"sh {path}"


def application(machine: Machine, name: str = NAME, activity_type: str = TYPE) -> tuple[str, Path]:
    """The command line of an application, and the file in which it tells what it was handed."""
    result = machine.folder / f"result-{name}"
    return f"{sys.executable} {STARTED} {name} {activity_type} {result}", result


def offered(machines: Machines, command: str, **keys: str) -> tuple[Dock, str]:
    """An offer from the first machine of what an application continues that the second has installed with this command
    line, and what shows it there."""
    desk, lap = machines
    install(lap, NAME, ActivityTypes=TYPE, **({"Exec": command} | keys))
    origin, dock = Client(desk, application_id=NAME, types=(TYPE,)), Dock(lap)
    origin.create(TYPE, Title="Start me", UserInfo={"page": GLib.Variant("u", 7)}).become_current()
    return dock, dock.offer("Start me")


def told(result: Path) -> dict[str, Any]:
    return json.loads(wait(lambda: result.exists() and result.read_text(), "the activity"))


def alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def failed(dock: Dock, path: str, within: float = 10) -> str:
    """Continues, and returns why that has failed, which is clear long before the time for registering is over."""
    begin = time.monotonic()
    dock.continue_offer(path)
    name, error, message = dock.outcome()
    assert (name, error) == (NAME, f"{HANDOFF_ERROR}.ApplicationFailed"), message
    assert time.monotonic() - begin < within
    return message


def test_an_application_is_started_by_its_exec_line(machines: Machines) -> None:
    """An application that does not run and that the bus cannot start is started by its Exec line, with the token of the
    window system and the session's environment, and gets the activity."""
    lap = machines[1]
    lap.kill("handoffd")
    lap.environment |= {"MINE": "ä=b", "GIO_USE_VFS": "mine", "G_MESSAGES_DEBUG": "all", "DBUS_STARTER_BUS_TYPE": "session",
                        "INVOCATION_ID": "0123"}
    lap.start_broker()
    command, result = application(lap)
    dock, path = offered(machines, f'{command} --name "two words" %U', Path=str(lap.folder))
    wait(lambda: dock.offers[path]["Handlers"] == [NAME], "the handler")
    assert dock.offers[path]["HandlersToStart"] == [NAME]
    dock.continue_offer(path, ActivationToken="token_7")
    started = told(result)
    assert started["calls"] == ["WillContinueActivity", "ContinueActivity"]
    assert started["activity"]["UserInfo"] == {"page": 7}
    assert dock.outcome() == (NAME, "", "")
    assert started["arguments"] == ["--name", "two words"] and started["folder"] == str(lap.folder)
    environment = started["environment"]
    assert environment["XDG_ACTIVATION_TOKEN"] == environment["DESKTOP_STARTUP_ID"] == "token_7"
    assert environment["MINE"] == "ä=b" and environment["GIO_USE_VFS"] == "mine" and environment["HOME"]
    assert not {"G_MESSAGES_DEBUG", "DBUS_STARTER_BUS_TYPE", "INVOCATION_ID"} & set(environment)
    wait(lambda: dock.offers[path]["HandlersToStart"] == [], "it to be known that it runs")


@pytest.mark.parametrize("way", ["the bus", "its Exec line"])
def test_an_application_is_started_from_the_shell(machines: Machines, way: str) -> None:
    """From a machine where nothing runs but the two daemons, `handoff continue` starts an application, through the bus or by
    its Exec line, which gets the activity."""
    desk, lap = machines
    name = "com.example.started"
    command, result = application(lap, name)
    if way == "the bus":
        have_bus_start(lap, name, command)
    install(lap, name, ActivityTypes=TYPE, **({"DBusActivatable": "true"} if way == "the bus" else {"Exec": command}))
    origin = Client(desk, application_id=name, types=(TYPE,))
    origin.create(TYPE, Title="Start me", UserInfo={"page": GLib.Variant("u", 7)}).become_current()
    listed = wait(lambda: json.loads(lap.run("handoff", "list", "--json").stdout), "the offer")
    assert [one["handlersToStart"] for one in listed] == [[name]]
    done = lap.run("handoff", "continue", listed[0]["activityId"])
    assert done.returncode == 0, done.stderr
    started = told(result)
    assert started["calls"] == ["WillContinueActivity", "ContinueActivity"]
    assert started["activity"]["UserInfo"] == {"page": 7}


def test_a_started_program_has_the_limit_of_the_session(machines: Machines) -> None:
    """A program that is started may have as many files open as the session allows, and not as many as the broker needs."""
    lap = machines[1]
    lap.kill("handoffd")
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, usual[1]))
    try:
        lap.start_broker()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    dock, path = offered(machines, script(lap, "echo $(ulimit -Sn) of $(ulimit -Hn) >&2; exit 1"))
    assert f"1000 of {usual[1]}" in failed(dock, path)


def test_a_started_application_outlives_the_broker(machines: Machines) -> None:
    """What was started goes on when the broker is killed, even while it writes more than anybody reads."""
    lap = machines[1]
    command, result = application(lap)
    noise = "import os\nwhile True:\n try: os.write(2, b'x' * 4096)\n except BlockingIOError: pass\n"
    (lap.folder / "noise.py").write_text(noise)
    pids = lap.folder / "noise.pid"
    line = script(lap, f"{sys.executable} {lap.folder}/noise.py & echo $! > {pids}\nexec {command}\n")
    dock, path = offered(machines, line)
    dock.continue_offer(path)
    processes = [told(result)["process"], int(pids.read_text())]
    lap.kill("handoffd", signal.SIGKILL)
    # As long as a program takes to end of what it writes to nobody.
    let_pass(0.3)
    assert all(alive(process) for process in processes)
    lap.start_broker()
    for process in processes:
        os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize(("text", "parts"), [
    ("echo first >&2; echo '' >&2; printf 'cannot \\033[31mopen display' >&2; exit 3", ("status 3", "cannot \ufffd[31mopen display")),
    ("exit 1", ("status 1",)), ("kill -KILL $$", ("signal 9",)),
    ("exec head -c 100000 /dev/zero | tr '\\0' x >&2; exit 4", ("status 4", "x" * 200))])
def test_a_program_that_fails_is_told_at_once(machines: Machines, text: str, parts: tuple[str, ...]) -> None:
    """A program that ends before it has registered fails the continuation at once, with its status and the last line of its
    standard error, made fit to be shown."""
    dock, path = offered(machines, script(machines[1], text))
    message = failed(dock, path)
    assert all(part in message for part in parts), message
    assert "before it had registered" in message and len(message) < 600


def test_a_crash_is_told_by_name(machines: Machines) -> None:
    """Of a program that crashes before it has registered one sentence is said, with the name of its application."""
    dock, path = offered(machines, script(machines[1], "ulimit -c 0; echo first >&2; kill -SEGV $$"), Name="Notes")
    assert failed(dock, path) == "Notes has crashed. Start it and try again."


@pytest.mark.parametrize(("keys", "part"), [
    ({"Exec": "/nonexistent/program --new"}, "/nonexistent/program"), ({"Exec": "true", "Path": "/nonexistent/folder"}, "/nonexistent")])
def test_a_missing_program_is_told_at_once(machines: Machines, keys: dict[str, str], part: str) -> None:
    """If the program or the folder of a desktop entry is missing, the continuation fails at once and says which."""
    dock, path = offered(machines, "true", **keys)
    assert part in failed(dock, path)


@pytest.mark.long
def test_a_program_that_loops_times_out(machines: Machines) -> None:
    """A program that runs on without ever registering is given up after 30 seconds, and not ended."""
    lap = machines[1]
    pid = lap.folder / "pid"
    dock, path = offered(machines, script(lap, f"echo $$ > {pid}; while :; do sleep 1; done"))
    begin = time.monotonic()
    dock.continue_offer(path)
    assert dock.outcome(40)[1] == f"{HANDOFF_ERROR}.ApplicationTimedOut"
    assert 29 < time.monotonic() - begin < 35
    process = int(pid.read_text())
    assert alive(process)
    os.kill(process, signal.SIGKILL)


def test_a_program_may_hand_over_to_another(machines: Machines) -> None:
    """A program that ends with status 0 may have handed over to another process, which has the rest of the time."""
    lap = machines[1]
    command, result = application(lap)
    dock, path = offered(machines, script(lap, f"(sleep 1; exec {command}) & exit 0"))
    dock.continue_offer(path)
    assert told(result)["activity"]["UserInfo"] == {"page": 7}
    assert dock.outcome() == (NAME, "", "")


def test_a_flood_of_messages_costs_the_broker_little(machines: Machines) -> None:
    """A program that writes 100 MB to its standard error neither blocks, nor makes the broker large or slow; its last words
    count all the same."""
    lap = machines[1]
    (lap.folder / "flood.py").write_text(
        "import os, sys, time\nleft, chunk = 100 << 20, (b'x' * 1023 + b'\\n') * 64\n"
        "while left > 0:\n try: left -= os.write(2, chunk)\n except BlockingIOError: left -= len(chunk); time.sleep(0.0005)\n"
        "while True:\n try: os.write(2, b'last words\\n'); break\n except BlockingIOError: time.sleep(0.01)\n"
        "sys.exit(7)\n")
    dock, path = offered(machines, f"{sys.executable} {lap.folder}/flood.py")
    before, longest = memory(lap, "handoffd"), 0.0
    dock.continue_offer(path)
    while not dock.finished():
        begin = time.monotonic()
        lap.session.get(ROOT, "Manager.Version")
        longest = max(longest, time.monotonic() - begin)
        # Not so often that asking is what takes the time.
        let_pass(0.01)
    message = dock.outcome()[2]
    assert "status 7" in message and message.rstrip(")").endswith("last words"), message
    assert SANITIZED or longest < 0.1, f"{longest:.3f} s for an answer"
    assert SANITIZED or memory(lap, "handoffd") - before < 2 << 20


def test_a_program_that_never_stops_writing_hardly_wakes_the_broker(machines: Machines) -> None:
    """A program that writes line after line to its standard error, one at a time, does not keep the broker busy."""
    lap = machines[1]
    (lap.folder / "chatter.py").write_text(
        "import os, time\nend = time.monotonic() + 3\n"
        "while time.monotonic() < end:\n try: os.write(2, b'line\\n')\n except BlockingIOError: pass\nexit(9)\n")
    dock, path = offered(machines, f"{sys.executable} {lap.folder}/chatter.py")
    status = Path(f"/proc/{lap.processes['handoffd'].pid}/status")
    wakings = lambda: int(status.read_text().partition("\nvoluntary_ctxt_switches:")[2].split()[0])  # noqa: E731
    dock.continue_offer(path)
    # By then it has been started, and until the end of the two seconds it writes.
    let_pass(0.5)
    before = wakings()
    let_pass(2)
    assert wakings() - before < 60
    assert "status 9" in dock.outcome()[2]


@pytest.mark.parametrize("keys", [
    {"Exec": '"unclosed'}, {"Exec": "true %x"}, {"Exec": 'sh -c "true %u"'}, {"Exec": "A=b true"}, {"Exec": "%u"},
    {"Exec": ""}, {"Exec": "true", "Terminal": "true"}, {"Exec": "true", "TryExec": "/nonexistent/program"},
    {"Exec": "true" + " x" * 5_000}, {"Exec": "true" + " x" * 30_000, "Hidden": "true"}])
def test_an_exec_line_that_cannot_be_used_starts_nothing(machines: Machines, keys: dict[str, str]) -> None:
    """An application whose Exec line is not legal or far too long, that needs a terminal, or that is not there is not said to continue
    anything while it does not run."""
    desk, lap = machines
    install(lap, NAME, ActivityTypes=TYPE, **keys)
    install(lap, "com.example.good", ActivityTypes="com.example.good", Exec="true")
    dock = Dock(lap)
    Client(desk, application_id="com.example.good", types=("com.example.good",)).offer("Good")
    # Once this one is listed, the other entry has been read as well.
    dock.offer("Good")
    origin = Client(desk, application_id=NAME, types=(TYPE,))
    origin.create(TYPE, Title="Start me").become_current()
    wait(lambda: [one["Title"] for one in lap.session.get(ROOT, "Manager.HiddenOffers")] == ["Start me"], "a hidden offer")
    wait(lambda: not dock.titles, "the former offer to go")


def test_two_offers_start_an_application_once(machine: Machine) -> None:
    """Two offers that are continued at the same time in an application that does not run start it once."""
    marks = machine.folder / "marks"
    install(machine, NAME, ActivityTypes=TYPE, Exec=script(machine, f"echo x >> {marks}; exec sleep 2"))
    dock, links = Dock(machine), [Device().paired_link_to(machine) for _ in range(2)]
    changes = {"ActivityType": GLib.Variant("s", TYPE), "ApplicationId": GLib.Variant("s", NAME)}
    for number, link in enumerate(links):
        link.call("Peer.Offer", offer(SOME_ID[:-1] + str(number), Title=GLib.Variant("s", f"Offer {number}"), **changes))
    paths = [dock.offer(f"Offer {number}") for number in range(2)]
    wait(lambda: all(dock.offers[path]["Handlers"] == [NAME] for path in paths), "the handlers")
    for path in paths:
        dock.continue_offer(path)
    wait(marks.exists, "the program")
    # As long as another one takes to be started; the first runs on meanwhile.
    let_pass(0.5)
    assert marks.read_text() == "x\n"
