# SPDX-License-Identifier: LGPL-2.1-or-later
"""The template of python-dbusmock answers as the broker does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from buses import BROKER, HANDOFF_ERROR, ROOT, STANDARD_ERROR, BusError, Session, properties, wait
from clients import Activity, Client
from driven import Driven
from gi.repository import GLib
from scripted_broker import TYPE
from support import SOURCE, Machine

ID = "org.example.Notes"
TEMPLATE = SOURCE / "data" / "dbusmock" / "handoff.py"
MOCK = f"{BROKER}.Mock"


def start_mock(machine: Machine) -> None:
    machine.start("/usr/bin/python3", "-m", "dbusmock", "--session", "--template", str(TEMPLATE))
    wait(lambda: machine.session.owner(BROKER), "the mock")


@pytest.fixture
def mocked() -> Iterator[Machine]:
    """A machine whose broker is the template."""
    machine = Machine("mock")
    start_mock(machine)
    yield machine
    machine.stop()
    machine.remove()


def outcome(ask: Callable[[], Any]) -> Any:
    """What is answered: a value, or the name of the error."""
    try:
        answer = ask()
    except BusError as error:
        assert len(error.message) >= 10, error.message
        return error.name
    return answer.get_type_string() if isinstance(answer, GLib.Variant) else answer


def answers(session: Session) -> list[Any]:
    """How a broker answers whatever an application may ask, in order."""
    found: list[Any] = []

    def call(path: str, member: str, signature: str = "", *values: Any) -> Any:
        arguments = GLib.Variant(f"({signature})", values) if signature else None
        return session.call(path, member, arguments)

    def ask(path: str, member: str, signature: str = "", *values: Any) -> None:
        found.append((member, values, outcome(lambda: call(path, member, signature, *values))))

    def register(application_id: str, types: list[str], options: dict[str, GLib.Variant]) -> None:
        ask(ROOT, "Manager.RegisterApplication", "sasoa{sv}", application_id, types, "/client", options)

    def create(activity_type: str, **values: Any) -> None:
        ask(ROOT, "Manager.CreateActivity", "sa{sv}", activity_type, properties(**values))

    for name in ("Version", "MaximumUserInfoSize", "Enabled"):
        found.append((name, session.get(ROOT, f"Manager.{name}")))
    create(TYPE)
    ask(ROOT, "Manager.UnregisterApplication")
    register("", [TYPE], {})
    register("no/id", [TYPE], {})
    register(ID, [""], {})
    register(ID, [TYPE], {"Team": GLib.Variant("u", 1)})
    register(ID, [TYPE, "org.example.notes.view"], {"Team": GLib.Variant("s", "org.example.team"), "Odd": GLib.Variant("u", 1)})
    create("org.example.other")
    create(TYPE, Title=GLib.Variant("u", 1))
    create(TYPE, UserInfo=GLib.Variant("s", "text"))
    create(TYPE, WebpageURL="nonsense")
    create(TYPE, WebpageURL="ftp://example.com/")
    create(TYPE, WebpageURL="http://[::1")
    create(TYPE, ReferrerURL="https://[nonsense]/")
    create(TYPE, DocumentURL="https://example.com/")
    create(TYPE, UserInfo={"text": GLib.Variant("s", "x" * 140_000)})
    create(TYPE, Odd=GLib.Variant("u", 1))
    one, two = (call(ROOT, "Manager.CreateActivity", "sa{sv}", kind, properties(Title=title)).unpack()[0]
                for kind, title in (("", "One"), ("org.example.notes.view", "Two")))
    found.append([session.get(one, f"Activity.{name}") for name in ("ActivityType", "ApplicationId", "Title", "Current",
                                                                    "EligibleForHandoff", "NeedsSave", "UserInfo")])
    ask(one, "Activity.Update", "a{sv}", properties(Title="New", UserInfo={"a": GLib.Variant("s", "b")}))
    ask(one, "Activity.Update", "a{sv}", properties(Title="Newer", ReferrerURL="nonsense"))
    ask(one, "Activity.AddUserInfoEntries", "a{sv}", {"c": GLib.Variant("b", True)})
    ask(one, "Activity.AddUserInfoEntries", "a{sv}", {"c": GLib.Variant("s", "x" * 140_000)})
    found.append((session.get(one, "Activity.Title"), session.get(one, "Activity.UserInfo")))
    for path, method in ((one, "BecomeCurrent"), (one, "BecomeCurrent"), (two, "BecomeCurrent"), (one, "ResignCurrent"),
                         (one, "LeaveCurrent"), (two, "LeaveCurrent"), (two, "BecomeCurrent"), (two, "BecomeOpen"), (two, "ResignCurrent"),
                         (two, "BecomeOpen"), (two, "BecomeCurrent"), (two, "Invalidate"), (two, "BecomeCurrent"), (two, "BecomeOpen")):
        ask(path, f"Activity.{method}")
        found.append(session.get(one, "Activity.Current"))
    ask(two, "Activity.Update", "a{sv}", {})
    ask(ROOT, "Manager.UnregisterApplication")
    ask(one, "Activity.BecomeCurrent")
    create(TYPE)
    return found


def test_answers_as_the_broker_does(mocked: Machine, machine: Machine) -> None:
    """The template of dbusmock and the broker give the same answers and the same errors to an application."""
    real = answers(machine.connect())
    played = answers(mocked.connect())
    assert [pair for pair in zip(real, played) if pair[0] != pair[1]] == []
    assert len(real) == len(played)


def test_plays_another_device(mocked: Machine) -> None:
    """With the template, a test has an application saved, continued elsewhere, handed an activity, and forgotten."""
    app = Driven(mocked, "Python", ID, TYPE)
    for words in (("start",), ("make", "n", TYPE, "Shopping"), ("willSave", "n", "text", "milk"), ("becomeCurrent", "n")):
        app.do(*words)
    app.wait_until("n", current="1")
    path = f"{ROOT}/activities/{1:032x}"
    mock = mocked.connect()
    saved = mock.call(ROOT, f"{MOCK}.Save", GLib.Variant("(o)", (path,))).unpack()[0]
    assert saved["UserInfo"] == {"text": "milk"} == mock.get(path, "Activity.UserInfo")
    mock.call(ROOT, f"{MOCK}.ContinuedElsewhere", GLib.Variant("(o)", (path,)))
    assert app.wait_for("wasContinued") == ["n", "another device"]
    handed = GLib.Variant("(sa{sv})", (TYPE, properties(Title="Letter", UserInfo={"text": GLib.Variant("s", "Dear")})))
    assert mock.call(ROOT, f"{MOCK}.Continue", handed).unpack() == (True,)
    assert app.wait_for("continue")[2] == "Letter"
    mock.call(ROOT, f"{MOCK}.Fail", GLib.Variant("(sss)", (TYPE, f"{BROKER}.Error.OfferWithdrawn", "It is over.")))
    assert app.wait_for("failed")[2] == "It is over."
    mock.call(ROOT, f"{MOCK}.EndRegistration", GLib.Variant("(s)", ("It did not read.",)))
    wait(lambda: outcome(lambda: mock.get(f"{ROOT}/activities/{2:032x}", "Activity.Current")) is True,
         "the activity to be current again")
    app.end()


def test_what_has_ended_is_not_saved(mocked: Machine) -> None:
    """With the template, whatever can't be saved is refused: an activity that has ended, also while it was asked, and a state
    that the broker would refuse."""
    client = Client(mocked)
    mock = mocked.connect()
    ended, asked, broken = (client.create() for _ in range(3))

    def save(activity: Activity) -> Any:
        return outcome(lambda: mock.call(ROOT, f"{MOCK}.Save", GLib.Variant("(o)", (activity.path,))))

    def ends(_arguments: GLib.Variant) -> GLib.Variant:
        asked.invalidate()
        return GLib.Variant("(a{sv})", ({},))

    ended.invalidate()
    assert save(ended) == f"{STANDARD_ERROR}.UnknownObject" and not client.calls
    client.answers["WillSave"] = ends
    assert save(asked) == f"{STANDARD_ERROR}.UnknownObject"
    client.answers["WillSave"] = lambda _arguments: GLib.Variant("(a{sv})", ({"Title": GLib.Variant("u", 1)},))
    assert save(broken) == f"{STANDARD_ERROR}.InvalidArgs"
    client.answers["WillSave"] = lambda _arguments: GLib.Variant("(a{sv})", ({"Title": GLib.Variant("s", "New")},))
    assert save(broken) == "(a{sv})" and broken.get("Title") == "New"


def test_nobody_is_forgotten_twice(mocked: Machine) -> None:
    """With the template, what is played for an application is refused while none has registered."""
    mock = mocked.connect()
    for member, arguments in (("EndRegistration", GLib.Variant("(s)", ("It is over.",))),
                              ("Continue", GLib.Variant("(sa{sv})", (TYPE, {})))):
        assert outcome(lambda: mock.call(ROOT, f"{MOCK}.{member}", arguments)) == f"{HANDOFF_ERROR}.NotRegistered"
