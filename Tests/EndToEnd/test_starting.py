# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications that do not run, and are started by the command lines of their desktop entries."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import BUS, HANDOFF_ERROR, ROOT, let_pass, wait
from clients import Client, Dock
from link import SOME_ID, Device, offer
from support import SANITIZED, Machine, refused
from test_desktop_entries import STARTED, install
from test_preferences import chosen, choose, file, restarted
from test_streams import private_memory

Machines = tuple[Machine, Machine]
NAME, TYPE = "com.example.started-by-exec", "com.example.started.edit"
BROWSING = "org.example.Handoff.BrowsingWeb"
BROWSER = "com.example.browser"


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
    let_pass(0.5)
    assert all(alive(process) for process in processes)
    lap.start_broker()
    for process in processes:
        os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize(("text", "parts"), [
    ("echo first >&2; echo '' >&2; printf 'cannot \\033[31mopen display' >&2; exit 3", ("status 3", "cannot \ufffd[31mopen display")),
    ("exit 1", ("status 1",)), ("kill -SEGV $$", ("signal 11",)),
    ("exec head -c 100000 /dev/zero | tr '\\0' x >&2; exit 4", ("status 4", "x" * 200))])
def test_a_program_that_fails_is_told_at_once(machines: Machines, text: str, parts: tuple[str, ...]) -> None:
    """A program that ends before it has registered fails the continuation at once, with its status and the last line of its
    standard error, made fit to be shown."""
    dock, path = offered(machines, script(machines[1], text))
    message = failed(dock, path)
    assert all(part in message for part in parts), message
    assert "before it had registered" in message and len(message) < 600


@pytest.mark.parametrize(("keys", "part"), [
    ({"Exec": "/nonexistent/program --new"}, "/nonexistent/program"), ({"Exec": "true", "Path": "/nonexistent/folder"}, "/nonexistent")])
def test_a_missing_program_is_told_at_once(machines: Machines, keys: dict[str, str], part: str) -> None:
    """If the program or the folder of a desktop entry is missing, the continuation fails at once and says which."""
    dock, path = offered(machines, "true", **keys)
    assert part in failed(dock, path)


@pytest.mark.slow
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
    before, longest = private_memory(lap), 0.0
    dock.continue_offer(path)
    while not dock.finished():
        begin = time.monotonic()
        lap.session.get(ROOT, "Manager.Version")
        longest = max(longest, time.monotonic() - begin)
        let_pass(0.01)
    message = dock.outcome()[2]
    assert "status 7" in message and message.rstrip(")").endswith("last words"), message
    assert SANITIZED or longest < 0.1, f"{longest:.3f} s for an answer"
    assert SANITIZED or private_memory(lap) - before < 2 << 20


@pytest.mark.parametrize("keys", [
    {"Exec": '"unclosed'}, {"Exec": "true %x"}, {"Exec": 'sh -c "true %u"'}, {"Exec": "A=b true"}, {"Exec": "%u"},
    {"Exec": ""}, {"Exec": "true", "Terminal": "true"}, {"Exec": "true", "TryExec": "/nonexistent/program"},
    {"Exec": "true" + " x" * 30_000, "Hidden": "true"}])
def test_an_exec_line_that_cannot_be_used_starts_nothing(machines: Machines, keys: dict[str, str]) -> None:
    """An application whose Exec line is not legal, that needs a terminal, or that is not there is not said to continue
    anything while it does not run."""
    desk, lap = machines
    install(lap, NAME, ActivityTypes=TYPE, **keys)
    origin = Client(desk, application_id=NAME, types=(TYPE,))
    origin.create(TYPE, Title="Start me").become_current()
    wait(lambda: [one["Title"] for one in lap.session.get(ROOT, "Manager.HiddenOffers")] == ["Start me"], "a hidden offer")
    assert not Dock(lap).offers


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
    let_pass(1)
    assert marks.read_text() == "x\n"


# What the user has chosen


def browsing(desk: Machine, title: str = "A page") -> Client:
    """A browser on this machine whose page is offered."""
    origin = Client(desk, application_id="com.example.otherbrowser", types=(BROWSING,))
    origin.create(BROWSING, Title=title, WebpageURL="https://example.com/a").become_current()
    return origin


def prefer(machine: Machine, browser: str) -> None:
    """Makes this the browser of the user."""
    folder = Path(machine.environment["XDG_CONFIG_HOME"])
    (folder / "new").write_text(f"[Default Applications]\nx-scheme-handler/https={browser}.desktop;\n")
    (folder / "new").rename(folder / "mimeapps.list")


@pytest.mark.parametrize("runs", [True, False])
def test_the_default_browser_gets_the_activity_itself(machines: Machines, runs: bool) -> None:
    """The user's default browser is handed the activity of a page if it declares that, whoever made it and whether it runs or
    not."""
    desk, lap = machines
    command, result = application(lap, BROWSER, BROWSING)
    install(lap, BROWSER, Exec=f"{command} %u", **({} if runs else {"ActivityTypes": BROWSING}))
    prefer(lap, BROWSER)
    target = Client(lap, application_id=BROWSER, types=(BROWSING,)) if runs else None
    dock, _origin = Dock(lap), browsing(desk)
    path = dock.offer("A page")
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the default browser")
    wait(lambda: dock.offers[path]["HandlersToStart"] == ([] if runs else [BROWSER]), "what has to be started")
    dock.continue_offer(path)
    assert dock.outcome() == (BROWSER, "", "")
    if target:
        assert target.calls[-1].arguments.unpack()[0]["WebpageURL"] == "https://example.com/a"
    else:
        assert told(result)["activity"]["WebpageURL"] == "https://example.com/a"


def test_another_default_counts_at_once(machines: Machines) -> None:
    """When the user chooses another browser, or takes it away, that counts at once; one that is not installed does not."""
    desk, lap = machines
    for name in ("com.example.one", "com.example.two"):
        install(lap, name, Exec="true %u")
    prefer(lap, "com.example.one")
    dock, _origin = Dock(lap), browsing(desk)
    path = dock.offer("A page")
    handlers = lambda: dock.offers[path]["Handlers"]  # noqa: E731
    wait(lambda: handlers() == ["com.example.one"], "the first")
    prefer(lap, "com.example.two")
    wait(lambda: handlers() == ["com.example.two"], "the second")
    (Path(lap.environment["XDG_DATA_HOME"]) / "applications" / "com.example.two.desktop").unlink()
    wait(lambda: handlers() == [], "none")
    prefer(lap, "../../evil.desktop;com.example.one")
    wait(lambda: handlers() == ["com.example.one"], "the first again")


@pytest.mark.parametrize("harm", ["fifo", "huge", "binary", "entry"])
def test_a_hostile_list_of_defaults_stops_nobody(machines: Machines, harm: str) -> None:
    """A list of default applications, or a default's desktop entry, that is not what it should be counts for nothing, and
    stops nobody."""
    desk, lap = machines
    place = Path(lap.environment["XDG_CONFIG_HOME"]) / "mimeapps.list"
    if harm == "fifo":
        os.mkfifo(place)
    elif harm == "entry":
        folder = Path(lap.environment["XDG_DATA_HOME"]) / "applications"
        folder.mkdir(parents=True)
        os.mkfifo(folder / "com.example.fifo.desktop")
        prefer(lap, "com.example.fifo")
    else:
        place.write_bytes(b"[Default Applications]\n" + (b"\0\xff" if harm == "binary" else b"#" * (2 << 20)))
    dock, _origin = Dock(lap), browsing(desk)
    path = dock.offer("A page")
    let_pass(0.3)
    assert dock.offers[path]["Handlers"] == []
    if harm != "entry":
        place.unlink()
    install(lap, BROWSER, Exec="true %u")
    prefer(lap, BROWSER)
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the browser")


def test_nothing_is_looked_up_without_need(machines: Machines) -> None:
    """Without an offer of a page or document nobody asks what opens such things."""
    desk, lap = machines
    prefer(lap, BROWSER)
    install(lap, BROWSER, Exec="true %u")
    dock, origin, _target = Dock(lap), Client(desk), Client(lap)
    origin.offer("A letter")
    dock.offer("A letter")
    inotify = lambda: count_inotify(lap)  # noqa: E731
    before = inotify()
    _other = browsing(desk)
    path = dock.offer("A page")
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the browser")
    assert inotify() == before + 1


def count_inotify(machine: Machine) -> int:
    folder = Path(f"/proc/{machine.processes['handoffd'].pid}/fd")
    return sum(os.readlink(link) == "anon_inode:inotify" for link in folder.iterdir())


def remember(dock: Dock, path: str, name: str | None) -> None:
    options = {"Remember": GLib.Variant("b", True)}
    if name:
        options["ApplicationId"] = GLib.Variant("s", name)
    dock.call(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", (options,)))


def test_a_choice_is_remembered(machines: Machines) -> None:
    """The application that the user chooses for a type, and says so, comes first for that type from then on, over a restart,
    until the user forgets it."""
    desk, lap = machines
    odd = "com.example [odd] = é"
    team = {"Team": GLib.Variant("s", "com.example.team")}
    origin = Client(desk, types=(odd, TYPE), options=team)
    clients = [Client(lap, name, types=(odd, TYPE), options=team) for name in ("com.example.aaa", "com.example.bbb")]
    dock = Dock(lap)
    origin.create(odd, Title="One").become_current()
    path = dock.offer("One")
    wait(lambda: len(dock.offers[path]["Handlers"]) == 2, "both")
    worse = dock.offers[path]["Handlers"][1]
    with refused("InvalidArgs", containing=("ApplicationId",)):
        remember(dock, path, None)
    with refused("InvalidArgs"):
        remember(dock, path, "com.example.stranger")
    assert chosen(lap)["Applications"] == {}
    remember(dock, path, worse)
    assert dock.outcome() == (worse, "", "")
    wait(lambda: dock.offers[path]["Handlers"][0] == worse, "the choice to come first")
    assert chosen(lap)["Applications"] == {odd: worse}
    assert "com.example%20%5Bodd%5D%20%3D%20%C3%A9=" + worse in file(lap).read_text().splitlines()
    origin.create(TYPE, Title="Two").become_current()
    assert dock.offers[dock.offer("Two")]["Handlers"][0] != worse
    restarted(lap)
    assert chosen(lap)["Applications"] == {odd: worse}
    choose(lap, "Applications", GLib.Variant("a{ss}", {}))
    assert "odd" not in file(lap).read_text()
    assert len(clients) == 2


def test_choices_are_checked(machine: Machine) -> None:
    """What is no type or no application id is refused as a choice, and so are more than 256 of them; then nothing has
    changed."""
    good = {"com.example.edit": "com.example.notes"}
    choose(machine, "Applications", GLib.Variant("a{ss}", good))
    for bad in ({"": "com.example.notes"}, {"com.example.edit": "../notes"}, {"a\nb": "com.example.notes"}):
        with refused("InvalidArgs"):
            choose(machine, "Applications", GLib.Variant("a{ss}", bad))
    with refused("LimitsExceeded", containing=("256",)):
        choose(machine, "Applications", GLib.Variant("a{ss}", {f"t{number}": "a" for number in range(257)}))
    assert chosen(machine)["Applications"] == good
    text = file(machine).read_text()
    file(machine).write_text(text.replace("[Applications]", "[Applications]\n%zz=a\nb=/c/d"))
    restarted(machine)
    assert chosen(machine)["Applications"] == good
    choose(machine, "Applications", GLib.Variant("a{ss}", {}))
    assert "%zz=a" in file(machine).read_text()


def test_list_shows_what_has_to_be_started(machines: Machines) -> None:
    """`handoff list` says in which application each offer would be continued, and whether that has to be started;
    `handoff continue --remember` remembers the application."""
    lap = machines[1]
    dock, path = offered(machines, "sleep 5")
    wait(lambda: dock.offers[path]["Handlers"] == [NAME], "the handler")
    assert f"{NAME} (not running)" in lap.run("handoff", "list").stdout
    (entry,) = json.loads(lap.run("handoff", "list", "--json").stdout)
    assert entry["handlers"] == entry["handlersToStart"] == [NAME]
    client = Client(lap, application_id=NAME, types=(TYPE,))
    wait(lambda: dock.offers[path]["HandlersToStart"] == [], "it to run")
    assert "(not running)" not in lap.run("handoff", "list").stdout
    done = lap.run("handoff", "continue", "--remember", entry["id"])
    assert done.returncode == 2 and "--app" in done.stderr
    done = lap.run("handoff", "continue", "--app", NAME, "--remember", entry["id"])
    assert done.returncode == 0 and client.called("ContinueActivity"), done.stderr
    assert chosen(lap)["Applications"] == {TYPE: NAME}
