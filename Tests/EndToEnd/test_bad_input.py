# SPDX-License-Identifier: LGPL-2.1-or-later
"""What clients send that they should not: each is refused with an error that says why, and nothing breaks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from gi.repository import Gio, GLib
from buses import BRIDGE_ROOT, BUS, ROOT, body_size, entries, properties, typed
from clients import ACTIVITY_TYPE, Client, Dock
from samples import EVERY_TYPE, NOT_ALLOWED, arrays, byte_array, nested
from support import Machine, case, refused

LIMIT = 131072
SOME_ID = "0123456789abcdef" * 2
SOME_DEVICE = "0123456789abcdef" * 4


def changes(client: Client, name: str, value: GLib.Variant) -> list[Callable[[], Any]]:
    """The ways to set a property of an activity. Each must refuse what is not allowed."""
    activity = client.create(Title="Unchanged", UserInfo={"former": GLib.Variant("s", "state")})
    ways = [lambda: client.create(**{name: value}),
            lambda: activity.update(**{"Title": "Changed", name: value}),
            lambda: client.set(activity.path, f"Activity.{name}", value)]
    if name == "UserInfo" and value.is_of_type(GLib.VariantType("a{sv}")):
        ways.append(lambda: activity.add_entries(entries(value)))

    def unchanged() -> None:
        assert activity.get("Title") == "Unchanged"
        assert activity.get("UserInfo") == {"former": "state"}

    return [*ways, unchanged]


def assert_refused(client: Client, name: str, value: GLib.Variant, error: str, *texts: str) -> None:
    """Every way of setting this is refused, and the former values stay."""
    before = len(client.managed_objects())
    *ways, unchanged = changes(client, name, value)
    for way in ways:
        with refused(error, containing=texts):
            way()
        unchanged()
    assert len(client.managed_objects()) == before + 1, "a refused CreateActivity leaves no activity"


def test_value_that_user_info_can_not_hold(machine: Machine) -> None:
    """Such a value in UserInfo is InvalidArgs, naming the key."""
    client = Client(machine)
    for kind, value in NOT_ALLOWED.items():
        with case(kind):
            user_info = GLib.Variant("a{sv}", {"fine": GLib.Variant("s", "x"), "the culprit": value})
            assert_refused(client, "UserInfo", user_info, "InvalidArgs", "the culprit")


def test_file_descriptor_in_user_info(machine: Machine) -> None:
    """A file descriptor in UserInfo is InvalidArgs, naming the key, also deep inside."""
    client = Client(machine)
    activity = client.create()
    for value in (GLib.Variant("h", 0), GLib.Variant("v", GLib.Variant("h", 0)), GLib.Variant("ah", [0]),
                  GLib.Variant("a{sv}", {"x": GLib.Variant("h", 0)})):
        descriptors = Gio.UnixFDList.new()
        read, write = os.pipe()
        descriptors.append(read)
        arguments = GLib.Variant("(a{sv})", (properties(UserInfo={"the culprit": value}),))
        with refused("InvalidArgs", containing=("the culprit",)):
            client.call(activity.path, "Activity.Update", arguments, descriptors=descriptors)
        os.close(read)
        os.close(write)
    assert activity.get("UserInfo") == {}


def user_info_of_size(size: int) -> dict[str, GLib.Variant]:
    """A UserInfo that takes just so many bytes marshalled."""
    empty = body_size(GLib.Variant("(a{sv})", ({"bytes": GLib.Variant("ay", b"")},)))
    return {"bytes": byte_array(bytes(size - empty))}


def test_largest_user_info_is_taken_and_one_byte_more_is_not(machine: Machine) -> None:
    """UserInfo of MaximumUserInfoSize bytes is taken; one more is UserInfoTooLarge, naming both sizes."""
    client = Client(machine)
    assert client.get(ROOT, "Manager.MaximumUserInfoSize") == LIMIT
    assert body_size(GLib.Variant("(a{sv})", (user_info_of_size(LIMIT),))) == LIMIT
    activity = client.create(UserInfo=user_info_of_size(LIMIT))
    assert len(activity.user_info()["bytes"].get_data_as_bytes().get_data()) > LIMIT - 100
    large = user_info_of_size(LIMIT + 1)
    assert_refused(client, "UserInfo", GLib.Variant("a{sv}", large), "UserInfoTooLarge", str(LIMIT))
    with refused("UserInfoTooLarge", containing=(str(LIMIT), str(LIMIT + 1))):
        activity.update(UserInfo=large)


def test_far_too_large_user_info(machine: Machine) -> None:
    """UserInfo of many megabytes is refused before it is looked at, by the size of the call, and the daemon serves on."""
    client = Client(machine)
    activity = client.create()
    with refused("LimitsExceeded", containing=(str(512 << 10),)):
        activity.update(UserInfo=user_info_of_size(20 << 20))
    assert activity.get("UserInfo") == {}


def test_entries_that_would_grow_too_large(machine: Machine) -> None:
    """AddUserInfoEntries is refused if the sum would be too large, and nothing is added."""
    client = Client(machine)
    activity = client.create(UserInfo=user_info_of_size(LIMIT - 100))
    with refused("UserInfoTooLarge", containing=(str(LIMIT),)):
        activity.add_entries({"more": GLib.Variant("s", "x" * 200)})
    assert list(activity.user_info()) == ["bytes"]


def test_properties_together_too_large(machine: Machine) -> None:
    """All properties of an activity together take at most 256 KiB."""
    client = Client(machine)
    activity = client.create(UserInfo=user_info_of_size(LIMIT))
    with refused("LimitsExceeded"):
        activity.update(Title="x", Keywords=["y" * 150_000])
    assert activity.get("Title") == ""


def test_nesting_of_33_is_refused(machine: Machine) -> None:
    """UserInfo nested 33 deep is InvalidArgs, naming the key."""
    assert_refused(Client(machine), "UserInfo", GLib.Variant("a{sv}", nested(33)), "InvalidArgs", "deep")


def test_far_too_deep_nesting_is_refused(machine: Machine) -> None:
    """Nesting up to what the bus itself lets through is refused, whatever it is made of."""
    client = Client(machine)
    activity = client.create()
    for depth in range(34, 42):
        with refused("InvalidArgs"):
            activity.update(UserInfo=nested(depth))
    variants = GLib.Variant("s", "bottom")
    for _level in range(50):
        variants = GLib.Variant("v", variants)
    for value in (variants, arrays(31)):
        with refused("InvalidArgs"):
            activity.update(UserInfo={"deep": value})
    assert activity.get("UserInfo") == {}


def test_nesting_of_32_arrives(machines: tuple[Machine, Machine]) -> None:
    """UserInfo nested 32 deep is taken, read back, and arrives on the other machine."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    deepest = nested(32) | {"arrays": arrays(30)}
    activity = origin.offer("Deep", UserInfo=deepest)
    expected = {key: typed(value) for key, value in deepest.items()}
    assert {key: typed(value) for key, value in activity.user_info().items()} == expected
    dock.continue_offer(dock.offer("Deep"))
    arrived = target.wait_for("ContinueActivity").arguments.get_child_value(0).lookup_value("UserInfo")
    assert {key: typed(value) for key, value in entries(arrived).items()} == expected


NO_WEB_PAGES = [
    "example.com", "/etc/passwd", "file:///etc/passwd", "ftp://example.com/", "javascript:alert(1)", "http://",
    "https:", "http:/example.com", "https://exa mple.com/", "http://\u202eexample.com:x/", "//example.com/",
    "HTTPS", "mailto:me@example.com", "http://example.com/\nx", "https://[::1/"]


def test_url_that_is_no_web_page(machine: Machine) -> None:
    """WebpageURL and ReferrerURL that are not absolute http or https are InvalidURL."""
    client = Client(machine)
    for name, url in itertools.product(("WebpageURL", "ReferrerURL"), NO_WEB_PAGES):
        with case(name, url):
            assert_refused(client, name, GLib.Variant("s", url), "InvalidURL")


def test_document_url_that_is_no_file(machine: Machine) -> None:
    """DocumentURL that is not a file's is InvalidURL."""
    client = Client(machine)
    for url in ("https://example.com/letter.odt", "letter.odt", "file:letter.odt", "file://"):
        assert_refused(client, "DocumentURL", GLib.Variant("s", url), "InvalidURL")


OF_ANOTHER_TYPE = [
    ("Title", GLib.Variant("u", 1)), ("Title", GLib.Variant("ay", b"x")), ("UserInfo", GLib.Variant("a{ss}", {})),
    ("UserInfo", GLib.Variant("s", "x")), ("Keywords", GLib.Variant("s", "x")),
    ("ExpirationDate", GLib.Variant("t", 1)), ("EligibleForHandoff", GLib.Variant("u", 1)),
    ("RequiredUserInfoKeys", GLib.Variant("av", [])), ("Delegate", GLib.Variant("s", "/")),
    ("NeedsSave", GLib.Variant("s", "true")), ("WebpageURL", GLib.Variant("v", GLib.Variant("s", "http://a/")))]


def test_property_of_another_type(machine: Machine) -> None:
    """A property of another type is InvalidArgs, naming it."""
    client = Client(machine)
    for name, value in OF_ANOTHER_TYPE:
        with case(name, value):
            assert_refused(client, name, value, "InvalidArgs", name)


def test_reserved_path(machine: Machine) -> None:
    """A path that begins like the one D-Bus reserves is InvalidArgs: a bus throws off whoever calls it."""
    registered, client = Client(machine), Client(machine, register=False)
    for path in ("/org/freedesktop/DBus/Local", "/org/freedesktop/DBus/Locality"):
        with case(path):
            assert_refused(registered, "Delegate", GLib.Variant("o", path), "InvalidArgs", "Delegate", path)
            client.path = path
            with refused("InvalidArgs", containing=(path,)):
                client.register()


def test_keys_that_are_not_known_are_ignored(machine: Machine) -> None:
    """Unknown keys in dictionaries are ignored, so that newer applications work with this broker."""
    client = Client(machine, options={"Unheard": GLib.Variant("u", 1)})
    unknown = GLib.Variant("(a{sv})", ({"Unheard": GLib.Variant("as", []), "Title": GLib.Variant("s", "Set")},))
    activity = client.create()
    client.call(activity.path, "Activity.Update", unknown)
    assert activity.get("Title") == "Set"


def test_read_only_properties_stay(machine: Machine) -> None:
    """What is read-only can't be set."""
    client = Client(machine)
    activity = client.create()
    for path, name, value in ((activity.path, "Activity.Current", GLib.Variant("b", True)),
                              (activity.path, "Activity.ActivityType", GLib.Variant("s", "x")),
                              (ROOT, "Manager.MaximumUserInfoSize", GLib.Variant("u", 1)),
                              (BRIDGE_ROOT, "Bridge.DeviceId", GLib.Variant("s", SOME_DEVICE))):
        with refused("PropertyReadOnly", "AccessDenied", "InvalidArgs"):
            client.set(path, name, value)
    assert not activity.get("Current")


WRONGLY_SIGNED = [
    (ROOT, "Manager.RegisterApplication", GLib.Variant("(s)", ("com.example.x",))),
    (ROOT, "Manager.RegisterApplication", GLib.Variant("(sasoa{ss})", ("com.example.x", [], "/", {}))),
    (ROOT, "Manager.CreateActivity", GLib.Variant("(sa{sv}s)", ("", {}, ""))),
    (ROOT, "Manager.CreateActivity", None),
    (ROOT, "Manager.UnregisterApplication", GLib.Variant("(u)", (1,))),
    (ROOT, f"{BUS}.Properties.Get", GLib.Variant("(s)", ("org.example.Handoff.Manager",))),
    (ROOT, f"{BUS}.Properties.Set", GLib.Variant("(sss)", ("org.example.Handoff.Manager", "Enabled", "true"))),
    (ROOT, f"{BUS}.ObjectManager.GetManagedObjects", GLib.Variant("(s)", ("x",))),
    (BRIDGE_ROOT, "Bridge.Connect", GLib.Variant("(u)", (1,))),
    (BRIDGE_ROOT, "Bridge.Trust", GLib.Variant("(s)", (SOME_DEVICE,)))]


def test_wrong_signature(machine: Machine) -> None:
    """A call with other arguments than the contract's is InvalidArgs."""
    client = Client(machine)
    for path, member, arguments in WRONGLY_SIGNED:
        with case(path, member, arguments), refused("InvalidArgs", "UnknownMethod"):
            client.call(path, member, arguments)


NOT_THERE = [
    (ROOT, "Manager.Explode", "UnknownMethod"),
    (ROOT, "Nonsense.CreateActivity", "UnknownInterface UnknownMethod"),
    (f"{ROOT}/nothing", "Manager.UnregisterApplication", "UnknownObject"),
    (f"{ROOT}/activities/{SOME_ID}", "Activity.BecomeCurrent", "UnknownObject"),
    (f"{ROOT}/activities/notanid", "Activity.BecomeCurrent", "UnknownObject"),
    (f"{ROOT}/remote/{SOME_DEVICE}/{SOME_ID}", "RemoteActivity.Dismiss", "UnknownObject"),
    (f"{ROOT}/continuations/{SOME_ID}", "Continuation.Release", "UnknownObject"),
    (f"{BRIDGE_ROOT}/devices/{SOME_DEVICE}", "Device.Pair", "UnknownObject"),
    (BRIDGE_ROOT, "Bridge.Explode", "UnknownMethod")]


def test_what_is_not_there(machine: Machine) -> None:
    """Calling what is not there says so."""
    client = Client(machine)
    for path, member, error in NOT_THERE:
        with case(path, member), refused(*error.split()):
            client.call(path, member)


def test_unknown_properties(machine: Machine) -> None:
    """Properties and interfaces that are not there are refused, for reading and for writing."""
    client = Client(machine)
    for name in ("Manager.Nothing", "Nothing.Enabled"):
        with refused("UnknownProperty", "InvalidArgs", "UnknownInterface"):
            client.get(ROOT, name)
    with refused("UnknownProperty", "InvalidArgs"):
        client.set(client.create().path, "Activity.Nothing", GLib.Variant("s", "x"))


def test_undeclared_type(machine: Machine) -> None:
    """An activity of an undeclared type is TypeNotDeclared, naming the declared ones."""
    client = Client(machine, types=("com.example.a", "com.example.b"))
    with refused("TypeNotDeclared", containing=("com.example.c", "com.example.a", "com.example.b")):
        client.create("com.example.c")
    assert client.create().get("ActivityType") == "com.example.a", "without a type it is the first one"
    with refused("TypeNotDeclared"):
        Client(machine, "com.example.none", ()).create()


def test_type_that_is_none(machine: Machine) -> None:
    """A type that is empty, too long or has control characters can't be declared."""
    for activity_type in ("", "x" * 256, "line\nbreak", "\x7f", "com.example.\u202eedit", "com.example\u2028edit"):
        with case(activity_type), refused("InvalidArgs"):
            Client(machine, types=(ACTIVITY_TYPE, activity_type))


def test_unusual_type_is_taken(machine: Machine) -> None:
    """A type need not be reverse-DNS."""
    client = Client(machine, types=("Brief schreiben", "x" * 255))
    assert client.create().get("ActivityType") == "Brief schreiben"


def test_application_id_that_is_none(machine: Machine) -> None:
    """An application id that can't be the name of a desktop entry is refused."""
    client = Client(machine, register=False)
    for application_id in ("", "a" * 256, "../evil", "com/example", "with space\n"):
        client.application_id = application_id
        with case(application_id), refused("InvalidArgs"):
            client.register()


WRONG_OPTIONS = [
    ("Team", GLib.Variant("u", 1)), ("Domains", GLib.Variant("s", "example.com")),
    ("DocumentTypes", GLib.Variant("a{sv}", {})), ("DocumentTypes", GLib.Variant("a{ss}", {"text": "com.example.x"})),
    ("Domains", GLib.Variant("as", ["exa mple"]))]


def test_option_that_is_wrong(machine: Machine) -> None:
    """A registration with a wrong option is InvalidArgs, naming it."""
    for option, value in WRONG_OPTIONS:
        with case(option, value), refused("InvalidArgs"):
            Client(machine, options={option: value})


def test_activity_without_registration(machine: Machine) -> None:
    """Without having registered one can't create an activity."""
    with refused("NotRegistered"):
        Client(machine, register=False).create()


def test_quota_of_activities(machine: Machine) -> None:
    """A connection has 64 activities at most; one that ends makes room, and others have their own quota."""
    client = Client(machine)
    activities = [client.create() for _number in range(64)]
    with refused("LimitsExceeded", containing=("64",)):
        client.create()
    activities[7].invalidate()
    client.create()
    Client(machine).create()


def test_quota_of_types(machine: Machine) -> None:
    """A registration declares 256 types at most."""
    Client(machine, types=tuple(f"com.example.t{number}" for number in range(256)))
    with refused("LimitsExceeded", containing=("256",)):
        Client(machine, types=tuple(f"com.example.t{number}" for number in range(257)))


def test_every_allowed_type_is_read_back(machine: Machine) -> None:
    """What UserInfo may hold is read back as it was written."""
    activity = Client(machine).create(UserInfo=EVERY_TYPE)
    assert {key: typed(value) for key, value in activity.user_info().items()} == \
        {key: typed(value) for key, value in EVERY_TYPE.items()}
