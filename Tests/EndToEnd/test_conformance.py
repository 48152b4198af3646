# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clients of all languages behave the same: brokers that come and go, and activities."""

# This file is long because it says in one place what all clients do with brokers and activities.

from __future__ import annotations

import pytest
from buses import BROKER, BUS, HANDOFF_ERROR, ROOT, STANDARD_ERROR, BusError, typed, wait
from conforming import ID, app, begin, broker, bus, restart  # noqa: F401  pylint: disable=unused-import
from driven import LANGUAGES, Driven
from gi.repository import GLib
from scripted_broker import TYPE, ScriptedBroker
from support import Machine, refused

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
pytestmark = pytest.mark.parametrize("language", LANGUAGES)


def test_registers_as_declared(app: Driven, broker: ScriptedBroker) -> None:
    """An application is registered with its id, types and team, and knows that."""
    assert app.ask("available", answer="available") == ["0"]
    app.do("start")
    arguments = broker.wait_for("RegisterApplication").arguments.unpack()
    assert arguments[:2] == (ID, [TYPE])
    assert arguments[3]["Team"] == "org.example.team"
    app.wait_until_available()


def test_without_a_broker_nothing_fails(app: Driven, bus: Machine) -> None:
    """Without Handoff everything is accepted; what was made is there when a broker comes."""
    app.do("start")
    app.do("make", "n", TYPE, "Shopping")
    app.do("userInfo", "n", "text", "milk")
    app.do("becomeCurrent", "n")
    app.do("set", "n", "title", "Groceries")
    assert app.get("n")["valid"] == "1"
    assert app.ask("available", answer="available") == ["0"]
    broker = ScriptedBroker(bus)
    path = broker.wait_for("BecomeCurrent").path
    known = broker.known[path]
    assert known["Title"].unpack() == "Groceries" and known["UserInfo"].unpack() == {"text": "milk"}
    assert not app.all("refused")
    broker.close()


def test_what_is_set_in_one_turn_travels_together(app: Driven, broker: ScriptedBroker) -> None:
    """Several properties that are set one after the other are one message."""
    path = begin(app, broker)
    app.process.stdin.write(b"set\tn\ttitle\tGroceries\nset\tn\twebpageURL\thttps://example.com/\nset\tn\tneedsSave\tyes\n"
                            b"userInfo\tn\ttext\tmilk\n")
    app.process.stdin.flush()
    wait(lambda: len(broker.known[path]) >= 4, "all of them")
    update, = broker.called("Update")
    assert typed(update.arguments.get_child_value(0)) == ("a{sv}", {
        "Title": ("v", ("s", "Groceries")), "WebpageURL": ("v", ("s", "https://example.com/")),
        "NeedsSave": ("v", ("b", True)), "UserInfo": ("v", ("a{sv}", {"text": ("v", ("s", "milk"))}))})


def test_entries_are_added(app: Driven, broker: ScriptedBroker) -> None:
    """Entries that are added stand beside those that are there."""
    path = begin(app, broker, ("userInfo", "n", "text", "milk"), ("add", "n", "cursor", "4"))
    wait(lambda: broker.known[path]["UserInfo"].unpack() == {"text": "milk", "cursor": "4"}, "both entries")
    assert app.get("n")["state"] == "cursor=4,text=milk"


def test_is_registered_and_created_again(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """With a new broker, the application registers, and its activity is created with its latest state and made current."""
    begin(app, broker, ("userInfo", "n", "text", "milk"))
    app.do("userInfo", "n", "text", "bread")
    broker.wait_for("Update")
    broker.close()
    app.wait_until("n", current="0")
    app.wait_until_available(False)
    again = ScriptedBroker(bus)
    path = again.wait_for("BecomeCurrent").path
    assert [call.method for call in again.calls][:2] == ["RegisterApplication", "CreateActivity"]
    known = again.known[path]
    assert known["UserInfo"].unpack() == {"text": "bread"} and known["Title"].unpack() == "Shopping"
    again.close()


def test_follows_a_broker_that_takes_over(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """A broker that takes the name from another, which stays on the bus, gets everything."""
    begin(app, broker)
    other = ScriptedBroker(bus, replaces=True)
    other.wait_for("BecomeCurrent")
    app.do("set", "n", "title", "Groceries")
    assert other.wait_for("Update").arguments.unpack()[0] == {"Title": "Groceries"}
    assert not broker.called("Update")
    other.close()


def test_only_what_was_current_is_again(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """What gave way to another application's activity is created with a new broker, and not made current."""
    path = begin(app, broker)
    broker.change(path, Current=False)
    app.wait_until("n", current="0")
    again = restart(broker, bus)
    again.wait_for("CreateActivity")
    app.do("set", "n", "title", "Groceries")
    again.wait_for("Update")
    assert not again.called("BecomeCurrent")
    again.close()


def test_resigning_counts_for_the_next_broker(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """What has resigned is not made current again."""
    path = begin(app, broker)
    app.do("resignCurrent", "n")
    assert broker.wait_for("ResignCurrent").path == path
    again = restart(broker, bus)
    again.wait_for("CreateActivity")
    app.do("set", "n", "title", "Groceries")
    again.wait_for("Update")
    assert not again.called("BecomeCurrent")
    again.close()


def test_open_with_the_next_broker(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """What was left, or is open without having been current, is open with a new broker, and not made current."""
    path = begin(app, broker)
    app.do("make", "m", TYPE, "List")
    app.do("becomeOpen", "m")
    opened = broker.wait_for("BecomeOpen").path
    assert opened != path and broker.known[opened]["Title"].unpack() == "List"
    app.do("leaveCurrent", "n")
    assert broker.wait_for("LeaveCurrent").path == path
    again = restart(broker, bus)
    again.wait_for("BecomeOpen", 2)
    # The one that was used last is the last one.
    assert [again.known[call.path]["Title"].unpack() for call in again.called("BecomeOpen")] == ["Shopping", "List"]
    app.do("becomeOpen", "n")
    again.wait_for("BecomeOpen", 3)
    again = restart(again, bus)
    again.wait_for("BecomeOpen", 2)
    assert [again.known[call.path]["Title"].unpack() for call in again.called("BecomeOpen")] == ["List", "Shopping"]
    for name in "nm":
        app.do("resignCurrent", name)
    again.wait_for("ResignCurrent", 2)
    third = restart(again, bus)
    third.wait_for("CreateActivity", 2)
    app.do("becomeCurrent", "n")
    third.wait_for("BecomeCurrent")
    assert not again.called("BecomeCurrent") and not third.called("BecomeOpen")
    third.close()


def test_stopped_before_it_started(app: Driven, broker: ScriptedBroker) -> None:
    """An application that stops has no activities, also if it had not started yet."""
    app.do("make", "n", TYPE, "Shopping")
    app.do("becomeCurrent", "n")
    app.do("stop")
    app.do("start")
    app.do("make", "m", TYPE, "List")
    app.do("becomeCurrent", "m")
    assert broker.known[broker.wait_for("BecomeCurrent").path]["Title"].unpack() == "List"
    assert len(broker.called("CreateActivity")) == 1


@pytest.mark.parametrize("end", ["leaveCurrent", "resignCurrent"])
def test_not_current_before_it_was_created(app: Driven, broker: ScriptedBroker, end: str) -> None:
    """What is left or resigned before the broker has created it is never current; what was left is open."""
    broker.held = {"CreateActivity"}
    app.do("start")
    app.do("make", "n", TYPE, "Shopping")
    app.do("becomeCurrent", "n")
    broker.wait_for("CreateActivity")
    app.do(end, "n")
    app.get("n")
    broker.release()
    if end == "leaveCurrent":
        broker.wait_for("BecomeOpen")
    app.do("set", "n", "title", "Groceries")
    broker.wait_for("Update")
    assert not broker.called("BecomeCurrent") and len(broker.called("BecomeOpen")) == (end == "leaveCurrent")


def test_refused_to_be_open(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """What may not be open is told so by name, and not asked for with a new broker."""
    begin(app, broker)
    app.do("make", "m", TYPE, "List")
    broker.refusals["BecomeOpen"] = f"{STANDARD_ERROR}.LimitsExceeded", "Too much is open."
    app.do("becomeOpen", "m")
    assert app.wait_for("refused")[:2] == ["m", f"{STANDARD_ERROR}.LimitsExceeded"]
    again = restart(broker, bus)
    again.wait_for("BecomeCurrent")
    app.do("set", "m", "title", "Groceries")
    again.wait_for("Update")
    assert not again.called("BecomeOpen")
    again.close()


def test_what_was_forgotten_registers_anew(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """An application that the broker has forgotten registers, creates and makes current again; nobody else can say so."""
    path = begin(app, broker)
    liar = bus.connect()
    liar.connection.emit_signal(broker.client, ROOT, f"{BROKER}.Manager", "RegistrationEnded",
                                GLib.Variant("(ss)", (ID, "lies")))
    liar.connection.emit_signal(broker.client, path, f"{BUS}.Properties", "PropertiesChanged", GLib.Variant(
        "(sa{sv}as)", (f"{BROKER}.Activity", {"Current": GLib.Variant("b", False)}, [])))
    liar.call("/org/freedesktop/DBus", f"{BUS}.GetId", destination=BUS)
    broker.announce()
    assert len(broker.called("RegisterApplication")) == 1 and app.get("n")["current"] == "1"
    broker.end_registration()
    broker.wait_for("BecomeCurrent", 2)
    methods = [call.method for call in broker.calls if call.method != "WillContinueActivity"]
    assert methods[-3:] == ["RegisterApplication", "CreateActivity", "BecomeCurrent"]
    app.wait_until_available()


def test_only_the_broker_may_call(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """Whoever is not the owner of the broker's name is refused, and nothing happens."""
    path = begin(app, broker, ("willSave", "n", "text", "milk"))
    stranger = bus.connect()
    context = GLib.Variant("(a{sv}a{sv})", ({"ActivityType": GLib.Variant("s", TYPE)}, broker.context(1)))
    for member, arguments in (("ActivityDelegate.WillSave", GLib.Variant("(o)", (path,))),
                              ("Application.WillContinueActivity", GLib.Variant("(sa{sv})", (TYPE, broker.context(1)))),
                              ("Application.ContinueActivity", context)):
        with refused("AccessDenied"):
            stranger.call(broker.object, member, arguments, destination=broker.client)
    assert not app.all("saving") and not app.all("willContinue") and not app.all("continue")


def test_says_what_its_state_is(app: Driven, broker: ScriptedBroker) -> None:
    """Asked for its state, the application begins with an empty one; what it says is the whole new one, and saved."""
    path = begin(app, broker, ("userInfo", "n", "old", "gone"), ("willSave", "n", "text", "milk"))
    app.do("set", "n", "needsSave", "yes")
    wait(lambda: "NeedsSave" in broker.known[path], "the wish to be saved")
    answer = broker.save()().unpack()[0]
    assert answer["UserInfo"] == {"text": "milk"}
    assert app.wait_for("saving") == ["n", "0"]
    broker.change(path, NeedsSave=False)
    app.wait_until("n", needsSave="0", state="text=milk")
    # What changes after that needs saving again.
    app.do("set", "n", "needsSave", "yes")
    wait(lambda: broker.called("Update")[-1].arguments.unpack()[0] == {"NeedsSave": True}
         and len(broker.called("Update")) == 2, "the wish to be saved again")


@pytest.mark.parametrize("what", ["nothing", "fail"])
def test_the_former_state_stays(app: Driven, broker: ScriptedBroker, what: str) -> None:
    """If nothing new is said, or the application fails, the former state stays."""
    begin(app, broker, ("userInfo", "n", "text", "milk"), ("willSave", "n", what))
    answer = broker.save()
    if what == "fail":
        with pytest.raises(BusError):
            answer()
    else:
        assert "UserInfo" not in answer().unpack()[0]
    assert app.get("n")["state"] == "text=milk"


def test_a_new_broker_gets_what_was_saved(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """What was said in answer to a question is the state with the next broker too."""
    begin(app, broker, ("willSave", "n", "text", "milk"))
    broker.save()()
    again = restart(broker, bus)
    path = again.wait_for("BecomeCurrent").path
    assert again.known[path]["UserInfo"].unpack() == {"text": "milk"}
    again.close()


def test_a_refused_property_costs_no_other(app: Driven, broker: ScriptedBroker) -> None:
    """A property that is refused has its former value again, by the error's name and message; what came with it counts."""
    error = (f"{HANDOFF_ERROR}.InvalidURL", "It is not absolute.")
    broker.refusals["Update"] = lambda arguments: error if "WebpageURL" in arguments.unpack()[0] else None
    begin(app, broker)
    # Legal as far as a client can see.
    app.process.stdin.write(b"set\tn\ttitle\tGroceries\nset\tn\twebpageURL\thttps://example.com/x\n")
    app.process.stdin.flush()
    assert app.wait_for("refused") == ["n", *error]
    app.wait_until("n", title="Groceries", page="")
    wait(lambda: any(call.arguments.unpack()[0] == {"Title": "Groceries"} for call in broker.called("Update")), "the title alone")


def test_a_refused_activity_is_created_when_it_changes(app: Driven, broker: ScriptedBroker) -> None:
    """An activity that can't be created says so by name, and is tried again once it has changed."""
    broker.refusals["CreateActivity"] = (f"{STANDARD_ERROR}.LimitsExceeded", "There are 64 already.")
    app.do("start")
    app.do("make", "n", TYPE, "Shopping")
    app.do("becomeCurrent", "n")
    assert app.wait_for("refused") == ["n", f"{STANDARD_ERROR}.LimitsExceeded", "There are 64 already."]
    del broker.refusals["CreateActivity"]
    app.do("set", "n", "title", "Groceries")
    path = broker.wait_for("BecomeCurrent").path
    assert broker.known[path]["Title"].unpack() == "Groceries"


def test_what_has_ended_is_over(app: Driven, broker: ScriptedBroker) -> None:
    """An activity that was invalidated is so at the broker, and can't become current."""
    path = begin(app, broker)
    app.do("invalidate", "n")
    assert broker.wait_for("Invalidate").path == path
    assert {"valid": "0", "current": "0"}.items() <= app.get("n").items()
    app.do("becomeCurrent", "n")
    assert app.wait_for("refused")[1] == f"{STANDARD_ERROR}.UnknownObject"
    with refused("UnknownObject"):
        broker.save()()


def test_what_ends_while_it_is_created_is_over(app: Driven, broker: ScriptedBroker) -> None:
    """An activity that ends before the broker has answered is ended there too."""
    app.do("start")
    app.wait_until_available()
    app.process.stdin.write(f"make\tn\t{TYPE}\tShopping\nbecomeCurrent\tn\ninvalidate\tn\n"
                            f"make\tm\t{TYPE}\tSecond\nbecomeCurrent\tm\n".encode())
    app.process.stdin.flush()
    wait(lambda: any(broker.known[call.path].get("Title", GLib.Variant("s", "")).unpack() == "Second"
                     for call in broker.called("BecomeCurrent")), "the second one to be current")
    first = [path for path in broker.activities if broker.known[path]["Title"].unpack() == "Shopping"]
    # A client that sends at the end of the turn need not have sent it at all.
    wait(lambda: [call.path for call in broker.called("Invalidate")] == first, "the end of the first")


@pytest.mark.parametrize("outcome", ["taken", "refused"])
def test_what_ends_while_it_is_updated_is_over(app: Driven, broker: ScriptedBroker, outcome: str) -> None:
    """An activity that ends before the broker has answered an update is ended once, and never created again."""
    path = begin(app, broker)
    broker.held = {"Update"}
    if outcome == "refused":
        broker.refusals["Update"] = (f"{STANDARD_ERROR}.UnknownObject", "It has ended.")
    app.process.stdin.write(b"set\tn\ttitle\tGroceries\nuserInfo\tn\ttext\tmilk\n")
    app.process.stdin.flush()
    broker.wait_for("Update")
    # More to send, once that is answered.
    app.do("set", "n", "title", "Bread")
    app.do("invalidate", "n")
    broker.wait_for("Invalidate")
    broker.release()
    # Its answer comes after whatever it has sent because of that one.
    broker.announce()
    app.do("make", "m", TYPE, "Second")
    app.do("becomeCurrent", "m")
    broker.wait_for("BecomeCurrent", 2)
    created = [call.arguments.unpack()[1]["Title"] for call in broker.called("CreateActivity")]
    assert created == ["Shopping", "Second"]
    assert [call.path for call in broker.called("Invalidate")] == [path]


@pytest.mark.parametrize("method", [
    "CreateActivity", "Update", "BecomeCurrent", "BecomeOpen", "LeaveCurrent", "ResignCurrent"])
def test_what_has_ended_hears_of_no_refusal(app: Driven, broker: ScriptedBroker, method: str) -> None:
    """A refusal that comes after the activity has ended is told nobody."""
    broker.held, broker.refusals[method] = {method}, (f"{STANDARD_ERROR}.LimitsExceeded", "There are 64 already.")
    app.do("start")
    app.do("make", "n", TYPE, "Shopping")
    app.do("becomeCurrent", "n")
    if method != "CreateActivity":
        broker.wait_for("BecomeCurrent")
    if method == "Update":
        app.do("set", "n", "title", "Groceries")
    elif method not in ("CreateActivity", "BecomeCurrent"):
        app.do(method[0].lower() + method[1:], "n")
    broker.wait_for(method)
    app.do("invalidate", "n")
    assert app.get("n")["valid"] == "0"
    broker.release()
    # Its answer comes after whatever the refusal has led to.
    broker.announce()
    app.get("n")
    assert not app.all("refused")


def test_one_follows_the_other(app: Driven, broker: ScriptedBroker) -> None:
    """What becomes current takes the place of the other one, whatever the broker has still to say of that."""
    first = begin(app, broker)
    app.do("make", "m", TYPE, "Second")
    app.do("becomeCurrent", "m")
    second = broker.wait_for("BecomeCurrent", 2).path
    broker.change(first, Current=False)
    broker.change(second, Current=True)
    app.wait_until("n", current="0")
    app.wait_until("m", current="1")
