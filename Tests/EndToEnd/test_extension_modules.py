# SPDX-License-Identifier: LGPL-2.1-or-later
"""The extension for GNOME Shell 45 and later, as ES modules, without a Shell: against stubs of what it uses of one."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from buses import BUS, ROOT, wait
from clients import APPLICATION_ID, Client
from fake_agent import FakeAgent
from gi.repository import Gio, GLib
from gnome_shell import EXTENSION
from played_broker import PlayedBroker
from support import SOURCE, Machine
from test_notices import SETTINGS, Service
from test_notices_of_everything import WINDOW_XML as EVERYTHING_XML
from vendor import filled, own_path

STUBS = Path(__file__).with_name("shell_stubs")
# What only a Shell has, and the name under which its stub is exported.
STUBBED = re.compile(r"^import (?:\* as (\w+)|\{?(\w+)\}?) from '(?:gi://(?:Clutter|Meta|Shell|St)|resource://[^']*)';$", re.MULTILINE)
CONVERTER = SOURCE / "meson-helpers" / "legacy-extension"


class Extension:
    """A process with the extension in it."""

    def __init__(self, machine: Machine, folder: Path | None = None, **environment: str) -> None:
        folder = folder or machine.folder / "extension"
        folder.mkdir(parents=True)
        for file in EXTENSION.glob("*.js"):
            modules = STUBBED.sub(lambda match: f"import {{{match[1] or match[2]}}} from './stubs/stubs.js';",
                                  file.read_text(encoding="utf-8"))
            (folder / file.name).write_text(modules, encoding="utf-8")
        (folder / "metadata.json").write_text(filled(EXTENSION / "metadata.json.in", versions='"45"'))
        shutil.copytree(STUBS, folder / "stubs")
        with open(machine.log_file("gjs"), "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "gjs", "-m", str(folder / "stubs" / "program.js")],
                env=machine.environment | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.machine = machine

    def evaluate(self, script: str) -> Any:
        """What this expression is there, awaited."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(script.replace("\n", " ") + "\n")
        self.process.stdin.flush()
        wait(lambda: select.select([self.process.stdout], [], [], 0)[0], f"an answer to {script}")
        line = self.process.stdout.readline()
        assert line, self.machine.log("gjs")
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def close(self) -> str:
        """Ends it; returns what it has complained of."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        return self.machine.log("gjs")


@pytest.fixture
def extension(machine_list: list[Machine], request: pytest.FixtureRequest) -> Iterator[Extension]:
    """The extension on the bus of the second machine of the test, or of one without daemons."""
    if not shutil.which("gjs"):
        pytest.skip("gjs is not installed: meson-helpers/install-packages test")
    if "machines" in request.fixturenames:
        machine = request.getfixturevalue("machines")[1]
    else:
        machine = Machine("lap")
        machine_list.append(machine)
    extension = Extension(machine)
    yield extension
    complaints = extension.close()
    assert not complaints, complaints


TITLES = "Main.panel.statusArea.handoff?._offerSection.items.map(item => item._title.text)"


def test_extension_as_modules(machines: tuple[Machine, Machine], extension: Extension) -> None:
    """It shows an offer, continues it, switches, and tells the agent the focus; disabled, it shows and tells nothing."""
    desk, lap = machines
    agent, target, origin = FakeAgent(lap), Client(lap), Client(desk)
    extension.evaluate("extension.enable()")
    origin.offer("A letter")
    wait(lambda: extension.evaluate(TITLES) == ["A letter"], "the offer")
    assert extension.evaluate("Main.panel.statusArea.handoff._device.text") == "desk"
    extension.evaluate("Main.panel.statusArea.handoff._offerSection.items[0].emit('activate')")
    context = target.wait_for("ContinueActivity").arguments.unpack()[1]
    assert context["ActivationToken"] == f"token for {APPLICATION_ID}.desktop"
    extension.evaluate(f"global.display.focus_window = Object.assign(new Window({{title: 'A\\nletter'}}),"
                       f" {{application: '{APPLICATION_ID}'}})")
    about = agent.wait_for_focus(Title="A letter")
    assert about == {"ApplicationId": APPLICATION_ID, "Title": "A letter", "ProcessId": 4711, "BusName": ":1.99",
                     "WindowPath": "/a/window/1"}
    extension.evaluate("Main.panel.statusArea.handoff._switch.emit('toggled', false)")
    wait(lambda: extension.evaluate(TITLES) is None, "the indicator to go")
    assert lap.session.get("/org/example/Handoff", "Manager.Enabled") is False
    extension.evaluate("extension.disable()")
    wait(lambda: agent.told("Detach"), "Detach")
    heard = len(agent.calls)
    extension.evaluate("global.display.focus_window.title = 'Another'")
    lap.set_enabled(True)
    extension.evaluate("new Promise(done => GLib.timeout_add(0, 700, () => { done(); return false; }))")
    assert len(agent.calls) == heard
    assert extension.evaluate("[Object.keys(Main.panel.statusArea).length, Main.notices, Object.keys(Main.wm.shortcuts)]") == \
        [0, [], []]


def test_broker_ends_meanwhile(machines: tuple[Machine, Machine], extension: Extension) -> None:
    """If the broker ends while it continues an offer, that is said, once, and no application is waited for any more."""
    desk, lap = machines
    target = Client(lap)
    target.hang("ContinueActivity")
    extension.evaluate("extension.enable()")
    Client(desk).offer("A letter")
    wait(lambda: extension.evaluate(TITLES) == ["A letter"], "the offer")
    extension.evaluate("Main.panel.statusArea.handoff._offerSection.items[0].emit('activate')")
    target.wait_for("ContinueActivity")
    lap.kill("handoffd")
    wait(lambda: extension.evaluate("Main.notices"), "the notice")
    assert extension.evaluate("Main.notices") == [["Could not continue", "Handoff was ended meanwhile. Try again."]]
    assert extension.evaluate("global.given_up") == [f"token for {APPLICATION_ID}.desktop"]
    lap.start_broker()
    extension.evaluate("extension.disable()")


class BusyBroker(PlayedBroker):
    """A broker that gives no answer the first times that it is asked what there is, as one that is busy."""

    failures = 2

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, _method: str,
                _arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if self.failures:
            self.failures -= 1
            invocation.return_dbus_error(f"{BUS}.Error.NoReply", "It is busy.")
        else:
            super()._called(_connection, sender, _path, _interface, _method, _arguments, invocation)


def test_broker_that_is_busy_at_first(extension: Extension) -> None:
    """A broker that does not answer at first is asked again, and not any more once it has answered, or the extension is
    disabled."""
    broker = BusyBroker(extension.machine)
    broker.offer(1, "A letter")
    extension.evaluate("extension.enable()")
    wait(lambda: extension.evaluate(TITLES) == ["A letter"], "the offer")
    assert broker.failures == 0 and len(broker.followers) == 1
    assert extension.evaluate("extension._session._broker._pauses.size") == 0
    extension.evaluate("extension.disable()")
    broker.failures = 100
    extension.evaluate("extension.enable()")
    wait(lambda: extension.evaluate("extension._session._broker?._pauses.size") == 1, "a pause")
    extension.evaluate("globalThis.former = extension._session._broker; extension.disable(); null")
    assert extension.evaluate("former._pauses.size") == 0


def test_what_can_be_sent(machines: tuple[Machine, Machine], extension: Extension) -> None:
    """Devices to send to are offered while something is current here whose application the user has not excluded."""
    desk, lap = machines
    here = Client(lap)
    Client(desk).offer("A letter")
    extension.evaluate("extension.enable()")
    names = "extension._session.report.devices.map(device => device.name)"
    wait(lambda: extension.evaluate(TITLES) == ["A letter"], "the offer")
    assert extension.evaluate(names) == []
    mine = here.offer("Mine")
    wait(lambda: extension.evaluate(names) == ["desk"], "the device")
    lap.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", [APPLICATION_ID]))
    wait(lambda: extension.evaluate(names) == [], "nothing to be sent that is excluded")
    lap.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", []))
    wait(lambda: extension.evaluate(names) == ["desk"], "the device again")
    mine.resign_current()
    wait(lambda: extension.evaluate(names) == [], "nothing to be sent")
    extension.evaluate("extension.disable()")


def test_everything(machines: tuple[Machine, Machine], extension: Extension) -> None:
    """The menu has, for each device that is connected, what is open there, and the window is asked for that by the device's id."""
    desk, lap = machines
    Client(lap)
    window = Service(lap, SETTINGS, own_path("Settings"), EVERYTHING_XML)
    Client(desk).offer("A letter")
    extension.evaluate("extension.enable()")
    labels = "Main.panel.statusArea.handoff?._listableSection.items.map(item => item.label.text)"
    wait(lambda: extension.evaluate(labels) == ["Everything on desk…"], "the device")
    extension.evaluate("Main.panel.statusArea.handoff._listableSection.items[0].emit('activate')")
    assert window.wait_for("ActivateAction") == ("everything", [desk.device_id], {})
    lap.set_enabled(False)
    wait(lambda: extension.evaluate("extension._session.report.listable.length") == 0, "nobody to ask while it is off")
    extension.evaluate("extension.disable()")


def test_titles_that_change_quickly(extension: Extension) -> None:
    """A title that changes all the time is told twice a second at most."""
    agent = FakeAgent(extension.machine)
    extension.evaluate("extension.enable()")
    wait(lambda: agent.told("FocusChanged"), "the focus")
    extension.evaluate("global.display.focus_window = Object.assign(new Window({title: '0'}), {application: 'a.b'})")
    agent.wait_for_focus(Title="0")
    before = len(agent.told("FocusChanged"))
    extension.evaluate("new Promise(done => { let n = 0; GLib.timeout_add(0, 5, () => {"
                       " global.display.focus_window.title = `${++n}`; if (n < 200) return true; done(); return false; }); })")
    agent.wait_for_focus(Title="200")
    assert len(agent.told("FocusChanged")) - before <= 6


TEXTS = [
    ("<b>a</b> & b", 120, "<b>a</b> & b"), ("W" * 10_000, 120, "W" * 119 + "…"), ("a\n\n\tb\u2028c", 120, "a b c"),
    ("\u202etxt.exe\u2066", 120, "txt.exe"), ("Z" + "\u0336" * 80 + "algo", 120, "Z" + "\u0336" * 4 + "algo"),
    ("", 120, ""), ("   ", 120, ""), ("😀" * 10, 4, "😀😀😀…"), (17, 120, ""), (None, 120, "")]


def test_text_of_others(extension: Extension) -> None:
    """Text that others chose becomes one short line without control characters, and is plain otherwise."""
    for text, limit, shown in TEXTS:
        assert extension.evaluate(f"line({json.dumps(text)}, {limit})") == shown


def test_who_runs_in_a_sandbox(extension: Extension) -> None:
    """Who runs in a sandbox is found out from the kernel. A process that is gone, or has ended, counts as one."""
    assert extension.evaluate(f"isFree({os.getpid()})") is True
    child = subprocess.Popen(["true"])
    wait(lambda: Path(f"/proc/{child.pid}/stat").read_text().split(") ")[1].startswith("Z"), "the end of the child")
    assert extension.evaluate(f"isFree({child.pid})") is False
    child.wait()
    assert extension.evaluate(f"isFree({child.pid})") is False
    fields = " ".join(map(str, range(4, 30)))
    assert extension.evaluate(f"startOf('7 (a) S (b) R {fields}')") == "22"
    for stat in (f"7 (a) Z {fields}", "", "7", "7 (a)"):
        assert extension.evaluate(f"startOf('{stat}')") is None
    for groups, is_snap in (("0::/user.slice/snap.firefox.firefox-1234.scope", True), ("0::/snap.a.b.service", True),
                            ("0::/user.slice/snap.txt", False), ("0::/app-snap.a.b.scope", False), ("", False)):
        assert extension.evaluate(f"isSnap({json.dumps(groups)})") is is_snap


def test_many_looks_at_once(extension: Extension) -> None:
    """Names that change their owners all the time keep nobody from being found to run in no sandbox."""
    looks = ", ".join(f"isFree({os.getpid()})" for _ in range(60))
    assert extension.evaluate(f"Promise.all([{looks}])") == [True] * 60
    assert extension.evaluate("(() => { const all = new Gio.Cancellable(); const looks = Array.from({length: 50}, () =>"
                              f" isFree({os.getpid()}, all)); all.cancel(); return Promise.all([...looks,"
                              f" isFree({os.getpid()})]); }})()") == [False] * 50 + [True]


def test_sending_that_fails_later(extension: Extension) -> None:
    """Why a device did not take what was sent to it is shown, once, as one line; and nothing is shown of what others sent."""
    extension.evaluate("extension.enable()")
    said = {"Sending": False, "SendError": "No room\nfor <b>this</b>"}
    extension.evaluate(f"extension._session._sent('/device', {json.dumps(said)})")
    assert extension.evaluate("Main.notices") == []
    extension.evaluate("extension._session._sending.add('/device')")
    extension.evaluate("extension._session._sent('/device', {Sending: true})")
    for _ in range(2):
        extension.evaluate(f"extension._session._sent('/device', {json.dumps(said)})")
    shown = "The other device did not take it. “No room for <b>this</b>”"
    assert extension.evaluate("Main.notices") == [["Could not send", shown]]
    extension.evaluate("extension.disable()")


@pytest.mark.parametrize("name, words, shown", [
    ("org.example.Handoff.Error.ApplicationFailed", "No” room\n“left", "The application could not do it. “No' room 'left”"),
    ("org.example.Handoff.Error.Disabled", "Handoff is switched off.",
     "Handoff is switched off, here or on the other device. Switch it on."),
    ("com.example.Unheard", "", "Something went wrong. Try again."),
])
def test_failures_in_our_words(extension: Extension, name: str, words: str, shown: str) -> None:
    """A failure is told in a sentence of the extension, by its name; what others say of it stands quoted behind that."""
    extension.evaluate("extension.enable()")
    extension.evaluate(f"extension._session._finished('/offer', '', {json.dumps(name)}, {json.dumps(words)})")
    assert extension.evaluate("Main.notices") == [["Could not continue", shown]]
    extension.evaluate("extension.disable()")


def test_forms_differ_in_imports_only(tmp_path: Path) -> None:
    """The form for GNOME Shell 43 and 44 differs from that for 45 and later only in how its files find each other."""
    for file in sorted(EXTENSION.glob("*.js")):
        target = tmp_path / file.name
        subprocess.run([CONVERTER, file, target], check=True)
        modules, scripts = file.read_text().splitlines(), target.read_text().splitlines()
        if file.name == "extension.js":
            # The end of the script is what these versions call first.
            assert scripts[-4:] == ["", "function init() {", "    return new HandoffExtension();", "}"]
            del scripts[-4:]
        kept = [line for line in modules if not line.startswith(("import ", "export "))]
        assert [line for line in scripts if line in kept] == kept
        assert not [line for line in scripts if line.startswith(("import ", "export "))]


def test_unknown_form_is_an_error(tmp_path: Path) -> None:
    """A form of import that is not known is an error, and not a script that fails later."""
    (tmp_path / "a.js").write_text("import 'somewhere';\n")
    done = subprocess.run([CONVERTER, tmp_path / "a.js", tmp_path / "b.js"], capture_output=True, text=True)
    assert done.returncode == 1 and "import 'somewhere';" in done.stderr
    assert not (tmp_path / "b.js").exists()
