#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A note in a terminal: each line that is typed is the note from then on, and can be continued where its user goes."""

import os

from gi.repository import GLib
import handoff

TYPE = "org.example.Note.edit"


class Note:
    def __init__(self) -> None:
        self.text = ""
        self.editing: handoff.UserActivity | None = None
        self.application = handoff.HandoffApplication("org.example.Note", [TYPE])
        self.application.on_continue = self.go_on
        self.application.start()

    def edit(self, text: str) -> None:
        self.text = text
        if self.editing is None:
            self.editing = handoff.UserActivity(TYPE)
            self.editing.on_will_save = lambda activity: activity.user_info.update(text=self.text)
            self.editing.on_was_continued = self.goes_on_elsewhere
        self.editing.title = text
        self.editing.become_current()
        self.editing.needs_save = True

    def go_on(self, activity: handoff.UserActivity, device: handoff.Device) -> bool:
        text = activity.user_info.get("text")
        if not isinstance(text, str):
            raise ValueError("This note is of a newer version of the application. Update it here.")
        print(f"{text}\n  from {device.name}", flush=True)
        # From now on it is the note of this device, and can be continued from here.
        self.edit(text)
        return True

    def goes_on_elsewhere(self, activity: handoff.UserActivity, device: handoff.Device) -> None:
        activity.resign_current()
        print(f"Continued on {device.name}.", flush=True)


def typed(descriptor: int, _condition: GLib.IOCondition) -> bool:
    some = os.read(descriptor, 4096)
    for line in some.decode(errors="replace").splitlines():
        note.edit(line)
    return bool(some)


note = Note()
GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN | GLib.IOCondition.HUP, typed)
GLib.MainLoop().run()
