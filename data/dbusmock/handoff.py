# SPDX-License-Identifier: LGPL-2.1-or-later
"""A template of python-dbusmock: a broker of Handoff for the tests of an application.

    python3 -m dbusmock --session --template data/dbusmock/handoff.py

It takes registrations and activities, refuses what the broker refuses (unknown senders, types that were not declared,
properties of another type, bad URLs, too large a state), and says what becomes current. It reaches no other device: a test
plays what comes from there, with the interface org.example.Handoff.Mock of /org/example/Handoff, whose calls go to the
application that has registered last:

- Save(o activity -> a{sv}): asks for the state, and applies it.
- Continue(s activity_type, a{sv} activity -> b): announces an activity and hands it over.
- Fail(s activity_type, s error_name, s message): announces one that does not come.
- ContinuedElsewhere(o activity): says that it is continued on another device.
- EndRegistration(s reason): forgets the application, and says so.

What it does not know: sandboxes, quotas, devices, streams, and properties set by org.freedesktop.DBus.Properties, which are
taken as they are. The size of a state is that of its texts and bytes.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import dbus
from dbusmock import get_object

BUS_NAME = "org.example.Handoff"
MAIN_OBJ = "/org/example/Handoff"
MAIN_IFACE = "org.example.Handoff.Manager"
ACTIVITY = "org.example.Handoff.Activity"
MOCK = "org.example.Handoff.Mock"
SYSTEM_BUS = False
MAXIMUM_USER_INFO_SIZE = 131072
# The properties that can be written, with their types and defaults.
PROPERTIES = {
    "Title": dbus.String(""), "UserInfo": dbus.Dictionary({}, signature="sv"),
    "RequiredUserInfoKeys": dbus.Array([], signature="s"), "WebpageURL": dbus.String(""), "DocumentURL": dbus.String(""),
    "ReferrerURL": dbus.String(""), "TargetContentIdentifier": dbus.String(""), "PersistentIdentifier": dbus.String(""),
    "Keywords": dbus.Array([], signature="s"), "ExpirationDate": dbus.Int64(0), "EligibleForHandoff": dbus.Boolean(True),
    "EligibleForSearch": dbus.Boolean(False), "SupportsContinuationStreams": dbus.Boolean(False),
    "NeedsSave": dbus.Boolean(False), "Delegate": dbus.ObjectPath("/"),
}
OPTIONS = {"Team": dbus.String(""), "Domains": dbus.Array([], signature="s"),
           "DocumentTypes": dbus.Dictionary({}, signature="ss"), "Receives": dbus.Boolean(True),
           "Adapter": dbus.Boolean(False)}


def load(mock: Any, _parameters: dict[str, Any]) -> None:
    mock.AddProperties(MAIN_IFACE, {"Enabled": dbus.Boolean(True), "Version": dbus.UInt32(1),
                                    "MaximumUserInfoSize": dbus.UInt32(MAXIMUM_USER_INFO_SIZE)})
    # By connection: id, types, object. The last one is who is asked.
    mock.applications = {}
    # The owners of the activities that there are, by path, and the one that is current.
    mock.owners = {}
    mock.current = ""
    mock.number = mock.continuations = 0


def main() -> Any:
    return get_object(MAIN_OBJ)


def error(name: str, message: str) -> dbus.exceptions.DBusException:
    family = "org.freedesktop.DBus.Error" if name in ("InvalidArgs", "AccessDenied", "UnknownObject") else f"{BUS_NAME}.Error"
    return dbus.exceptions.DBusException(message, name=f"{family}.{name}")


def check_types(values: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Those of the values that are known, all of which have to be of their types."""
    for key, value in values.items():
        if key in known and (type(value) is not type(known[key])
                             or getattr(value, "signature", None) != getattr(known[key], "signature", None)):
            raise error("InvalidArgs", f"{key} is of another type. See the documentation of the interface.")
    return {key: value for key, value in values.items() if key in known}


def size(value: Any) -> int:
    """About how many bytes a value takes."""
    if isinstance(value, dict):
        return sum(size(key) + size(one) for key, one in value.items())
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, (list, tuple)):
        return sum(map(size, value))
    return 1


def check_properties(values: dict[str, Any]) -> dict[str, Any]:
    """The properties of an activity among these, all of which have to be legal."""
    values = check_types(values, PROPERTIES)
    for key, schemes in (("WebpageURL", ("http", "https")), ("ReferrerURL", ("http", "https")), ("DocumentURL", ("file",))):
        url = values.get(key, "")
        if url and not is_absolute(url, schemes):
            raise error("InvalidURL", f"{key} is “{url}”, and not an absolute URL with the scheme {' or '.join(schemes)}.")
    check_size(values.get("UserInfo", {}))
    return values


def is_absolute(url: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        # Its host is none.
        return False
    return parts.scheme in schemes and bool(parts.netloc or parts.scheme == "file" and parts.path)


def check_size(state: dict[str, Any]) -> None:
    if size(state) > MAXIMUM_USER_INFO_SIZE:
        raise error("UserInfoTooLarge", f"UserInfo has {size(state)} bytes, and may have {MAXIMUM_USER_INFO_SIZE}.")


def check_registered(sender: str) -> None:
    if sender not in main().applications:
        raise error("NotRegistered", "Call RegisterApplication first.")


def check_exists(path: str) -> None:
    if path not in main().owners:
        raise error("UnknownObject", "The activity has ended. Create a new one.")


def check_owner(activity: Any, sender: str) -> None:
    check_exists(activity.path)
    owner = main().owners[activity.path]
    if owner != sender:
        raise error("AccessDenied", "Only the owner of the activity may do this.")


# Manager

@dbus.service.method(MAIN_IFACE, in_signature="sasoa{sv}", sender_keyword="sender")
def RegisterApplication(self: Any, application_id: str, activity_types: list[str], application: str, options: dict[str, Any],
                        sender: str = "") -> None:
    if "." not in application_id or "/" in application_id or not all(application_id.split(".")):
        raise error("InvalidArgs", f"“{application_id}” is not an id of an application.")
    if not all(activity_types):
        raise error("InvalidArgs", "An activity type is empty.")
    check_types(options, OPTIONS)
    self.applications.pop(sender, None)
    types = [*activity_types, *options.get("DocumentTypes", {}).values()]
    self.applications[sender] = (application_id, types, application)
    # Its activities end with its connection.
    self.connection.watch_name_owner(sender, lambda owner: None if owner else forget(self, sender))


def forget(self: Any, sender: str) -> None:
    self.applications.pop(sender, None)
    for path in [path for path, owner in self.owners.items() if owner == sender]:
        end(self, path)


def end(self: Any, path: str) -> None:
    self.owners.pop(path, None)
    self.current = "" if self.current == path else self.current


@dbus.service.method(MAIN_IFACE, sender_keyword="sender")
def UnregisterApplication(self: Any, sender: str = "") -> None:
    check_registered(sender)
    forget(self, sender)


@dbus.service.method(MAIN_IFACE, in_signature="sa{sv}", out_signature="o", sender_keyword="sender")
def CreateActivity(self: Any, activity_type: str, properties: dict[str, Any], sender: str = "") -> str:
    check_registered(sender)
    application_id, types, _application = self.applications[sender]
    if activity_type not in types and (activity_type or not types):
        raise error("TypeNotDeclared", f"“{activity_type}” is not declared; declared are {', '.join(types)}.")
    properties = check_properties(properties)
    self.number += 1
    path = f"{MAIN_OBJ}/activities/{self.number:032x}"
    self.AddObject(path, ACTIVITY, {
        **PROPERTIES, **properties, "ActivityType": dbus.String(activity_type or types[0]),
        "ApplicationId": dbus.String(application_id), "Current": dbus.Boolean(False)}, [])
    self.owners[path] = sender
    return dbus.ObjectPath(path)


# Activity

@dbus.service.method(ACTIVITY, sender_keyword="sender")
def BecomeCurrent(self: Any, sender: str = "") -> None:
    check_owner(self, sender)
    former, main().current = main().current, self.path
    if former != self.path:
        if former:
            change(get_object(former), Current=dbus.Boolean(False))
        change(self, Current=dbus.Boolean(True))


@dbus.service.method(ACTIVITY, sender_keyword="sender")
def ResignCurrent(self: Any, sender: str = "") -> None:
    check_owner(self, sender)
    if main().current == self.path:
        main().current = ""
        change(self, Current=dbus.Boolean(False))


@dbus.service.method(ACTIVITY, sender_keyword="sender")
def LeaveCurrent(self: Any, sender: str = "") -> None:
    check_owner(self, sender)
    if main().current == self.path:
        main().current = ""
        change(self, Current=dbus.Boolean(False))


@dbus.service.method(ACTIVITY, sender_keyword="sender")
def BecomeOpen(self: Any, sender: str = "") -> None:
    check_owner(self, sender)


@dbus.service.method(ACTIVITY, sender_keyword="sender")
def Invalidate(self: Any, sender: str = "") -> None:
    check_owner(self, sender)
    end(main(), self.path)


@dbus.service.method(ACTIVITY, in_signature="a{sv}", sender_keyword="sender")
def Update(self: Any, properties: dict[str, Any], sender: str = "") -> None:
    check_owner(self, sender)
    self.props[ACTIVITY].update(check_properties(properties))


@dbus.service.method(ACTIVITY, in_signature="a{sv}", sender_keyword="sender")
def AddUserInfoEntries(self: Any, entries: dict[str, Any], sender: str = "") -> None:
    check_owner(self, sender)
    state = dbus.Dictionary({**self.props[ACTIVITY]["UserInfo"], **entries}, signature="sv")
    check_size(state)
    self.props[ACTIVITY]["UserInfo"] = state


def change(activity: Any, **values: Any) -> None:
    """Says to the owner that properties have changed."""
    activity.props[ACTIVITY].update(values)
    activity.EmitSignalDetailed("org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as", (
        ACTIVITY, dbus.Dictionary(values, signature="sv"), dbus.Array([], signature="s")),
        {"destination": main().owners[activity.path]})


# What a test plays

def last_registered() -> tuple[str, tuple[str, list[str], str]]:
    if not main().applications:
        raise error("NotRegistered", "No application has registered.")
    return list(main().applications.items())[-1]


def call(interface: str, method: str, signature: str, values: tuple[Any, ...], done: Callable[..., None],
         failed: Callable[..., None]) -> None:
    """Calls the application that has registered last."""
    sender, (_id, _types, path) = last_registered()
    main().connection.call_async(sender, path, f"{BUS_NAME}.{interface}", method, signature, values, done, failed)


def context(self: Any) -> dict[str, Any]:
    self.continuations += 1
    return dbus.Dictionary({
        "Continuation": dbus.ObjectPath(f"{MAIN_OBJ}/continuations/{self.continuations:032x}"), "DeviceId": dbus.String("d" * 64),
        "DeviceName": dbus.String("another device")}, signature="sv")


@dbus.service.method(MOCK, in_signature="o", out_signature="a{sv}", async_callbacks=("done", "failed"))
def Save(_self: Any, activity: str, done: Callable[..., None], failed: Callable[..., None]) -> None:
    def saved(properties: dict[str, Any]) -> None:
        try:
            # It may have ended while it was asked.
            check_exists(activity)
            checked = check_properties(properties)
        except dbus.exceptions.DBusException as refusal:
            failed(refusal)
            return
        found = get_object(activity)
        found.props[ACTIVITY].update(checked)
        change(found, NeedsSave=dbus.Boolean(False))
        done(properties)

    check_exists(activity)
    call("ActivityDelegate", "WillSave", "o", (activity,), saved, failed)


@dbus.service.method(MOCK, in_signature="sa{sv}", out_signature="b", async_callbacks=("done", "failed"))
def Continue(self: Any, activity_type: str, activity: dict[str, Any], done: Callable[..., None],
             failed: Callable[..., None]) -> None:
    about = context(self)
    handed = dbus.Dictionary({"ApplicationId": dbus.String("org.example.Mock"), **activity,
                              "ActivityType": dbus.String(activity_type)}, signature="sv")
    # What is announced need not be implemented.
    call("Application", "WillContinueActivity", "sa{sv}", (activity_type, about), lambda *_: None, lambda *_: None)
    call("Application", "ContinueActivity", "a{sv}a{sv}", (handed, about), done, failed)


@dbus.service.method(MOCK, in_signature="sss", async_callbacks=("done", "failed"))
def Fail(self: Any, activity_type: str, name: str, message: str, done: Callable[..., None],
         failed: Callable[..., None]) -> None:
    call("Application", "WillContinueActivity", "sa{sv}", (activity_type, context(self)), lambda *_: None, lambda *_: None)
    call("Application", "DidFailToContinueActivity", "sss", (activity_type, name, message), done, failed)


@dbus.service.method(MOCK, in_signature="o", async_callbacks=("done", "failed"))
def ContinuedElsewhere(self: Any, activity: str, done: Callable[..., None], failed: Callable[..., None]) -> None:
    call("ActivityDelegate", "WasContinued", "oa{sv}", (activity, context(self)), done, failed)


@dbus.service.method(MOCK, in_signature="s")
def EndRegistration(self: Any, reason: str) -> None:
    sender, (application_id, _types, _path) = last_registered()
    forget(self, sender)
    self.EmitSignalDetailed(MAIN_IFACE, "RegistrationEnded", "ss", (application_id, reason), {"destination": sender})
