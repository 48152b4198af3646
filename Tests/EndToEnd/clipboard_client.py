# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that uses the clipboard of a desktop, without a window: of X11 as GTK 3 does, of sway and KWin by zwlr_data_control
version 1, which it speaks itself, of GNOME by org.gnome.Mutter.RemoteDesktop. It takes one order a line, in JSON, and answers
each with a line.

    {"order": "state"}                                    types that are there, whether it owns them, how often that changed,
                                                          and how often it was asked for each since it owns them
    {"order": "copy", "contents": {TYPE: BASE64}, "slow": SECONDS, "eager": BOOLEAN}
                                                          owns these types, and gives each to who asks for it, so slowly; if it
                                                          is eager, to the desktop itself, too
    {"order": "paste", "type": TYPE, "timeout": SECONDS}  reads what is there; null if it isn't, or takes longer
    {"order": "clear"}                                    empties the clipboard, whoever owns it
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from gi.repository import Gio, GLib
from clipboard_orders import PATIENCE, Client, give_up, in_thread, read_all, write_all
from data_control import DataControlClient


class X11Client(Client):
    """By GTK 3, which is used in the main loop alone."""

    # Targets that say something of the owner, and are no content.
    OTHERS = {"TARGETS", "TIMESTAMP", "MULTIPLE", "SAVE_TARGETS"}

    def __init__(self) -> None:
        super().__init__()
        import gi
        gi.require_version("Gdk", "3.0")
        gi.require_version("Gtk", "3.0")
        from gi.repository import Gdk, Gtk
        self.Gdk, self.Gtk = Gdk, Gtk
        self.selection = Gdk.Atom.intern("CLIPBOARD", False)
        self.clipboard = Gtk.Clipboard.get(self.selection)
        self.clipboard.connect("owner-change", self._changed)
        self.given: dict[Any, dict[str, bytes]] = {}
        self._new_window()

    def _new_window(self) -> None:
        """What owns: anew each time, because targets are only ever added to one."""
        self.window = self.Gtk.Invisible()
        # What is asked of a window is what was copied with it, also while something else is about to be.
        self.given[self.window] = self.contents
        self.window.connect("selection-get", self._asked)
        self.window.connect("selection-clear-event", self._replaced)
        self.window.show()

    def _changed(self, *_: Any) -> None:
        self.changes += 1

    def _asked(self, window: Any, data: Any, _info: int, _time: int) -> None:
        self.asked[kind := data.get_target().name()] += 1
        content = self.given.get(window, {}).get(kind, b"")
        time.sleep(self.slow)
        data.set(data.get_target(), 8, content)

    def _replaced(self, window: Any, _event: Any) -> bool:
        if window is self.window:
            self.is_owner = False
        return False

    @staticmethod
    def _in_main_loop(function: Callable[[Callable[[Any], None]], None], timeout: float) -> Any:
        """Has the main loop run this, and waits for what it says."""
        answers: list[Any] = []
        done = threading.Event()

        def answer(value: Any) -> None:
            answers.append(value)
            done.set()

        GLib.idle_add(function, answer)
        return answers[0] if done.wait(timeout) else None

    def _request(self, target: str, take: Callable[[Any], Any], timeout: float) -> Any:
        """Asks the owner, whoever that is."""
        atom = self.Gdk.Atom.intern(target, False)
        return self._in_main_loop(lambda answer: self.clipboard.request_contents(
            atom, lambda _clipboard, data: answer(take(data) if data.get_length() >= 0 else None)), timeout)

    def types(self) -> list[str]:
        atoms = self._request("TARGETS", lambda data: data.get_targets()[1], PATIENCE) or []
        return [name for atom in atoms if (name := atom.name()) not in self.OTHERS]

    def paste(self, kind: str, timeout: float) -> bytes | None:
        return self._request(kind, lambda data: data.get_data(), timeout)

    def own(self) -> None:
        def begin(answer: Callable[[Any], None]) -> None:
            old = self.window
            self._new_window()
            for kind in self.contents:
                self.Gtk.selection_add_target(self.window, self.selection, self.Gdk.Atom.intern(kind, False), 0)
            self.is_owner = self.Gtk.selection_owner_set(self.window, self.selection, self.Gdk.CURRENT_TIME)
            self.given.pop(old, None)
            old.destroy()
            answer(self.is_owner)

        if not self._in_main_loop(begin, PATIENCE):
            raise RuntimeError("the display does not let this own the clipboard")

    def clear(self) -> None:
        self.contents = {}
        self.own()

        def end(answer: Callable[[Any], None]) -> None:
            self.is_owner = False
            self.Gtk.selection_owner_set(None, self.selection, self.Gdk.CURRENT_TIME)
            self.Gdk.Display.get_default().sync()
            answer(True)

        self._in_main_loop(end, PATIENCE)


class MutterClient(Client):
    """By a session of remote control that is never started."""

    NAME = "org.gnome.Mutter.RemoteDesktop"

    def __init__(self) -> None:
        super().__init__()
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        self.kinds: list[str] = []
        # Whether the Shell has answered to SetSelection. What it asks for before, it does for itself.
        self.is_set = True
        self.path = "/org/gnome/Mutter/RemoteDesktop"
        self.path = self._call("CreateSession", interface=self.NAME)[0].unpack()[0]
        self.bus.signal_subscribe(self.NAME, f"{self.NAME}.Session", None, self.path, None, 0, self._told)
        self._call("EnableClipboard", GLib.Variant("(a{sv})", ({},)))

    def _call(self, method: str, arguments: GLib.Variant | None = None,
              interface: str = f"{NAME}.Session") -> tuple[GLib.Variant, Gio.UnixFDList | None]:
        return self.bus.call_with_unix_fd_list_sync(self.NAME, self.path, interface, method, arguments, None, 0,
                                                    PATIENCE * 1000, None, None)

    def _told(self, _bus: Any, _sender: str, _path: str, _interface: str, signal: str, arguments: GLib.Variant) -> None:
        if signal == "SelectionOwnerChanged":
            about = arguments.unpack()[0]
            self.changes += 1
            self.kinds = list(about.get("mime-types", ([],))[0])
            self.is_owner = about.get("session-is-owner", False)
        elif signal == "SelectionTransfer":
            kind, serial = arguments.unpack()
            if (self.is_set or self.eager) and kind in self.contents:
                in_thread(self._transfer, serial, self.give(kind))
            else:
                self.bus.call(self.NAME, self.path, f"{self.NAME}.Session", "SelectionWriteDone",
                              GLib.Variant("(ub)", (serial, False)), None, 0, -1, None, None)

    def _transfer(self, serial: int, content: bytes) -> None:
        try:
            reply, descriptors = self._call("SelectionWrite", GLib.Variant("(u)", (serial,)))
        except GLib.Error:
            # Something else is in the clipboard by now, and nobody waits for it any more.
            return
        assert descriptors
        done = write_all(descriptors.steal_fds()[reply.unpack()[0]], content, self.slow)
        with contextlib.suppress(GLib.Error):
            self._call("SelectionWriteDone", GLib.Variant("(ub)", (serial, done)))

    def _settle(self) -> None:
        """Waits until all signals that came before have been dealt with."""
        done = threading.Event()
        GLib.idle_add(lambda: done.set())
        done.wait(PATIENCE)

    def types(self) -> list[str]:
        # Signals come before the answer to what is called after them.
        self._call("Get", GLib.Variant("(ss)", (f"{self.NAME}.Session", "SessionId")), "org.freedesktop.DBus.Properties")
        self._settle()
        return self.kinds

    def paste(self, kind: str, timeout: float) -> bytes | None:
        if kind not in self.types():
            return None
        try:
            reply, descriptors = self._call("SelectionRead", GLib.Variant("(s)", (kind,)))
        except GLib.Error:
            return None
        assert descriptors
        return read_all(descriptors.steal_fds()[reply.unpack()[0]], timeout)

    def _set(self, **options: GLib.Variant) -> None:
        self.is_set = False
        self._call("SetSelection", GLib.Variant("(a{sv})", (options,)))
        self.types()
        self.is_set = True

    def own(self) -> None:
        self._set(**{"mime-types": GLib.Variant("as", list(self.contents))})

    def clear(self) -> None:
        # Only its owner can give it up, and that only if the Shell has kept nothing of it.
        self._set(**{"mime-types": GLib.Variant("as", ["application/x-nothing"])})
        self._set()


def serve(client: Client) -> None:
    for line in sys.stdin:
        print(json.dumps(client.carry_out(json.loads(line))), flush=True)
    os._exit(0)


if __name__ == "__main__":
    # Without one of its threads or handlers it would seem to wait.
    sys.excepthook = lambda *error: give_up("".join(traceback.format_exception(*error)))
    threading.excepthook = lambda error: give_up("".join(traceback.format_exception(error.exc_value)))
    in_thread(serve, {"x11": X11Client, "data-control": DataControlClient, "mutter": MutterClient}[sys.argv[1]]())
    GLib.MainLoop().run()
