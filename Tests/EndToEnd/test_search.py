# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is offered is found by the desktop's search: that of GNOME Shell, and KRunner."""

from __future__ import annotations

import configparser
import shutil

import pytest
from gi.repository import GLib
from buses import wait
from surfaces import AGENT, PROVIDER, QUESTIONS, RUNNER, KRunner, ShellSearch, start_agent
from clients import Client, Dock
from sandbox import RawClient, Sandbox, can_be_made
from support import SOURCE, Machine, refused
from test_desktop_entries import have_bus_start
from vendor import filled, own_id

HOSTILE = {
    "markup": "<b>Bold</b> &amp; <a href='x'>more</a>",
    "quotes": "a” — desk “b\" 'c",
    "long": "long " * 800,
    "direction": "\u202eevil\u2066 abc",
    "lines": "first\nsecond\r\u2028third\x1b[31m",
}


def title_of(text: str) -> str:
    """What stands between the quotation marks that are ours."""
    assert text.startswith("Continue “") and text.endswith("”"), text
    return text.removeprefix("Continue “").removesuffix("”")


def test_gnome_shell_finds_offers(machines: tuple[Machine, Machine]) -> None:
    """GNOME Shell finds an offer by words of its title, the name of the device and “continue”, and continues it."""
    desk, lap = machines
    here, there = Client(desk), Client(lap)
    start_agent(desk)
    there.offer("Überraschung im Büro")
    search = ShellSearch(desk)
    result = search.find_one("buro", "UBER")
    for terms in (("lap",), ("continue",), ("handoff",), ("cont", "lap", "im"), ("überr",)):
        assert search.find(*terms) == [result], terms
    for terms in (("raschung",), ("continue", "desk"), (), ("",), ("x" * 1000,), ("continue",) + ("büro",) * 63 + ("lap", "x") * 40):
        assert search.find(*terms) == ([result] if len(terms) > 100 else []), terms
    (meta,) = search.metas(result)
    assert meta["id"] == result and title_of(meta["name"]) == "Überraschung im Büro"
    assert meta["description"] == "from lap" and meta["gicon"]
    search.activate(result, 42)
    context = here.wait_for("ContinueActivity").arguments.unpack()[1]
    assert context["ActivationToken"] == "handoff_TIME42"


def test_results_that_have_gone(machines: tuple[Machine, Machine]) -> None:
    """A result whose offer has gone does nothing, and neither does any other text in place of a result."""
    desk, lap = machines
    here, there = Client(desk), Client(lap)
    start_agent(desk)
    activity = there.offer("Short-lived")
    search, runner = ShellSearch(desk), KRunner(desk)
    result = search.find_one("short")
    activity.invalidate()
    wait(lambda: not search.find("short"), "nothing to be found")
    path = f"/org/example/Handoff/remote/{result}"
    for gone in (result, path, "", "; touch /tmp/x", "../..", "\n", "x" * 100_000):
        (meta,) = search.metas(gone)
        assert meta == {"id": gone, "name": "This is no longer offered."}
        search.activate(gone)
        runner.ask("Run", "ss", gone, "")
    there.offer("Another")
    search.activate(search.find_one("another"))
    here.wait_for("ContinueActivity")
    assert here.members.count("ContinueActivity") == 1
    assert here.wait_for("ContinueActivity").arguments.unpack()[0]["Title"] == "Another"


def test_krunner_finds_offers(machines: tuple[Machine, Machine]) -> None:
    """KRunner finds an offer, hides it, and continues it with the activation token that a newer one gives."""
    desk, lap = machines
    here, there, dock = Client(desk), Client(lap), Dock(desk)
    start_agent(desk)
    there.offer("Report.odt")
    runner = KRunner(desk)
    wait(lambda: runner.match("report"), "a match")
    ((match, text, icon, kind, relevance, more),) = runner.match("  report  odt ")
    assert title_of(text) == "Report.odt" and icon and kind == 100 and relevance == 1
    assert more == {"subtext": "from lap", "category": "Handoff", "actions": ["dismiss"]}
    assert runner.match("continue")[0][3:5] == (30, 0.25)
    assert runner.match("") == runner.match(" ") == runner.match("r" * 100_000) == []
    assert [action[0] for action in runner.ask("Actions")] == ["dismiss"]
    assert runner.ask("Config") == {"MinLetterCount": 2}
    with refused("InvalidArgs", containing=("“delete”", "Actions")):
        runner.ask("Run", "ss", match, "delete")
    # A token is for the one who has given it.
    KRunner(desk).ask("SetActivationToken", "s", "of-another")
    runner.ask("Run", "ss", match, "")
    assert "ActivationToken" not in here.wait_for("ContinueActivity").arguments.unpack()[1]

    def continues_again() -> bool:
        """Presses once more, which counts for nothing before the first continuation is over."""
        runner.ask("SetActivationToken", "s", "a-token")
        runner.ask("Run", "ss", match, "")
        return len(here.called("ContinueActivity")) > 1

    wait(continues_again, "the second continuation")
    assert here.called("ContinueActivity")[1].arguments.unpack()[1]["ActivationToken"] == "a-token"
    runner.ask("Run", "ss", match, "dismiss")
    wait(lambda: not dock.offers, "the offer to be hidden")
    wait(lambda: not runner.match("report"), "no match")
    runner.ask("Teardown")


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_titles_in_results(machines: tuple[Machine, Machine], kind: str) -> None:
    """A hostile title is a bounded line of text in quotation marks that are ours, in each search."""
    desk, lap = machines
    Client(desk)
    start_agent(desk)
    Client(lap).offer(HOSTILE[kind])
    search, runner = ShellSearch(desk), KRunner(desk)
    (meta,) = search.metas(search.find_one("lap"))
    for text in (meta["name"], runner.match("lap")[0][1]):
        title = title_of(text)
        assert 1 < len(title) <= 120
        assert not set(title) & set("“”\"\n\r\u2028\u202e\u2066\x1b")
    assert meta["description"] == "from lap"


def test_search_of_an_agent_that_is_started(machines: tuple[Machine, Machine]) -> None:
    """The bus starts the agent for the first question, which is answered with what the daemons say."""
    desk, lap = machines
    Client(desk)
    Client(lap).offer("Already there")
    Dock(desk).offer("Already there")
    program = shutil.which("handoff-agent", path=desk.environment["PATH"])
    have_bus_start(desk, AGENT, f"{program}")
    assert not desk.session.owner(AGENT)
    member, arguments = QUESTIONS[PROVIDER]
    interface, _, method = member.rpartition(".")
    answer = desk.session.connection.call_sync(AGENT, PROVIDER, interface, method, arguments, None, 0, 10_000, None)
    assert len(answer.unpack()[0]) == 1
    process = desk.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
                                GLib.Variant("(s)", (AGENT,)), destination="org.freedesktop.DBus").unpack()[0]
    desk.kill("dbus-daemon")
    wait(lambda: not is_running(process), "the end of the agent")
    desk.processes.clear()


def is_running(process: int) -> bool:
    """Whether there is such a process, and it is no zombie."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_search_without_daemons(machine_list: list[Machine]) -> None:
    """Without daemons nothing is found, at once."""
    machine = Machine("desk")
    machine_list.append(machine)
    start_agent(machine)
    assert ShellSearch(machine).find("continue") == []
    assert KRunner(machine).match("continue") == []


def test_nothing_for_sandboxes(machines: tuple[Machine, Machine]) -> None:
    """For a sandboxed program search, runner, item and menu do not exist."""
    desk, lap = machines
    if reason := can_be_made(desk):
        pytest.skip(reason)
    Client(desk)
    Client(lap).offer("Secret")
    start_agent(desk)
    ShellSearch(desk).find_one("secret")
    raw = RawClient(desk, "com.example.raw")
    boxed = Sandbox(desk, "com.example.boxed", f"--talk={AGENT}")
    client = Client(boxed, "com.example.boxed", register=False)
    for path, (member, arguments) in QUESTIONS.items():
        assert raw.call(AGENT, path, member, arguments.print_(True)) == "UnknownObject", path
        with refused("UnknownObject"):
            client.call(path, member, arguments, destination=AGENT)
    assert raw.call(AGENT, RUNNER, "org.kde.krunner1.Run", "('x', '')") == "UnknownObject"
    tree = client.call("/", "org.freedesktop.DBus.Introspectable.Introspect", destination=AGENT).unpack()[0]
    assert "node name" not in tree
    raw.close()
    boxed.close()


def test_files_for_desktops() -> None:
    """What desktops find the search by names the agent, and where it answers."""
    def values(path: str, group: str) -> dict[str, str]:
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str
        parser.read_string(filled(SOURCE / "data" / f"{path}.in"))
        return dict(parser[group])

    shell = values("gnome-shell/search-providers/org.example.Handoff.search-provider.ini", "Shell Search Provider")
    assert shell["BusName"] == AGENT and shell["ObjectPath"] == PROVIDER and shell["Version"] == "2"
    assert shell["DesktopId"] == own_id("Settings.desktop")
    runner = values("krunner/dbusplugins/org.example.Handoff.desktop", "Desktop Entry")
    assert runner["X-Plasma-DBusRunner-Service"] == AGENT and runner["X-Plasma-DBusRunner-Path"] == RUNNER
    assert runner["X-Plasma-API"] == "DBus"
