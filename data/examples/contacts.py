#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contacts: an address book whose open contact can be continued on another machine.

An example of an application that takes part in Handoff with nothing but D-Bus. The class Handoff is the
part to take over: it registers the application, keeps one activity for what is open, answers the broker,
and starts anew when the broker does. Everything else is the address book, which knows nothing of D-Bus.

    contacts.py edit NAME [FIELD=VALUE…]    opens a contact, a new one if there is none of that name, and
                                            changes it; the application stays until "close"
    contacts.py serve                       starts the application without a contact
    contacts.py close                       closes the open contact; ends the application unless it serves
    contacts.py show NAME                   prints a contact: field, D-Bus type and value, tab-separated
    contacts.py list                        prints the names

A VALUE is text for name, a day like 1815-12-10 for birthday, hexadecimal for photo, else JSON.
The contacts are in $XDG_DATA_HOME/contacts/contacts.json.
"""

# This file is long because it is a whole application, to be read from top to bottom and copied as one file.

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gi.repository import Gio, GLib

APPLICATION_ID = "org.example.Contacts"
ACTIVITY_TYPE = "org.example.Contacts.edit"
EPOCH = datetime.date(1970, 1, 1)


# The address book

class CannotRestore(Exception):
    """A state that this version of the application does not understand."""


class Kind(NamedTuple):
    """What a field holds: its type on D-Bus, and how its value looks there and in the file.

    A value is a Python value here, a GLib.Variant in an activity, and something JSON knows in the file.
    """

    signature: str
    default: Any
    to_variant: Callable[[Any], GLib.Variant]
    from_variant: Callable[[GLib.Variant], Any]
    to_json: Callable[[Any], Any] = lambda value: value
    from_json: Callable[[Any], Any] = lambda value: value


def plain(signature: str, default: Any) -> Kind:
    """A field whose value GLib and JSON both know as it is."""
    return Kind(signature, default, lambda value: GLib.Variant(signature, value), GLib.Variant.unpack)


def address_to_variant(address: dict[str, Any]) -> GLib.Variant:
    return GLib.Variant("a{sv}", {key: GLib.Variant(ADDRESS[key], value) for key, value in address.items()})


def address_from_variant(variant: GLib.Variant) -> dict[str, Any]:
    entries = {key: variant.lookup_value(key) for key in variant.keys()}
    for key, value in entries.items():
        if value.get_type_string() != ADDRESS.get(key):
            raise CannotRestore(f'This version of Contacts does not know the address entry "{key}".')
    return {key: value.unpack() for key, value in entries.items()}


def date_to_variant(day: datetime.date) -> GLib.Variant:
    """Handoff's form of a date: tagged, in microseconds since the Unix epoch."""
    microseconds = (day - EPOCH) // datetime.timedelta(microseconds=1)
    return GLib.Variant("(sv)", ("date", GLib.Variant("x", microseconds)))


def date_from_variant(variant: GLib.Variant) -> datetime.date:
    tag, microseconds = variant.unpack()
    if tag != "date" or not isinstance(microseconds, int):
        raise CannotRestore(f'A date is expected, and "{tag}" has come.')
    return EPOCH + datetime.timedelta(microseconds=microseconds)


ADDRESS = {"street": "s", "city": "s", "postcode": "s", "country": "s", "position": "a{sd}"}
FIELDS = {
    "name": plain("s", ""),
    "id": plain("u", 0),
    "rating": plain("d", 0.0),
    "favourite": plain("b", False),
    "photo": Kind("ay", b"", lambda photo: GLib.Variant("ay", photo), lambda variant: bytes(variant.unpack()),
                  bytes.hex, bytes.fromhex),
    "phones": plain("as", []),
    "address": Kind("a{sv}", {}, address_to_variant, address_from_variant),
    "birthday": Kind("(sv)", EPOCH, date_to_variant, date_from_variant,
                     datetime.date.isoformat, datetime.date.fromisoformat),
}

Contact = dict[str, Any]


def state_of(contact: Contact) -> dict[str, GLib.Variant]:
    """What another machine needs to continue with this contact: the UserInfo of its activity."""
    return {field: kind.to_variant(contact[field]) for field, kind in FIELDS.items()}


def contact_from(state: dict[str, GLib.Variant]) -> Contact:
    """The contact of a UserInfo that has come from another machine, perhaps from another version."""
    contact = {field: kind.default for field, kind in FIELDS.items()}
    for field, value in state.items():
        if field not in FIELDS:
            raise CannotRestore(f'This version of Contacts does not know the field "{field}".')
        if value.get_type_string() != FIELDS[field].signature:
            raise CannotRestore(f'The field "{field}" has the type {value.get_type_string()}, '
                                f"and not {FIELDS[field].signature}.")
        contact[field] = FIELDS[field].from_variant(value)
    return contact


class AddressBook:
    """The contacts, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.contacts: list[Contact] = []
        if path.exists():
            for entry in json.loads(path.read_text()):
                self.contacts.append({field: kind.from_json(entry[field]) for field, kind in FIELDS.items()})

    def find(self, field: str, value: Any) -> Contact | None:
        return next((contact for contact in self.contacts if contact[field] == value), None)

    def find_or_create(self, name: str) -> Contact:
        contact = self.find("name", name)
        if contact is None:
            contact = {field: kind.default for field, kind in FIELDS.items()}
            contact["name"] = name
            contact["id"] = 1 + max((other["id"] for other in self.contacts), default=0)
            self.contacts.append(contact)
        return contact

    def merge(self, contact: Contact) -> Contact:
        """Stores a contact in place of the one with its id, if there is one."""
        known = self.find("id", contact["id"])
        if known is None:
            self.contacts.append(contact)
            known = contact
        else:
            known.update(contact)
        self.save()
        return known

    def save(self) -> None:
        entries = [{field: kind.to_json(contact[field]) for field, kind in FIELDS.items()}
                   for contact in self.contacts]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_suffix(".new")
        unfinished.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
        os.replace(unfinished, self._path)


def text_of(field: str, value: Any) -> str:
    """A value as it is shown, which is also how it is given on the command line."""
    shown = FIELDS[field].to_json(value)
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, sort_keys=True)


def parse_change(argument: str) -> tuple[str, Any]:
    """One FIELD=VALUE of the command line."""
    field, equals, text = argument.partition("=")
    if not equals or field not in FIELDS:
        raise ValueError(f"“{argument}” is not FIELD=VALUE with one of the fields {', '.join(FIELDS)}")
    kind = FIELDS[field]
    try:
        value = kind.from_json(text if isinstance(kind.to_json(kind.default), str) else json.loads(text))
        kind.to_variant(value)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise ValueError(f"“{text}” is not a value of the field {field}, whose type is {kind.signature}") from error
    return field, value


# Handoff

class Handoff:
    """Handoff for an application that has one thing open at a time.

    `delegate` is asked and told, in the application's own words:

    - activity_properties() -> dict: the properties of what is open now, as GLib.Variant.
    - continuation_begins(device_name), continuation_fails(message): something is coming, and is not.
    - continue_activity(properties): continue this. CannotRestore refuses it; its text reaches the user.
    - was_continued(device_name): what is open here was continued there.
    """

    BROKER = "org.example.Handoff"
    ROOT = "/org/example/Handoff"
    INTERFACES = """<node>
      <interface name="org.example.Handoff.Application">
        <method name="WillContinueActivity">
          <arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/>
        </method>
        <method name="ContinueActivity">
          <arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/>
        </method>
        <method name="DidFailToContinueActivity">
          <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
        </method>
      </interface>
      <interface name="org.example.Handoff.ActivityDelegate">
        <method name="WillSave"><arg type="o" direction="in"/><arg type="a{sv}" direction="out"/></method>
        <method name="WasContinued"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/></method>
      </interface>
    </node>"""

    def __init__(self, connection: Gio.DBusConnection, path: str, delegate: Any) -> None:
        self._connection = connection
        self._path = path
        self._delegate = delegate
        self._broker: str | None = None
        self._cancellable = Gio.Cancellable()
        self._open = False
        # Whether the activity is the current one, by the broker's last word or by a wish that it is yet to hear.
        self._current = False
        # Made anew for each activity that is asked for, so that a late reply is known to be late.
        self._request = object()
        self._activity: str | None = None
        for interface in Gio.DBusNodeInfo.new_for_xml(self.INTERFACES).interfaces:
            connection.register_object(path, interface, self._was_called, None, None)
        connection.signal_subscribe(None, "org.freedesktop.DBus.Properties", "PropertiesChanged", None,
                                    f"{self.BROKER}.Activity", Gio.DBusSignalFlags.NONE, self._properties_changed)
        connection.signal_subscribe(None, f"{self.BROKER}.Manager", "RegistrationEnded", None, None,
                                    Gio.DBusSignalFlags.NONE, self._registration_ended)
        # AUTO_START: the bus starts the broker. It may be replaced or started anew at any time.
        Gio.bus_watch_name_on_connection(connection, self.BROKER, Gio.BusNameWatcherFlags.AUTO_START,
                                         self._broker_appeared, self._broker_vanished)

    def opened(self) -> None:
        """Something was opened: an activity for it becomes the current one, in place of the former."""
        self.closed()
        self._open = True
        self._current = True
        self._create_activity()

    def closed(self) -> None:
        """Nothing is open any longer."""
        self._open = False
        self._request = object()
        if self._activity is not None:
            self._call_activity("Invalidate")
            self._activity = None

    def changed(self) -> None:
        """What is open was changed. The broker asks for the new state when it needs it."""
        self._current = True
        if self._activity is not None:
            # The title is in the offer, which others see; the rest is asked for when it is needed.
            title = self._delegate.activity_properties()["Title"]
            properties = {"Title": title, "NeedsSave": GLib.Variant("b", True)}
            self._call_activity("Update", GLib.Variant("(a{sv})", (properties,)))
            self._call_activity("BecomeCurrent")

    def resign(self) -> None:
        """The user has turned to something else; it can't be continued elsewhere for the moment."""
        self._current = False
        if self._activity is not None:
            self._call_activity("ResignCurrent")

    def _broker_appeared(self, _connection: Gio.DBusConnection, _name: str, owner: str) -> None:
        self._broker = owner
        self._cancellable = Gio.Cancellable()
        # The broker takes calls in the order they were sent, so there is no need to wait for the reply.
        self._call(self.ROOT, "Manager", "RegisterApplication",
                   GLib.Variant("(sasoa{sv})", (APPLICATION_ID, [ACTIVITY_TYPE], self._path, {})))
        self._create_activity()

    def _broker_vanished(self, _connection: Gio.DBusConnection, _name: str) -> None:
        self._cancellable.cancel()
        self._broker = None
        self._activity = None

    def _registration_ended(self, connection: Gio.DBusConnection, sender: str, _path: str, _interface: str,
                            _signal: str, arguments: GLib.Variant) -> None:
        if sender == self._broker:
            _application_id, reason = arguments.unpack()
            print(f"contacts: {reason}", file=sys.stderr)
            self._broker_vanished(connection, self.BROKER)
            self._broker_appeared(connection, self.BROKER, sender)

    def _create_activity(self) -> None:
        if not self._open or self._broker is None:
            return
        request = self._request = object()

        def created(reply: GLib.Variant) -> None:
            (path,) = reply.unpack()
            if request is self._request:
                self._activity = path
                # After a restart of the broker, only what was current: another application may have what is now.
                if self._current:
                    self._call_activity("BecomeCurrent")
            else:
                self._call(path, "Activity", "Invalidate")

        properties = self._delegate.activity_properties()
        self._call(self.ROOT, "Manager", "CreateActivity",
                   GLib.Variant("(sa{sv})", (ACTIVITY_TYPE, properties)), created)

    def _properties_changed(self, _connection: Gio.DBusConnection, sender: str, path: str, _interface: str,
                            _signal: str, arguments: GLib.Variant) -> None:
        _of, changed, _invalidated = arguments.unpack()
        if sender == self._broker and path == self._activity and "Current" in changed:
            self._current = changed["Current"]

    def _call_activity(self, method: str, arguments: GLib.Variant | None = None) -> None:
        self._call(self._activity, "Activity", method, arguments)

    def _call(self, path: str, interface: str, method: str, arguments: GLib.Variant | None = None,
              then: Callable[[GLib.Variant], None] | None = None) -> None:
        def answered(connection: Gio.DBusConnection, result: Gio.AsyncResult) -> None:
            try:
                reply = connection.call_finish(result)
            except GLib.Error as error:
                # A broker that goes away says so by its name; the next one gets everything again.
                if not error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED):
                    print(f"contacts: {method}: {error.message}", file=sys.stderr)
                return
            if then is not None:
                then(reply)

        # To the owner, not to the name: what was meant for one broker never reaches another.
        self._connection.call(self._broker, path, f"{self.BROKER}.{interface}", method, arguments, None,
                              Gio.DBusCallFlags.NONE, -1, self._cancellable, answered)

    def _was_called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str,
                    method: str, arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if sender != self._broker:
            invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied",
                                         f"Only {self.BROKER} may call this.")
            return
        try:
            invocation.return_value(getattr(self, f"_{method}")(arguments))
        except CannotRestore as error:
            invocation.return_dbus_error(f"{APPLICATION_ID}.Error.CannotRestore", str(error))

    def _WillContinueActivity(self, arguments: GLib.Variant) -> GLib.Variant:
        self._delegate.continuation_begins(arguments.get_child_value(1).unpack()["DeviceName"])
        return GLib.Variant("(b)", (True,))

    def _ContinueActivity(self, arguments: GLib.Variant) -> GLib.Variant:
        self._delegate.continue_activity(entries(arguments.get_child_value(0)))
        return GLib.Variant("(b)", (True,))

    def _DidFailToContinueActivity(self, arguments: GLib.Variant) -> None:
        self._delegate.continuation_fails(arguments.unpack()[2])

    def _WillSave(self, arguments: GLib.Variant) -> GLib.Variant:
        (activity,) = arguments.unpack()
        properties = self._delegate.activity_properties() if activity == self._activity else {}
        return GLib.Variant("(a{sv})", (properties,))

    def _WasContinued(self, arguments: GLib.Variant) -> None:
        activity, device = arguments.unpack()
        if activity == self._activity:
            self._delegate.was_continued(device["DeviceName"])


def entries(dictionary: GLib.Variant) -> dict[str, GLib.Variant]:
    """The entries of an a{sv}, whose values keep their D-Bus types."""
    return {key: dictionary.lookup_value(key) for key in dictionary.keys()}


# The application

class Contacts(Gio.Application):
    """The running application: one a session, to which further command lines go."""

    def __init__(self, path: Path) -> None:
        super().__init__(application_id=APPLICATION_ID, flags=Gio.ApplicationFlags.HANDLES_COMMAND_LINE)
        self._path = path
        self._serves = False
        self._contact: Contact | None = None
        self._handoff: Handoff | None = None

    def do_startup(self) -> None:
        Gio.Application.do_startup(self)
        self._book = AddressBook(self._path)
        for number in (signal.SIGINT, signal.SIGTERM):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.quit)
        if self.get_dbus_connection() is not None:
            self._handoff = Handoff(self.get_dbus_connection(), "/org/example/Contacts", self)

    def do_command_line(self, command_line: Gio.ApplicationCommandLine) -> int:
        options = parse_arguments(command_line.get_arguments()[1:])
        if options.command == "serve" and not self._serves:
            self._serves = True
            self.hold()
        elif options.command == "edit":
            self._edit(self._book.find_or_create(options.name), dict(options.changes))
        elif options.command == "close":
            self._close()
        return 0

    def _edit(self, contact: Contact, changes: Contact) -> None:
        contact.update(changes)
        self._book.save()
        if contact is not self._contact:
            self._open(contact)
        elif self._handoff is not None:
            self._handoff.changed()

    def _open(self, contact: Contact) -> None:
        if self._contact is None:
            self.hold()
        self._contact = contact
        if self._handoff is not None:
            self._handoff.opened()

    def _close(self) -> None:
        if self._contact is not None:
            self._contact = None
            if self._handoff is not None:
                self._handoff.closed()
            self.release()

    def activity_properties(self) -> dict[str, GLib.Variant]:
        contact = self._contact
        return {
            "Title": GLib.Variant("s", contact["name"]),
            "TargetContentIdentifier": GLib.Variant("s", f"contact:{contact['id']}"),
            "UserInfo": GLib.Variant("a{sv}", state_of(contact)),
        }

    def continuation_begins(self, device_name: str) -> None:
        print(f"A contact is coming from {device_name}.", flush=True)

    def continuation_fails(self, message: str) -> None:
        print(f"The contact is not coming: {message}", flush=True)

    def continue_activity(self, properties: dict[str, GLib.Variant]) -> None:
        contact = contact_from(entries(properties.get("UserInfo", GLib.Variant("a{sv}", {}))))
        if not contact["name"]:
            raise CannotRestore("The contact has no name.")
        # From now on the activity is that of this machine, and can be continued on a third one, or back on the first.
        self._open(self._book.merge(contact))
        print(f"{contact['name']} is open here now.", flush=True)

    def was_continued(self, device_name: str) -> None:
        print(f"{self._contact['name']} was continued on {device_name}.", flush=True)
        self._handoff.resign()


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="contacts.py", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="start the application without a contact")
    commands.add_parser("list", help="print the names")
    commands.add_parser("close", help="close the open contact")
    commands.add_parser("show", help="print a contact").add_argument("name", metavar="NAME")
    edit = commands.add_parser("edit", help="open a contact and change it")
    edit.add_argument("name", metavar="NAME")
    edit.add_argument("changes", metavar="FIELD=VALUE", nargs="*")
    options = parser.parse_args(arguments)
    if options.command == "edit":
        try:
            options.changes = [parse_change(change) for change in options.changes]
        except ValueError as error:
            edit.error(str(error))
    return options


def main() -> int:
    # Read here too, so that a mistake is reported to the one who made it.
    options = parse_arguments(sys.argv[1:])
    path = Path(GLib.get_user_data_dir(), "contacts", "contacts.json")
    if options.command not in ("list", "show"):
        return Contacts(path).run(sys.argv)
    book = AddressBook(path)
    if options.command == "list":
        for contact in book.contacts:
            print(contact["name"])
        return 0
    contact = book.find("name", options.name)
    if contact is None:
        print(f"contacts.py: there is no contact “{options.name}”", file=sys.stderr)
        return 1
    for field, kind in FIELDS.items():
        print(field, kind.signature, text_of(field, contact[field]), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
