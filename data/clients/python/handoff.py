# SPDX-License-Identifier: LGPL-2.1-or-later
"""Handoff for applications in Python, on PyGObject. Copy this file beside your own.

    notes = handoff.HandoffApplication("org.example.Notes", ["org.example.notes.edit"])
    notes.on_continue = lambda activity, device: show(activity.user_info["text"])
    notes.start()

    editing = handoff.UserActivity("org.example.notes.edit", title="Shopping")
    editing.on_will_save = lambda activity: activity.user_info.update(text=current_text())
    editing.become_current()
    editing.needs_save = True    # whenever the note has changed

Nothing here waits. Brokers may come and go; without one, everything is accepted and does nothing. All of it belongs to
the thread that runs GLib's default main context.

What is refused, and what your functions raise, goes to the log "handoff", which Python prints on standard error, unless there
is an `on_failure`. The end of the session bus does not end the application.

Before GLib 2.84, PyGObject keeps every call that has come, also a refused one, with its arguments: at least 2 KB each, for as
long as the application runs. From 2.84 on it does not.
"""

# This file is long because it is to be copied as one file.

from __future__ import annotations

import copy
import datetime
import logging
import os
import socket
import stat
import struct
from collections.abc import Callable
from typing import Any

from gi.repository import Gio, GLib

BROKER = "org.example.Handoff"
ROOT = "/org/example/Handoff"
BROWSING_WEB = f"{BROKER}.BrowsingWeb"
ERROR = f"{BROKER}.Error."
DBUS_ERROR = "org.freedesktop.DBus.Error."
LOG = logging.getLogger("handoff")
# The bytes that the state of an activity may take, and how deep it may nest: by the rule, and by that of the bus, which cuts off
# who sends more.
MAXIMUM_SIZE, MAXIMUM_DEPTH, MAXIMUM_LEVELS = 131_072, 32, 58
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)
INTERFACES = """<node>
  <interface name="org.example.Handoff.Application">
    <method name="WillContinueActivity">
      <arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/></method>
    <method name="ContinueActivity">
      <arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/></method>
    <method name="DidFailToContinueActivity">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/></method>
  </interface>
  <interface name="org.example.Handoff.ActivityDelegate">
    <method name="WillSave"><arg type="o" direction="in"/><arg type="a{sv}" direction="out"/></method>
    <method name="WasContinued"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/></method>
    <method name="DidReceiveStream"><arg type="o" direction="in"/><arg type="h" direction="in"/></method>
  </interface>
</node>"""


class HandoffError(Exception):
    """A refusal: `name` is the D-Bus name of the error, and the text says what was wrong and what to do."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name

    @classmethod
    def of(cls, error: GLib.Error) -> HandoffError:
        """What a call has ended with. A broker that ends takes its answers along."""
        name = Gio.DBusError.get_remote_error(error)
        if not name:
            return cls(f"{ERROR}ConnectionUnavailable", f"The session bus can't be reached: {error.message}")
        if name in (f"{DBUS_ERROR}NoReply", f"{DBUS_ERROR}ServiceUnknown", f"{DBUS_ERROR}NameHasNoOwner"):
            return broker_ended()
        return cls(name, error.message.removeprefix(f"GDBus.Error:{name}: "))


def broker_ended() -> HandoffError:
    return HandoffError(f"{ERROR}ConnectionUnavailable", "The broker of Handoff has ended. Continue the activity again.")


class URL(str):
    """A URL in `user_info`. One of the scheme file that points into a shared folder is translated for the other device."""


class Device:
    """The other device of a continuation. `name` was chosen by its user: it is plain text."""

    def __init__(self, context: dict[str, GLib.Variant]) -> None:
        self.id = text(context, "DeviceId")
        self.name = text(context, "DeviceName")


# Values

def to_variant(value: Any) -> GLib.Variant:
    """A value of `user_info` as it travels. For an exact D-Bus type, give a GLib.Variant."""
    if isinstance(value, GLib.Variant):
        return value
    if value is None:
        return tagged("null", GLib.Variant("b", False))
    if isinstance(value, bool):
        return GLib.Variant("b", value)
    if isinstance(value, int):
        return GLib.Variant("x" if value < 1 << 63 else "t", value)
    if isinstance(value, float):
        return GLib.Variant("d", value)
    if isinstance(value, URL):
        return tagged("url", GLib.Variant("s", value))
    if isinstance(value, str):
        return GLib.Variant("s", value)
    if isinstance(value, (bytes, bytearray)):
        return GLib.Variant("ay", bytes(value))
    if isinstance(value, datetime.datetime):
        return tagged("date", GLib.Variant("x", (value.astimezone(datetime.timezone.utc) - EPOCH) // MICROSECOND))
    if isinstance(value, (set, frozenset)):
        return tagged("set", GLib.Variant("av", [to_variant(one) for one in value]))
    if isinstance(value, (list, tuple)):
        return GLib.Variant("av", [to_variant(one) for one in value])
    if isinstance(value, dict):
        return GLib.Variant("a{sv}", {key: to_variant(one) for key, one in value.items()})
    raise TypeError(f"user_info can't hold {value!r}; see org.example.Handoff.Activity")


def tagged(tag: str, value: GLib.Variant) -> GLib.Variant:
    return GLib.Variant("(sv)", (tag, value))


def from_variant(variant: GLib.Variant) -> Any:
    """A value that has come, as Python has it."""
    signature = variant.get_type_string()
    if signature == "v":
        return from_variant(variant.get_variant())
    if signature == "(sv)":
        return from_tagged(variant.get_child_value(0).get_string(), variant.get_child_value(1).get_variant())
    if signature == "ay":
        return bytes(variant.get_data_as_bytes().get_data() or b"")
    if signature.startswith("a{s"):
        return {key: from_variant(value) for key, value in entries(variant).items()}
    if signature.startswith("a"):
        return [from_variant(variant.get_child_value(place)) for place in range(variant.n_children())]
    return variant.unpack()


def from_tagged(tag: str, content: GLib.Variant) -> Any:
    value, kind = from_variant(content), (tag, content.get_type_string())
    if kind == ("date", "x"):
        try:
            return EPOCH + value * MICROSECOND
        except OverflowError:
            # Beyond what Python can say, and legal nevertheless.
            nearest = datetime.datetime.max if value > 0 else datetime.datetime.min
            return nearest.replace(tzinfo=datetime.timezone.utc)
    if kind == ("set", "av"):
        # Not all that a set of Handoff holds can be in one of Python.
        try:
            return set(value)
        except TypeError:
            return value
    if kind == ("url", "s"):
        return URL(value)
    # A tag that says something else than its value is no more than a text beside that.
    return None if kind == ("null", "b") else (tag, value)


def refusal_of(user_info: GLib.Variant) -> HandoffError | None:
    """Why the broker, or the bus, would refuse this state, in the broker's words; None if neither does."""
    if user_info.get_size() > MAXIMUM_SIZE // 8:
        message = Gio.DBusMessage.new_signal("/", "a.b", "C")
        message.set_body(GLib.Variant.new_tuple(user_info))
        if (reason := reason_in(user_info)) is None:
            order = "<" if message.get_byte_order() == Gio.DBusMessageByteOrder.LITTLE_ENDIAN else ">"
            size, = struct.unpack_from(f"{order}I", message.to_blob(Gio.DBusCapabilityFlags.NONE), 4)
            if size > MAXIMUM_SIZE:
                return HandoffError(f"{ERROR}UserInfoTooLarge", f"UserInfo takes {size} bytes, more than the {MAXIMUM_SIZE}"
                                    " allowed. Send less, or the bulk of it through a stream.")
    else:
        reason = reason_in(user_info)
    return reason and HandoffError(f"{DBUS_ERROR}InvalidArgs", reason)


def reason_in(user_info: GLib.Variant) -> str | None:
    for key, value in entries(user_info).items():
        if reason := reason_against(value, 2, 0):
            return f'UserInfo key "{key}" {reason}'
    return None


def reason_against(value: GLib.Variant, containers: int, levels: int) -> str | None:
    """Why a value that lies so deep is refused, in containers as the rule counts them, and in levels as a bus does."""
    signature = value.get_type_string()
    if signature in ("o", "g", "h"):
        return f"holds a value of type {signature}, which means nothing on another device. Use a string."
    if len(signature) == 1 and signature != "v":
        return None
    containers, levels = containers + 1, levels + (2 if signature.startswith("a{") else 1)
    if containers > MAXIMUM_DEPTH or levels > MAXIMUM_LEVELS:
        return f"nests more than {MAXIMUM_DEPTH} containers. Flatten it."
    if signature == "v":
        return reason_against(value.get_variant(), containers, levels)
    if any(code in signature for code in "ogh"):
        return f"holds values of type {signature}, which mean nothing on another device. Use strings."
    if signature.startswith("(") and signature != "(sv)":
        return f"holds a structure of type {signature}. Use a dictionary; only (sv) with a known tag is allowed."
    if signature.startswith("a{") and signature[2] != "s":
        return f"holds a dictionary of type {signature}, whose keys are not strings. Use string keys."
    if signature.startswith("a") and len(signature) == 2 and signature != "av":
        return None
    for place in range(value.n_children()):
        child = value.get_child_value(place)
        child = child.get_child_value(1) if signature.startswith("a{") else child
        if reason := reason_against(child, containers, levels):
            return reason
    return None


def entries(dictionary: GLib.Variant) -> dict[str, GLib.Variant]:
    """The entries of a dictionary, whose values keep their types."""
    # One after the other: to look each key up would take longer by the square of how many there are.
    found = {}
    for place in range(dictionary.n_children()):
        entry = dictionary.get_child_value(place)
        value = entry.get_child_value(1)
        found[entry.get_child_value(0).get_string()] = value.get_variant() if value.get_type_string() == "v" else value
    return found


def text(dictionary: dict[str, GLib.Variant], key: str) -> str:
    value = dictionary.get(key)
    return value.unpack() if value is not None and value.get_type_string() in ("s", "o") else ""


class Property:
    """A property of an activity: plain assignment sends it, together with whatever else is assigned in this turn."""

    _kinds = {"s": (str, "text"), "b": (bool, "true or false"), "x": (int, "a whole number"),
              "as": ((list, tuple, set, frozenset), "a list of texts")}

    def __init__(self, name: str, signature: str, default: Any) -> None:
        self._name, self._signature, self._default = name, signature, default

    def __set_name__(self, _owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, activity: UserActivity | None, _owner: type) -> Any:
        value = activity._properties.get(self._name) if activity else None
        # A list is the caller's: what is done to it must not become the default of all activities.
        return value.unpack() if value is not None else copy.copy(self._default)

    def __set__(self, activity: UserActivity, value: Any) -> None:
        kind, what = self._kinds[self._signature]
        if not isinstance(value, kind) or self._signature == "as" and not all(isinstance(one, str) for one in value):
            raise TypeError(f"{self._attribute} is {what}, not {value!r}")
        activity._set(self._name, GLib.Variant(self._signature, list(value) if self._signature == "as" else value))


class Named:
    """What has the names that it is made with, and no others: a misspelt one would do nothing."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Classes that authors derive have names of their own.
        if (type(self).__module__ == __name__ and "_is_made" in self.__dict__ and name not in self.__dict__
                and not hasattr(type(self), name)):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        super().__setattr__(name, value)


class UserActivity(Named):
    """What the user is doing, which can be continued on another device while it is current.

    The functions that it calls are None until they are set:

    - on_will_save(activity): the state is needed. `user_info` is empty; what is put there is the whole new state. If
      nothing is, or this raises, the former stays. It has two seconds.
    - on_was_continued(activity, device): it is continued there, and otherwise left as it is: resign or invalidate it, if that
      fits.
    - on_stream(activity, stream): the continuing application has opened a stream, a socket.
    - on_failure(activity, error): the broker has refused something; what was set has its former value again.
    """

    title = Property("Title", "s", "")
    webpage_url = Property("WebpageURL", "s", "")
    document_url = Property("DocumentURL", "s", "")
    referrer_url = Property("ReferrerURL", "s", "")
    target_content_identifier = Property("TargetContentIdentifier", "s", "")
    persistent_identifier = Property("PersistentIdentifier", "s", "")
    keywords = Property("Keywords", "as", [])
    required_user_info_keys = Property("RequiredUserInfoKeys", "as", [])
    # Microseconds since the Unix epoch, 0 for never.
    expiration_date = Property("ExpirationDate", "x", 0)
    is_eligible_for_handoff = Property("EligibleForHandoff", "b", True)
    is_eligible_for_search = Property("EligibleForSearch", "b", False)
    supports_continuation_streams = Property("SupportsContinuationStreams", "b", False)
    # Set it to true whenever the user has changed something. A save clears it.
    needs_save = Property("NeedsSave", "b", False)

    def __init__(self, activity_type: str = "", title: str = "", application: HandoffApplication | None = None) -> None:
        self.activity_type = activity_type
        self.is_current = False
        self.is_valid = True
        # Where it comes from, and the token to raise a window with; only for what was continued here.
        self.origin: Device | None = None
        self.activation_token = ""
        self.on_will_save: Callable[[UserActivity], None] | None = None
        self.on_was_continued: Callable[[UserActivity, Device], None] | None = None
        self.on_stream: Callable[[UserActivity, socket.socket], None] | None = None
        self.on_failure: Callable[[UserActivity, HandoffError], None] | None = None
        self._application = application or HandoffApplication.shared
        if self._application is None:
            raise RuntimeError("Make a HandoffApplication before its activities.")
        self._continuation = ""
        # Whether it is open while it is not current; with the next broker too.
        self._is_open = False
        self._is_saving = False
        self._properties: dict[str, GLib.Variant] = {}
        self._user_info: dict[str, Any] = {}
        # What the state was when it was read last, since it may be changed in place.
        self._read: GLib.Variant | None = None
        self._forget_broker()
        if title:
            self.title = title
        self._is_made = True

    def _forget_broker(self) -> None:
        self._path = ""
        self._is_creating = self._is_updating = self._is_refused = False
        # What the broker has, what it is to be sent, and what it has refused together and is to be sent alone.
        self._confirmed: dict[str, GLib.Variant] = {}
        self._changed: set[str] = set()
        self._alone: list[str] = []
        self._ending = 0

    @property
    def user_info(self) -> dict[str, Any]:
        """The state that the continuing application needs. Assign it, or change it as soon as you have read it."""
        if self._read is None and not self._is_saving:
            self._read = to_variant(self._user_info)
            self._application._flush_soon()
        return self._user_info

    @user_info.setter
    def user_info(self, value: dict[str, Any]) -> None:
        variant = to_variant(value)
        self._read = None
        if not self._is_refused_state(variant):
            self._set("UserInfo", variant)
            self._user_info = value

    def _is_refused_state(self, variant: GLib.Variant) -> bool:
        """Whether this can't be the state. Who has set it is told, after that."""
        error = refusal_of(variant)
        if error is None:
            return False
        if self._is_saving:
            raise error
        GLib.idle_add(lambda: self._fail(error) and False)
        return True

    def _notice(self) -> None:
        """Looks whether the state that was read was changed in place."""
        before, self._read = self._read, None
        if before is None:
            return
        try:
            now = to_variant(self._user_info)
        except (TypeError, OverflowError) as error:
            now, failure = None, HandoffError(f"{DBUS_ERROR}InvalidArgs", str(error))
            GLib.idle_add(lambda: self._fail(failure) and False)
        if now is not None and now.equal(before):
            return
        if now is None or self._is_refused_state(now):
            former = self._properties.get("UserInfo")
            self._user_info = from_variant(former) if former is not None else {}
        else:
            self._set("UserInfo", now)

    def add_user_info_entries(self, other: dict[str, Any]) -> None:
        """Adds entries, which take the place of those with the same keys."""
        self._notice()
        value = self._properties.get("UserInfo")
        # What has come and is not replaced keeps its exact types.
        variant = to_variant((entries(value) if value else {}) | other)
        if not self._is_refused_state(variant):
            self._set("UserInfo", variant)
            self._user_info = self._user_info | other

    def become_current(self) -> None:
        """Makes this the session's current activity, which can be continued elsewhere."""
        if self._check_valid():
            self._application._become_current(self)

    def become_open(self) -> None:
        """It is open from now on, with the next broker too, without becoming current: whoever looks from another device at
        what is open here finds it. `resign_current` or `invalidate` closes it."""
        if self._check_valid():
            self._application._become_open(self)

    def leave_current(self) -> None:
        """It is no longer current, as when another one becomes current, and stays open."""
        if self._check_valid():
            self._application._end_current(self, "LeaveCurrent")

    def resign_current(self) -> None:
        """It is no longer current, and closed until it becomes current or open again."""
        if self._check_valid():
            self._is_open = False
            self._application._end_current(self, "ResignCurrent")

    def invalidate(self) -> None:
        """Ends it everywhere; for what was continued here, its streams too. It can't be revived."""
        if self.is_valid:
            self.is_valid = self.is_current = False
            self._application._invalidate(self)

    def continuation_stream(self, done: Callable[[socket.socket | None, HandoffError | None], None]) -> None:
        """Opens a stream to the application that this was continued from, and calls `done` with it, or with an error.

        The socket is yours: `shutdown(SHUT_WR)` ends your direction, `detach()` takes the descriptor.
        """
        if self._continuation and self._application._connection:
            return self._application._open_stream(self._continuation, done)
        error = HandoffError(f"{ERROR}StreamsNotSupported", "Streams are opened by who has continued an activity that"
                             " supports them, as long as its broker lives.")
        GLib.idle_add(lambda: done(None, error) and False)

    def _check_valid(self) -> bool:
        if not self.is_valid:
            self._tell(HandoffError(f"{DBUS_ERROR}UnknownObject", "This activity has ended. Make a new one."))
        return self.is_valid

    def _tell(self, error: HandoffError) -> None:
        if self.on_failure:
            self.on_failure(self, error)
        else:
            LOG.warning("The activity “%s”: %s", self.activity_type, error)

    def _fail(self, error: HandoffError) -> None:
        """The broker has refused something. Once the activity has ended, that matters to nobody."""
        if self.is_valid:
            self._tell(error)

    def _set(self, name: str, value: GLib.Variant) -> None:
        former = self._properties.get(name)
        if former is None or not former.equal(value):
            self._properties[name] = value
            self._changed.add(name)
            if name in self._alone:
                self._alone.remove(name)
            self._application._flush_soon()

    def _note(self, name: str, value: GLib.Variant | None) -> None:
        """A property has this value, as the broker knows."""
        if value is None:
            self._properties.pop(name, None)
            self._confirmed.pop(name, None)
        else:
            self._properties[name] = self._confirmed[name] = value
        if name == "UserInfo":
            self._user_info, self._read = from_variant(value) if value is not None else {}, None

    def _flush(self) -> None:
        """Sends what has changed: one message at a time, and after a refusal one property at a time."""
        if not self.is_valid:
            return
        self._notice()
        if not self._path:
            return self._application._create(self)
        if self._is_updating or not (self._alone or self._changed):
            return
        names = {self._alone.pop(0)} if self._alone else self._changed
        self._changed = self._changed - names
        sent = {name: self._properties[name] for name in names if name in self._properties}
        self._is_updating = True
        self._application._call(self._path, "Activity", "Update", GLib.Variant("(a{sv})", (sent,)),
                                lambda _reply, error: self._updated(sent, error))

    def _updated(self, sent: dict[str, GLib.Variant], error: HandoffError | None) -> None:
        self._is_updating = False
        if error is None:
            self._confirmed |= sent
        elif len(sent) > 1:
            # All or none was taken: one bad property must not cost the others.
            self._alone += sorted(set(sent) - self._changed)
        else:
            for name in set(sent) - self._changed:
                self._note(name, self._confirmed.get(name))
            self._fail(error)
        self._flush()

    def _save(self) -> dict[str, GLib.Variant]:
        """What `on_will_save` has changed."""
        self._notice()
        former, before = self._user_info, self._properties.get("UserInfo")
        self._user_info, self._is_saving = {}, True
        self._set("NeedsSave", GLib.Variant("b", False))
        self._changed.discard("NeedsSave")
        try:
            if self.on_will_save:
                self.on_will_save(self)
            if self._user_info:
                variant = to_variant(self._user_info)
                if error := refusal_of(variant):
                    raise error
                self._set("UserInfo", variant)
        except BaseException:
            if before is None:
                self._properties.pop("UserInfo", None)
                self._changed.discard("UserInfo")
            else:
                self._properties["UserInfo"] = before
            self._user_info = former
            raise
        finally:
            self._is_saving = False
        if self._properties.get("UserInfo") is before:
            # Nothing new, so the former state stays.
            self._user_info = former
        changes = {name: self._properties[name] for name in self._changed if name in self._properties}
        self._changed = set()
        self._confirmed |= changes
        return changes


class HandoffApplication(Named):
    """This application, as Handoff knows it, which has to be kept. A process may have several, each with an id of its own.

    The functions that it calls are None until they are set, which is to be done before `start()`:

    - on_continue(activity, device) -> bool: continue this; whether it was handled. What it raises is shown to the user.
    - on_will_continue(activity_type, device) -> bool: something is coming; whether the application shows that.
    - on_failure(activity_type, error): what was coming does not come.
    """

    shared: HandoffApplication | None = None
    # Those that have started, by id.
    _started: dict[str, HandoffApplication] = {}

    def __init__(self, application_id: str, activity_types: list[str] | None = None, team: str | None = None,
                 document_types: dict[str, str] | None = None, domains: list[str] | None = None) -> None:
        """The id is the name of the desktop entry without .desktop, and what that declares counts too."""
        self.id = application_id
        self.on_continue: Callable[[UserActivity, Device], bool] | None = None
        self.on_will_continue: Callable[[str, Device], bool] | None = None
        self.on_failure: Callable[[str, HandoffError], None] | None = None
        # Why the broker has refused the application.
        self.registration_error: HandoffError | None = None
        self._types = activity_types or []
        self._options = {name: variant for name, variant, is_given in (
            ("Team", GLib.Variant("s", team or ""), team),
            ("DocumentTypes", GLib.Variant("a{ss}", document_types or {}), document_types),
            ("Domains", GLib.Variant("as", domains or []), domains)) if is_given}
        self._has_started = self._is_flushing = False
        self._connection: Gio.DBusConnection | None = None
        self._objects: list[int] = []
        self._signals: list[int] = []
        self._watch = 0
        # The broker's unique name, and what ends with it.
        self._owner = ""
        self._registered = False
        self._cancellable = Gio.Cancellable()
        self._activities: list[UserActivity] = []
        # The one that is current or is to be, and whether the broker has yet to hear that.
        self._current: UserActivity | None = None
        self._becoming: UserActivity | None = None
        # What was announced and has not come, by continuation.
        self._announced: dict[str, str] = {}
        HandoffApplication.shared = self
        self._is_made = True

    @property
    def is_available(self) -> bool:
        """Whether there is a broker, and it knows the application."""
        return self._registered

    def start(self) -> None:
        """Registers from now on, again with each new broker.

        Raises RuntimeError if another application of this process has this id and has not stopped.
        """
        if self._has_started:
            return
        started = HandoffApplication._started
        if self.id in started:
            raise RuntimeError(f"There is another HandoffApplication “{self.id}” in this process. Use that one, or stop it.")
        self._has_started = True
        # A connection has one registration.
        if not started:
            Gio.bus_get(Gio.BusType.SESSION, None, self._connected)
        else:
            try:
                address = Gio.dbus_address_get_for_bus_sync(Gio.BusType.SESSION)
                flags = Gio.DBusConnectionFlags
                Gio.DBusConnection.new_for_address(
                    address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None, self._connected)
            except GLib.Error:
                # No session bus, so no Handoff, which is no error.
                pass
        started[self.id] = self

    def stop(self) -> None:
        """Takes the registration and all activities back."""
        if self._connection is not None and self._owner:
            # Also if the registration was not answered yet: calls of one connection take effect in their order. The
            # connection is kept until this is answered: it may be nobody else's.
            connection = self._connection
            connection.call(self._owner, ROOT, f"{BROKER}.Manager", "UnregisterApplication", None, None,
                            Gio.DBusCallFlags.NO_AUTO_START, -1, None, lambda *_answer: connection)
        self._has_started = False
        if HandoffApplication._started.get(self.id) is self:
            del HandoffApplication._started[self.id]
        if self._connection is not None:
            Gio.bus_unwatch_name(self._watch)
            for number in self._signals:
                self._connection.signal_unsubscribe(number)
            for number in self._objects:
                self._connection.unregister_object(number)
        self._connection, self._objects, self._signals = None, [], []
        self._end_broker()
        self._owner = ""
        self._activities, self._current, self._becoming = [], None, None

    def _connected(self, source: object, result: Gio.AsyncResult) -> None:
        try:
            own = isinstance(source, Gio.DBusConnection)
            connection = Gio.DBusConnection.new_for_address_finish(result) if own else Gio.bus_get_finish(result)
        except GLib.Error:
            # No session bus, so no Handoff, which is no error.
            return
        if not self._has_started or self._connection is not None:
            return
        # GLib would end the process together with the bus.
        connection.set_exit_on_close(False)
        self._connection = connection
        # The older function has PyGObject keep each call forever.
        register = getattr(connection, "register_object_with_closures2", connection.register_object)
        self._objects = [register(f"{ROOT}/client", interface, self._called, None, None)
                         for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces]
        self._signals = [
            connection.signal_subscribe(None, "org.freedesktop.DBus.Properties", "PropertiesChanged", None,
                                        f"{BROKER}.Activity", Gio.DBusSignalFlags.NONE, self._properties_changed),
            connection.signal_subscribe(None, f"{BROKER}.Manager", "RegistrationEnded", None, None,
                                        Gio.DBusSignalFlags.NONE, self._registration_ended)]
        self._watch = Gio.bus_watch_name_on_connection(
            connection, BROKER, Gio.BusNameWatcherFlags.AUTO_START, self._appeared, self._vanished)

    # Brokers

    def _appeared(self, _connection: Gio.DBusConnection, _name: str, owner: str) -> None:
        self._owner = owner
        self._cancellable = Gio.Cancellable()
        self._call(ROOT, "Manager", "RegisterApplication",
                   GLib.Variant("(sasoa{sv})", (self.id, self._types, f"{ROOT}/client", self._options)), self._answered)

    def _vanished(self, _connection: Gio.DBusConnection, _name: str) -> None:
        self._end_broker()
        self._owner = ""

    def _answered(self, _reply: GLib.Variant | None, error: HandoffError | None) -> None:
        self.registration_error = error
        self._registered = error is None
        if error is not None:
            LOG.warning("The application %s is refused: %s", self.id, error)
        self._flush()

    def _registration_ended(self, connection: Gio.DBusConnection, sender: str, *_signal: object) -> None:
        if sender == self._owner and self._registered:
            self._end_broker()
            self._appeared(connection, BROKER, sender)

    def _end_broker(self) -> None:
        """What the broker had of this application is worth nothing from now on."""
        self._cancellable.cancel()
        self._registered = False
        self._becoming = None
        for activity in self._activities:
            activity.is_current = False
            activity._forget_broker()
        announced, self._announced = self._announced, {}
        for activity_type in announced.values():
            self._failed(activity_type, broker_ended())

    def _failed(self, activity_type: str, error: HandoffError) -> None:
        if self.on_failure:
            self.on_failure(activity_type, error)
        else:
            LOG.warning("What was coming to %s, of type %s, does not come: %s", self.id, activity_type, error)

    # Activities

    def _flush_soon(self) -> None:
        def flush() -> bool:
            self._is_flushing = False
            self._flush()
            return GLib.SOURCE_REMOVE

        if not self._is_flushing:
            self._is_flushing = True
            GLib.idle_add(flush)

    def _flush(self) -> None:
        for activity in list(self._activities) if self._registered else []:
            activity._flush()

    def _keep_open(self, activity: UserActivity) -> None:
        # The last one is the one that was used last, for the next broker too.
        if activity in self._activities:
            self._activities.remove(activity)
        self._activities.append(activity)
        activity._is_refused, activity._is_open = False, True
        if self._registered:
            activity._flush()

    def _become_current(self, activity: UserActivity) -> None:
        self._current = self._becoming = activity
        self._keep_open(activity)
        self._say_current(activity)

    def _become_open(self, activity: UserActivity) -> None:
        self._keep_open(activity)
        self._say_open(activity)

    def _say_open(self, activity: UserActivity) -> None:
        def answered(_reply: GLib.Variant | None, error: HandoffError | None) -> None:
            if error is not None:
                activity._is_open = False
                activity._fail(error)

        if activity._path:
            self._call(activity._path, "Activity", "BecomeOpen", None, answered)

    def _say_current(self, activity: UserActivity) -> None:
        if not activity._path:
            return
        self._becoming = activity

        def answered(_reply: GLib.Variant | None, error: HandoffError | None) -> None:
            if self._becoming is activity:
                self._becoming = None
            if error is not None:
                self._current = None if self._current is activity else self._current
                activity._is_open = False
                activity._fail(error)

        self._call(activity._path, "Activity", "BecomeCurrent", None, answered)

    def _end_current(self, activity: UserActivity, method: str) -> None:
        self._current = None if self._current is activity else self._current
        self._becoming = None if self._becoming is activity else self._becoming
        if not activity._path:
            return
        activity._ending += 1

        def answered(_reply: GLib.Variant | None, error: HandoffError | None) -> None:
            activity._ending -= 1
            if error is not None:
                activity._fail(error)

        activity._flush()
        self._call(activity._path, "Activity", method, None, answered)

    def _invalidate(self, activity: UserActivity) -> None:
        if activity in self._activities:
            self._activities.remove(activity)
        self._current = None if self._current is activity else self._current
        self._becoming = None if self._becoming is activity else self._becoming
        if activity._path:
            self._call(activity._path, "Activity", "Invalidate")
        if activity._continuation:
            self._call(activity._continuation, "Continuation", "Release")
        activity._path = activity._continuation = ""

    def _create(self, activity: UserActivity) -> None:
        if not activity.is_valid or activity._is_creating or activity._is_refused and not activity._changed:
            return
        activity._is_creating, activity._is_refused, activity._changed = True, False, set()
        sent = dict(activity._properties)

        def created(reply: GLib.Variant | None, error: HandoffError | None) -> None:
            activity._is_creating = False
            if error is not None:
                activity._is_refused = True
                self._becoming = None if self._becoming is activity else self._becoming
                activity._fail(error)
                return self._flush()
            (path,) = reply.unpack()
            if not activity.is_valid:
                return self._call(path, "Activity", "Invalidate")
            activity._path, activity._confirmed = path, sent
            if not activity.activity_type:
                self._ask_type(activity)
            activity._flush()
            # Only what was current, or was to be: another application may have what is now.
            if self._current is activity:
                self._say_current(activity)
            elif activity._is_open:
                self._say_open(activity)

        self._call(ROOT, "Manager", "CreateActivity", GLib.Variant("(sa{sv})", (activity.activity_type, sent)), created)

    def _ask_type(self, activity: UserActivity) -> None:
        """The broker has chosen the type of an activity that was made without one."""
        def answered(reply: GLib.Variant | None, error: HandoffError | None) -> None:
            if error is None:
                activity.activity_type = reply.unpack()[0]

        self._call(activity._path, "", "Get", GLib.Variant("(ss)", (f"{BROKER}.Activity", "ActivityType")), answered)

    def _find(self, path: str) -> UserActivity | None:
        return next((activity for activity in self._activities if activity._path == path), None)

    def _properties_changed(self, _connection: Gio.DBusConnection, sender: str, path: str, _interface: str, _signal: str,
                            arguments: GLib.Variant) -> None:
        activity = self._find(path)
        if sender != self._owner or activity is None or arguments.get_type_string() != "(sa{sv}as)":
            return
        changed = arguments.unpack()[1]
        if isinstance(changed.get("Current"), bool):
            activity.is_current = changed["Current"]
            # What the broker said before it heard of the latest wish is older than that.
            if self._becoming is None and not activity._ending:
                if activity.is_current:
                    self._current = activity
                elif self._current is activity:
                    self._current = None
        if isinstance(changed.get("NeedsSave"), bool) and "NeedsSave" not in activity._changed and not activity._is_updating:
            activity._note("NeedsSave", GLib.Variant("b", changed["NeedsSave"]))

    # Calls to the broker

    def _call(self, path: str, interface: str, method: str, arguments: GLib.Variant | None = None,
              then: Callable[[GLib.Variant | None, HandoffError | None], None] | None = None) -> None:
        """Calls the broker of the moment. If that ends before it answers, `then` is not called."""
        if self._connection is None or not self._owner:
            return
        cancellable = self._cancellable

        def answered(connection: Gio.DBusConnection, result: Gio.AsyncResult) -> None:
            reply, error = None, None
            try:
                reply = connection.call_finish(result)
            except GLib.Error as failure:
                error = HandoffError.of(failure)
            if then and not cancellable.is_cancelled():
                then(reply, error)

        # Without a limit of time: the wait ends with the broker.
        name = f"{BROKER}.{interface}" if interface else "org.freedesktop.DBus.Properties"
        self._connection.call(self._owner, path, name, method, arguments, None,
                              Gio.DBusCallFlags.NO_AUTO_START, GLib.MAXINT, cancellable, answered)

    def _open_stream(self, path: str, done: Callable[[socket.socket | None, HandoffError | None], None]) -> None:
        def answered(connection: Gio.DBusConnection, result: Gio.AsyncResult) -> None:
            try:
                reply, descriptors = connection.call_with_unix_fd_list_finish(result)
                stream = stream_of(descriptors, reply.get_child_value(0).get_handle())
            except GLib.Error as failure:
                return done(None, HandoffError.of(failure))
            except OSError as failure:
                return done(None, HandoffError(f"{ERROR}ConnectionUnavailable", str(failure)))
            done(stream, None)

        self._connection.call_with_unix_fd_list(
            self._owner or BROKER, path, f"{BROKER}.Continuation", "OpenStream", None, GLib.VariantType("(h)"),
            Gio.DBusCallFlags.NO_AUTO_START, GLib.MAXINT, None, self._cancellable, answered)

    # Calls of the broker

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        answer, refusal = None, None
        try:
            if sender != self._owner:
                raise HandoffError(f"{DBUS_ERROR}AccessDenied", f"Only the owner of {BROKER} may call this.")
            answer = getattr(self, f"_{method}")(arguments, invocation)
        except HandoffError as error:
            refusal = error.name, str(error)
        except Exception as error:  # pylint: disable=broad-except
            # Whatever is wrong in the application, its user is told, and its author where.
            LOG.exception("%s of %s has failed.", method, self.id)
            words = str(error)
            is_bare = not words or isinstance(error, LookupError)
            refusal = f"{ERROR}ApplicationFailed", f"{type(error).__name__}: {words}".rstrip(": ") if is_bare else words
        # Whatever has come along and was not taken would be open for as long as the message is kept.
        for descriptor in taken_from(invocation.get_message().get_unix_fd_list()):
            os.close(descriptor)
        if refusal is None:
            invocation.return_value(answer)
        else:
            invocation.return_dbus_error(*refusal)

    def _WillContinueActivity(self, arguments: GLib.Variant, _invocation: Gio.DBusMethodInvocation) -> GLib.Variant:
        activity_type, context = arguments.get_child_value(0).get_string(), entries(arguments.get_child_value(1))
        self._announced[text(context, "Continuation")] = activity_type
        shows = bool(self.on_will_continue and self.on_will_continue(activity_type, Device(context)))
        return GLib.Variant("(b)", (shows,))

    def _ContinueActivity(self, arguments: GLib.Variant, _invocation: Gio.DBusMethodInvocation) -> GLib.Variant:
        properties, context = entries(arguments.get_child_value(0)), entries(arguments.get_child_value(1))
        self._announced.pop(text(context, "Continuation"), None)
        if self.on_continue is None:
            raise HandoffError(f"{DBUS_ERROR}UnknownMethod", "This application continues nothing.")
        activity = UserActivity(text(properties, "ActivityType"), application=self)
        activity.origin, activity.activation_token = Device(context), text(context, "ActivationToken")
        for name in properties.keys() - {"ActivityType", "ApplicationId"}:
            activity._note(name, properties[name])
        if activity.supports_continuation_streams:
            activity._continuation = text(context, "Continuation")
        return GLib.Variant("(b)", (bool(self.on_continue(activity, activity.origin)),))

    def _DidFailToContinueActivity(self, arguments: GLib.Variant, _invocation: Gio.DBusMethodInvocation) -> None:
        activity_type, name, message = arguments.unpack()
        for path in [path for path, one in self._announced.items() if one == activity_type][:1]:
            del self._announced[path]
        self._failed(activity_type, HandoffError(name, message))

    def _activity(self, arguments: GLib.Variant) -> UserActivity:
        path = arguments.get_child_value(0).get_string()
        activity = self._find(path)
        if activity is None:
            raise HandoffError(f"{DBUS_ERROR}UnknownObject", f"{path} is not an activity of this application, or no longer.")
        return activity

    def _WillSave(self, arguments: GLib.Variant, _invocation: Gio.DBusMethodInvocation) -> GLib.Variant:
        return GLib.Variant("(a{sv})", (self._activity(arguments)._save(),))

    def _WasContinued(self, arguments: GLib.Variant, _invocation: Gio.DBusMethodInvocation) -> None:
        activity = self._activity(arguments)
        if activity.on_was_continued:
            activity.on_was_continued(activity, Device(entries(arguments.get_child_value(1))))

    def _DidReceiveStream(self, arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        activity = self._activity(arguments)
        if activity.on_stream is None:
            raise HandoffError(f"{DBUS_ERROR}UnknownMethod", "This activity takes no streams.")
        descriptors = invocation.get_message().get_unix_fd_list()
        try:
            stream = stream_of(descriptors, arguments.get_child_value(1).get_handle())
        except (OSError, GLib.Error) as error:
            raise HandoffError(f"{DBUS_ERROR}InvalidArgs", str(error)) from error
        activity.on_stream(activity, stream)


def taken_from(descriptors: Gio.UnixFDList | None) -> list[int]:
    """All that has come with a message, and was not taken yet: whoever calls this has to close it."""
    # To take them is the only way to have them closed: what get() returns is a duplicate, and the other one stays open.
    return descriptors.steal_fds() if descriptors is not None else []


def stream_of(descriptors: Gio.UnixFDList | None, index: int) -> socket.socket:
    """The stream socket among what has come with a message."""
    stream = None
    for place, descriptor in enumerate(taken_from(descriptors)):
        if place == index and stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            stream = socket.socket(fileno=descriptor)
        else:
            os.close(descriptor)
    if stream is None or stream.type != socket.SOCK_STREAM:
        if stream is not None:
            stream.close()
        raise OSError("What has come is no stream socket. Send one end of socketpair(AF_UNIX, SOCK_STREAM).")
    return stream
