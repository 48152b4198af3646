# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real editors with their plugins for Handoff, which write down where they are."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from buses import wait
from desktops import install_entry
from screen import Screen
from support import PROGRAMS, SOURCE, Machine
from terminal import Terminal
from test_desktop_entries import have_bus_start
from vendor import own_id

EDITORS = SOURCE / "data" / "editors"
CATCHER = own_id("Editor")
TYPE = "org.example.Handoff.EditingText"
# How long an editor may take to start.
PATIENCE = 30

# What each editor is told in addition to what is installed: to write down where it is, again and again.
VIM_RC = """
set nocompatible nomore shortmess+=I nobackup updatetime=200 viminfo= encoding=utf-8
function! Tell(...)
  let l:state = {'file': expand('%:p'), 'line': line('.'), 'column': strchars(strpart(getline('.'), 0, col('.') - 1)) + 1,
        \\ 'text': getline(1, '$'), 'modified': &modified ? v:true : v:false, 'messages': execute('messages')}
  call writefile([json_encode(l:state)], '@state@.new')
  call rename('@state@.new', '@state@')
endfunction
call timer_start(100, function('Tell'), {'repeat': -1})
"""
EMACS_RC = """
(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil)
(load "@plugin@")
(handoff-mode 1)
(run-with-timer 0.1 0.1 (lambda ()
  (with-current-buffer (window-buffer)
    (let ((state (list (cons 'file (or buffer-file-name "")) (cons 'line (line-number-at-pos nil t))
                       (cons 'column (1+ (- (point) (line-beginning-position))))
                       (cons 'text (vconcat (split-string (save-restriction (widen) (buffer-string)) "\\n")))
                       (cons 'modified (if (buffer-modified-p) t :json-false))
                       (cons 'messages (or (current-message) "")))))
      (require 'json)
      (let ((text (json-encode state)) (coding-system-for-write 'utf-8))
        (with-temp-file "@state@.new" (insert text)))
      (rename-file "@state@.new" "@state@" t)))))
"""

# What tells of gedit, as a plugin of its own.
GEDIT_TELLER = """
import gi, json, os
gi.require_version("Gedit", "3.0")
from gi.repository import Gedit, GLib, GObject
class Teller(GObject.Object, Gedit.WindowActivatable):
    __gtype_name__ = "Teller"
    window = GObject.Property(type=Gedit.Window)
    def do_activate(self):
        GLib.timeout_add(100, self.tell)
    def do_deactivate(self):
        pass
    def tell(self):
        document = self.window.get_active_document()
        location = document.get_file().get_location() if document else None
        if location:
            cursor = document.get_iter_at_mark(document.get_insert())
            text = document.get_text(document.get_start_iter(), document.get_end_iter(), True)
            with open("@state@.new", "w") as file:
                json.dump({"file": location.get_path(), "line": cursor.get_line() + 1, "text": text.split("\\n"),
                           "column": cursor.get_line_offset() + 1, "modified": document.get_modified(),
                           "messages": str(self.window.is_active())}, file)
            os.rename("@state@.new", "@state@")
        return True
"""
GEDIT_PLUGIN = "[Plugin]\nLoader=python3\nModule=teller\nIAge=3\nName=Teller\n"
GEDIT_SETTINGS = """[org/gnome/gedit/plugins]
active-plugins=@plugins@
[org/gnome/gedit/preferences/editor]
auto-indent=false
"""


def prepare_gedit(machine: Machine, screen: Screen, plugins: tuple[str, ...] = ("handoff", "teller")) -> None:
    """Installs gedit's plugins for the user of a machine, and gives it a screen."""
    for program in ("gedit", "Xvfb", "xdotool"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program}: meson-helpers/install-packages test")
    machine.environment |= {"DISPLAY": screen.display, "GSETTINGS_BACKEND": "keyfile", "NO_AT_BRIDGE": "1",
                            "GDK_BACKEND": "x11", "LIBGL_ALWAYS_SOFTWARE": "1"}
    machine.environment["XDG_DATA_DIRS"] += ":/usr/share"
    folder = Path(machine.environment["XDG_DATA_HOME"], "gedit/plugins")
    folder.mkdir(parents=True)
    source = (EDITORS / "gedit/handoff.py.in").read_text()
    command = str(bin_folder(machine) / "handoff-editor")
    (folder / "handoff.py").write_text(source.replace("@libexecdir@/handoff-editor", command))
    shutil.copy(EDITORS / "gedit/handoff.plugin", folder)
    (folder / "teller.py").write_text(filled(GEDIT_TELLER, machine))
    (folder / "teller.plugin").write_text(GEDIT_PLUGIN)
    settings = Path(machine.environment["XDG_CONFIG_HOME"], "glib-2.0/settings")
    settings.mkdir(parents=True)
    (settings / "keyfile").write_text(GEDIT_SETTINGS.replace("@plugins@", str(list(plugins))))
    have_bus_start(machine, CATCHER, started(machine, "editor"))


def prepare_emacs(machine: Machine, screen: Screen) -> None:
    """Gives a machine a screen, on which Emacs has windows."""
    question = ("-Q", "--batch", "--eval", "(kill-emacs (if (fboundp 'x-create-frame) 0 1))")
    if not shutil.which("emacs") or subprocess.run(("emacs", *question), capture_output=True, check=False).returncode:
        pytest.skip("there is no Emacs with windows: meson-helpers/install-packages test")
    machine.environment |= {"DISPLAY": screen.display, "NO_AT_BRIDGE": "1", "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory"}
    # What kinds of pictures there are stands there.
    machine.environment["XDG_DATA_DIRS"] += ":/usr/share"
    have_bus_start(machine, CATCHER, started(machine, "editor"))


def end_editors(machine: Machine) -> None:
    """Ends the editors that were started on a machine: they outlive who has started them."""
    home = f"HOME={machine.environment['HOME']}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_editor = (process / "comm").read_text().strip().startswith(("vim", "nvim", "emacs", "kate"))
            if is_editor and home in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def prepare(machine: Machine) -> None:
    """Installs the adapter for editors and the plugins of all editors for the user of a machine."""
    home = Path(machine.environment["HOME"])
    command = str(bin_folder(machine) / "handoff-editor")
    Path(command).symlink_to(PROGRAMS / "handoff-adapter")
    machine.environment["PATH"] = f"{bin_folder(machine)}:{machine.environment['PATH']}"
    machine.environment["TERM"] = "linux"
    have_bus_start(machine, CATCHER, started(machine, "editor"))
    install_entry(machine, CATCHER)
    for source, target in (("vim/handoff.vim.in", home / ".vim/plugin/handoff.vim"),
                           ("vim/handoff.vim.in", Path(machine.environment["XDG_DATA_HOME"], "nvim/site/plugin/handoff.vim")),
                           ("emacs/handoff.el.in", home / "handoff.el")):
        if (EDITORS / source).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text((EDITORS / source).read_text().replace("@libexecdir@/handoff-editor", command))
    (home / ".vimrc").write_text(filled(VIM_RC, machine))
    configuration = Path(machine.environment["XDG_CONFIG_HOME"], "nvim")
    configuration.mkdir()
    (configuration / "init.vim").write_text(filled(VIM_RC, machine))
    (home / ".emacs").write_text(filled(EMACS_RC, machine))


def started(machine: Machine, name: str) -> str:
    """The command line with which the bus starts an adapter: the bus was there before what this machine has now."""
    variables = " ".join(f"{variable}={machine.environment[variable]}" 
                         for variable in ("PATH", "TERM", "DISPLAY", "GSETTINGS_BACKEND", "NO_AT_BRIDGE", "XDG_DATA_DIRS")
                         if variable in machine.environment)
    return f"/usr/bin/env {variables} {PROGRAMS}/handoff-adapter {name} --verbose"


def bin_folder(machine: Machine) -> Path:
    """Where programs are that only this machine has."""
    folder = machine.folder / "bin"
    folder.mkdir(exist_ok=True)
    return folder


def state_file(machine: Machine) -> Path:
    return machine.folder / "editor-state.json"


def filled(text: str, machine: Machine) -> str:
    plugin = Path(machine.environment["HOME"], "handoff.el")
    return text.replace("@state@", str(state_file(machine))).replace("@plugin@", str(plugin))


def state(machine: Machine) -> dict[str, Any]:
    """Where the editor of a machine says that it is."""
    try:
        return json.loads(state_file(machine).read_text(errors="replace"))
    except (OSError, ValueError):
        return {}


def wait_for_state(machine: Machine, timeout: float = PATIENCE, **expected: Any) -> dict[str, Any]:
    """Waits until the editor is where it should be."""
    def reached() -> dict[str, Any] | None:
        now = state(machine)
        return now if now and all(now.get(name) == value for name, value in expected.items()) else None
    try:
        return wait(reached, f"the editor of {machine.name} to be at {expected}", timeout)
    except AssertionError as error:
        raise AssertionError(f"{error}\nIt is at {state(machine)}\n{machine.log('dbus-daemon')}") from error


class Editor(Terminal):
    """An editor in a terminal."""

    def __init__(self, machine: Machine, program: str, *arguments: str) -> None:
        if not shutil.which(program):
            pytest.skip(f"there is no {program}: meson-helpers/install-packages test")
        super().__init__(machine, program, *arguments)
        self.machine = machine

    def press(self, keys: str) -> None:
        self.text
        self.type(keys)

    def quit(self) -> None:
        self.process.terminate()
        wait(lambda: self.text is not None and self.process.poll() is not None, "the end of the editor")
        self.close()


# A terminal that shows nothing: it runs its command with a terminal of its own, as all of them do. What is typed comes from a
# pipe.
TERMINAL = """#!/usr/bin/python3
import os, pty, select, sys
with open({log!r}, "a") as log:
    print(*sys.argv, sep="\\x1f", file=log)
keys = os.open({keys!r}, os.O_RDWR)
def read(fd):
    data = os.read(fd, 65536)
    with open({screen!r}, "ab") as screen:
        screen.write(data)
    return data
os.environ["TERM"] = "linux"
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while True:
        ready = select.select([fd, keys], [], [])[0]
        if keys in ready:
            os.write(fd, os.read(keys, 4096))
        if fd in ready and not read(fd):
            break
except OSError:
    pass
"""


def install_terminal(machine: Machine) -> None:
    """A terminal for this machine."""
    path, keys = bin_folder(machine) / "xdg-terminal-exec", machine.folder / "terminal.keys"
    if not keys.exists():
        os.mkfifo(keys)
    path.write_text(TERMINAL.format(log=str(machine.folder / "terminal.log"), screen=str(machine.folder / "terminal.screen"),
                                    keys=str(keys)))
    path.chmod(0o755)


def type_into_terminal(machine: Machine, text: str) -> None:
    """Types into the terminal of this machine."""
    keys = os.open(machine.folder / "terminal.keys", os.O_RDWR)
    os.write(keys, text.encode())
    os.close(keys)
