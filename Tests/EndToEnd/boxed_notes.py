#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Notes in a Flatpak: a GApplication that uses the client in Python. What its user does are its actions on the bus; what it is
told it writes to `told` in its own folder, a line of JSON each."""

from __future__ import annotations

import json
import os
import sys

from gi.repository import Gio, GLib
import handoff

ID = os.environ["FLATPAK_ID"]
TYPE = f"{ID}.edit"


class Notes(Gio.Application):
    def __init__(self) -> None:
        super().__init__(application_id=ID)
        self.editing: handoff.UserActivity | None = None

    def do_startup(self) -> None:
        Gio.Application.do_startup(self)
        self.hold()
        for name, parameters in (("edit", "(ss)"), ("look", "s"), ("quit", None)):
            action = Gio.SimpleAction.new(name, parameters and GLib.VariantType(parameters))
            action.connect("activate", getattr(self, f"act_{name}"))
            self.add_action(action)
        self.handoff = handoff.HandoffApplication(ID, [TYPE])
        self.handoff.on_continue = self.go_on
        self.handoff.start()

    def do_activate(self) -> None:
        pass

    def act_edit(self, _action: Gio.SimpleAction, parameters: GLib.Variant) -> None:
        """The user edits a note, and perhaps the document at a path."""
        text, document = parameters.unpack()
        if self.editing is None:
            self.editing = handoff.UserActivity(TYPE)
            self.editing.on_will_save = lambda activity: activity.user_info.update(text=self.text)
            self.editing.on_was_continued = lambda activity, device: tell(went_to=device.name)
        self.text = self.editing.title = text
        if document:
            self.editing.document_url = GLib.filename_to_uri(document)
        self.editing.become_current()
        self.editing.needs_save = True

    def act_look(self, _action: Gio.SimpleAction, path: GLib.Variant) -> None:
        """Tells whether it takes part, and whether it sees a file."""
        tell(available=self.handoff.is_available, sees=os.path.exists(path.unpack()))

    def act_quit(self, _action: Gio.SimpleAction, _parameter: None) -> None:
        self.quit()

    def go_on(self, activity: handoff.UserActivity, device: handoff.Device) -> bool:
        document = GLib.filename_from_uri(activity.document_url)[0] if activity.document_url else ""
        content = open(document).read() if document else ""
        if document:
            with open(document, "a") as file:
                file.write(", and eggs")
        tell(text=activity.user_info.get("text"), came_from=device.name, document=document, content=content)
        return True


def tell(**what: object) -> None:
    with open(os.path.join(GLib.get_user_data_dir(), "told"), "a") as file:
        file.write(json.dumps(what) + "\n")


sys.exit(Notes().run(sys.argv))
