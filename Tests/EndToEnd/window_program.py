#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application with one window. What it reads line by line becomes the title.

    window_program.py APPLICATION_ID TITLE
"""

from __future__ import annotations

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gio, GLib, Gtk

application_id, title = sys.argv[1:]
GLib.set_prgname(application_id)
application = Gtk.Application(application_id=application_id, flags=Gio.ApplicationFlags.NON_UNIQUE)


def activated(_application: Gtk.Application) -> None:
    window = Gtk.ApplicationWindow(application=application, title=title)
    window.add(Gtk.Entry())
    window.show_all()
    window.present()
    GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP,
                      lambda *_: bool(line := sys.stdin.readline()) and not window.set_title(line.rstrip("\n")))


application.connect("activate", activated)
application.run([])
