# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script for KWin without one: what it does with the names of version 6, and with those of version 5."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import wait
from support import SOURCE
from user_manager import SYSTEMD, UserManager

SCRIPT = SOURCE / "data" / "kwin" / "scripts" / "handoff" / "contents" / "code" / "main.js"
# What KWin has for scripts. On the bus OWNER owns the agent's name, its process is 1, and MAIN is the agent's.
STUB = """
function signal() {
    const listeners = [];
    return {listeners, connect: f => listeners.push(f), disconnect: f => listeners.splice(listeners.indexOf(f), 1),
        emit: (...all) => [...listeners].forEach(f => f(...all))};
}
const window_ = (name, title) => ({desktopFileName: name, caption: title, pid: 42, captionChanged: signal()});
let owner = ':1.5', main = MAIN;
const told = [], timers = [], asked = [];
function callDBus(name, path, interfaceName, method, ...rest) {
    const done = typeof rest[rest.length - 1] === 'function' ? rest.pop() : () => {};
    asked.push(method);
    switch (method) {
    case 'GetNameOwner':
        // Of a call that fails nothing is heard.
        if (owner)
            done(owner);
        break;
    case 'GetConnectionUnixProcessID':
        done(1);
        break;
    case 'Get':
        done(main);
        break;
    default:
        told.push([name, method, ...rest]);
    }
}
class QTimer {
    constructor() {
        this.timeout = signal();
        timers.push(this);
    }

    start() {
        this.active = true;
    }

    fire() {
        this.active = false;
        this.timeout.emit();
    }
}
"""
NAMES = {5: ("clientActivated", "activeClient"), 6: ("windowActivated", "activeWindow")}


def run(version: int, then: str, main: int = 1) -> Any:
    """What `then` is after the script has run."""
    if not shutil.which("gjs"):
        pytest.skip("gjs is not installed: meson-helpers/install-packages test")
    activated, active = NAMES[version]
    workspace = f"const workspace = {{{activated}: signal(), {active}: null}}; const focus = workspace.{activated};"
    program = STUB.replace("MAIN", str(main)) + workspace + SCRIPT.read_text() + f"\nprint(JSON.stringify({then}));"
    done = subprocess.run(["gjs", "-c", program], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("version", NAMES)
def test_versions_of_kwin(version: int) -> None:
    """The focus is told to the agent's unique name, in KWin 5 and in KWin 6."""
    told = run(version, "(focus.emit(window_('org.example.editor', 'A letter')), focus.emit(null), told)")
    about = {"ApplicationId": "org.example.editor", "Title": "A letter", "ProcessId": 42}
    assert told == [[":1.5", "FocusChanged", {}], [":1.5", "FocusChanged", about], [":1.5", "FocusChanged", {}]]


def test_titles_in_kwin() -> None:
    """Titles that change are gathered, cut and cleaned; of a window that has lost the focus none is told."""
    assert run(6, "(() => { const w = window_('/usr/share/applications/a.b.desktop', '1'), other = window_('', '');"
               " focus.emit(w); told.length = 0; for (let n = 0; n < 100; n++) w.captionChanged.emit();"
               " w.caption = '\\u202e' + 'x'.repeat(10000); const before = told.length; timers[0].fire();"
               " focus.emit(other); w.captionChanged.emit(); return [before, told.map(one => [one[2].ApplicationId ?? '',"
               " one[2].Title.length]), timers.length, timers[0].active]; })()") == [
        0, [["a.b", 256], ["", 0]], 1, False]


def test_agent_of_another_process() -> None:
    """Nothing is told to who owns the agent's name without being what systemd has started, nor to a new owner before it is
    known to be the agent."""
    assert run(6, "(focus.emit(window_('a.b', 'x')), told)", main=2) == []
    assert run(6, "(focus.emit(window_('a.b', 'x')), told)", main=0) == []
    assert run(6, "(() => { owner = ':1.6'; main = 7; told.length = 0; focus.emit(window_('a.b', 'x'));"
               " owner = ''; focus.emit(null); return told; })()") == []


def test_systemd_says_who_the_agent_is(tmp_path: Path) -> None:
    """Where the script asks for it, a user's systemd says which process it has started as the agent."""
    path = re.search(r"UNIT_PATH = '(.*)'", SCRIPT.read_text())[1]
    manager = UserManager(tmp_path)
    try:
        if manager.missing:
            pytest.skip(manager.missing)
        run_it = GLib.Variant("a(sasb)", [("/bin/sleep", ["sleep", "60"], False)])
        manager.call("StartTransientUnit", GLib.Variant("(ssa(sv)a(sa(sv)))", (
            "handoff-agent.service", "replace", [("ExecStart", run_it)], [])))
        wait(lambda: manager.state("handoff-agent.service") == "active", "the unit")
        reply = manager.call("org.freedesktop.DBus.Properties.Get", GLib.Variant("(ss)", (f"{SYSTEMD}.Service", "MainPID")),
                             path)
        assert reply.get_child_value(0).get_variant().get_type_string() == "u"
        assert reply.unpack()[0] > 1
    finally:
        manager.end()
