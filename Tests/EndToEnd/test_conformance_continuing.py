# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clients of all languages behave the same: what is continued here and elsewhere, and streams."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from buses import HANDOFF_ERROR, STANDARD_ERROR, BusError, entries, typed, wait
from conforming import app, begin, broker, bus, restart  # noqa: F401  pylint: disable=unused-import
from driven import LANGUAGES, Driven
from gi.repository import Gio, GLib
from scripted_broker import TYPE, ScriptedBroker, handing
from support import Machine, case, few_descriptors, processor_time, refused

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
pytestmark = pytest.mark.parametrize("language", LANGUAGES)


def test_says_whether_it_shows_what_comes(app: Driven, broker: ScriptedBroker) -> None:
    """What is coming is told by type and device, and answered as the application says."""
    begin(app, broker)
    assert broker.announce()[1] is False
    assert app.wait_for("willContinue") == [TYPE, "lap"]
    app.do("shows", "yes")
    app.get("n")
    assert broker.announce()[1] is True


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_is_handed_what_is_continued(app: Driven, broker: ScriptedBroker, answer: str) -> None:
    """An activity arrives with its title, state and device, and its answer is the application's."""
    begin(app, broker, ("answer", answer))
    number, _shows = broker.announce()
    reply = broker.hand_over(number, Title="Letter", UserInfo=GLib.Variant("a{sv}", {"text": GLib.Variant("s", "Dear")}))
    assert reply().unpack() == (answer == "yes",)
    told = app.wait_for("continue")
    assert told[1:] == [TYPE, "Letter", "lap"]
    assert app.get(told[0])["state"] == "text=Dear"


def test_fails_with_its_own_words(app: Driven, broker: ScriptedBroker) -> None:
    """An application that can't continue an activity says why."""
    begin(app, broker, ("answer", "fail", "This note is of a newer version."))
    number, _shows = broker.announce()
    with pytest.raises(BusError) as caught:
        broker.hand_over(number)()
    assert "This note is of a newer version." in caught.value.message


def test_is_told_what_does_not_come(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """That something does not come is told by name and message, once, even if the broker ends then."""
    begin(app, broker)
    broker.announce()
    broker.ask("Application", "DidFailToContinueActivity", GLib.Variant("(sss)", (
        TYPE, f"{HANDOFF_ERROR}.OfferWithdrawn", "It is over.")))()
    assert app.wait_for("failed") == [TYPE, f"{HANDOFF_ERROR}.OfferWithdrawn", "It is over."]
    again = restart(broker, bus)
    again.wait_for("BecomeCurrent")
    assert len(app.all("failed")) == 1
    again.close()


def test_a_continuation_fails_with_its_broker(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """Of what was announced and not handed over, a broker that ends leaves one failure each; what was handed over stays."""
    begin(app, broker)
    number, _shows = broker.announce()
    broker.hand_over(number)()
    broker.announce()
    again = restart(broker, bus)
    again.wait_for("BecomeCurrent")
    kind, name, message = app.wait_for("failed")
    assert (kind, name) == (TYPE, f"{HANDOFF_ERROR}.ConnectionUnavailable") and len(message) > 10
    assert len(app.all("failed")) == 1
    again.close()


@pytest.mark.parametrize("end", ["the broker", "the registration"])
def test_may_stop_when_it_is_told(app: Driven, broker: ScriptedBroker, bus: Machine, end: str) -> None:
    """An application that stops when it is told that something does not come stays stopped, whatever has ended."""
    begin(app, broker, ("stopsAtFailure",))
    for _time in range(2):
        broker.announce()
    if end == "the broker":
        broker.close()
    else:
        broker.end_registration()
    app.wait_for("failed", 2)
    app.wait_until_available(False)
    if end == "the registration":
        broker.wait_for("UnregisterApplication")
        assert broker.calls[-1].method == "UnregisterApplication"
    other = restart(broker, bus) if end == "the registration" else ScriptedBroker(bus)
    assert app.ask("available", answer="available") == ["0"] and not other.called("RegisterApplication")
    other.close()


VALUES = {
    "text": GLib.Variant("s", "Grüße"), "flag": GLib.Variant("b", True), "real": GLib.Variant("d", 0.1),
    "number": GLib.Variant("x", -5), "bytes": GLib.Variant("ay", b"\0\xff"),
    "when": GLib.Variant("(sv)", ("date", GLib.Variant("x", 1_700_000_000_000_000))),
    "page": GLib.Variant("(sv)", ("url", GLib.Variant("s", "https://example.com/a"))),
    "nothing": GLib.Variant("(sv)", ("null", GLib.Variant("b", False))),
    "small": GLib.Variant("y", 7), "names": GLib.Variant("as", ["a", "b"]), "sizes": GLib.Variant("ai", [1, -2]),
    "counts": GLib.Variant("a{su}", {"a": 1}), "empty": GLib.Variant("av", []),
    "days": GLib.Variant("a(sv)", [("date", GLib.Variant("x", 1))]),
    "inner": GLib.Variant("a{sv}", {"list": GLib.Variant("av", [GLib.Variant("s", "a"), GLib.Variant("b", False)])}),
}


def test_goes_onward_with_its_values(app: Driven, broker: ScriptedBroker) -> None:
    """What was continued can be made current here, and all of its values have their types."""
    begin(app, broker)
    announced, _shows = broker.announce()
    broker.hand_over(announced, Title="Letter", WebpageURL="https://example.com/", UserInfo=GLib.Variant("a{sv}", VALUES))()
    number = app.wait_for("continue")[0]
    assert app.get(number)["state"] == "text=Grüße"
    app.do("becomeCurrent", number)
    known = broker.known[broker.wait_for("BecomeCurrent", 2).path]
    assert known["Title"].unpack() == "Letter" and known["WebpageURL"].unpack() == "https://example.com/"
    assert {key: typed(value) for key, value in entries(known["UserInfo"]).items()} == {
        key: typed(value) for key, value in VALUES.items()}
    # Added to, they still have them.
    app.do("add", number, "more", "x")
    wait(lambda: "more" in entries(broker.known[broker.activities[-1]]["UserInfo"]), "the entry")
    added = entries(broker.known[broker.activities[-1]]["UserInfo"])
    assert {key: typed(value) for key, value in added.items() if key != "more"} == {
        key: typed(value) for key, value in VALUES.items()}


def test_is_told_where_it_goes_on(app: Driven, broker: ScriptedBroker) -> None:
    """The activity that was continued elsewhere says where."""
    path = begin(app, broker)
    broker.ask("ActivityDelegate", "WasContinued", GLib.Variant("(oa{sv})", (path, broker.context(1))))()
    assert app.wait_for("wasContinued") == ["n", "lap"]
    assert app.get("n")["valid"] == "1"


def test_opens_streams(app: Driven, broker: ScriptedBroker) -> None:
    """What was continued opens a stream, each direction of which ends by itself."""
    begin(app, broker)
    number, _shows = broker.announce()
    broker.hand_over(number, SupportsContinuationStreams=True)()
    ours, theirs = socket.socketpair()
    broker.stream = handing(theirs.detach())
    app.do("openStream", app.wait_for("continue")[0])
    broker.wait_for("OpenStream")
    ours.setblocking(False)
    assert read(ours) == b"ping"
    ours.sendall(b"pong")
    ours.close()
    assert app.wait_for("opened")[1:] == ["pong"]


def test_an_opened_stream_can_fail(app: Driven, broker: ScriptedBroker, bus: Machine) -> None:
    """That no stream can be opened is told by the error's name and message; the wait for one ends with the broker."""
    begin(app, broker)
    number, _shows = broker.announce()
    broker.hand_over(number, SupportsContinuationStreams=True)()
    one = app.wait_for("continue")[0]
    broker.refusals["OpenStream"] = (f"{HANDOFF_ERROR}.ApplicationFailed", "It takes none today.")
    app.do("openStream", one)
    assert app.wait_for("notOpened") == [one, f"{HANDOFF_ERROR}.ApplicationFailed", "It takes none today."]
    # What is no stream is none.
    del broker.refusals["OpenStream"]
    broker.stream = handing(os.open("/dev/null", os.O_RDWR))
    app.do("openStream", one)
    assert app.wait_for("notOpened", 2)[1] == f"{HANDOFF_ERROR}.ConnectionUnavailable"
    broker.silent.add("OpenStream")
    app.do("openStream", one)
    broker.wait_for("OpenStream", 3)
    broker.close()
    assert app.wait_for("notOpened", 3)[1] in (f"{HANDOFF_ERROR}.ConnectionUnavailable", f"{STANDARD_ERROR}.UnknownObject")


def test_what_supports_no_streams_opens_none(app: Driven, broker: ScriptedBroker) -> None:
    """Without support for streams at the origin, the answer is that, without asking anybody."""
    begin(app, broker)
    number, _shows = broker.announce()
    broker.hand_over(number)()
    app.do("openStream", app.wait_for("continue")[0])
    assert app.wait_for("notOpened")[1] in (f"{HANDOFF_ERROR}.StreamsNotSupported", f"{STANDARD_ERROR}.UnknownObject")
    assert not broker.called("OpenStream")


def test_receives_streams(app: Driven, broker: ScriptedBroker) -> None:
    """A stream that another device opens reaches the activity; what is no stream is refused."""
    begin(app, broker, ("set", "n", "supportsContinuationStreams", "yes"), ("takeStreams", "n"))
    ours = broker.give_stream()
    ours.sendall(b"ping")
    ours.shutdown(socket.SHUT_WR)
    ours.setblocking(False)
    assert read(ours) == b"pong"
    assert app.wait_for("stream") == ["n", "ping"]
    with open("/dev/null", "rb") as file, refused("InvalidArgs"):
        broker.give(file.fileno())
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
        with ours, theirs, case(kind.name), refused("InvalidArgs"):
            broker.give(theirs.fileno())


def test_refuses_streams_without_descriptors(app: Driven, broker: ScriptedBroker) -> None:
    """A stream that comes while the application has no descriptor left is refused, and the next one reaches it."""
    if app.language.startswith("Qt"):
        pytest.skip("QtDBus leaves the bus when there is no descriptor for what comes")
    begin(app, broker, ("set", "n", "supportsContinuationStreams", "yes"), ("takeStreams", "n"))
    with few_descriptors(app.process, 0):
        for _time in range(2):
            with refused("InvalidArgs"):
                broker.give_stream()
    with broker.give_stream() as ours:
        ours.sendall(b"ping")
        ours.shutdown(socket.SHUT_WR)
        ours.setblocking(False)
        assert read(ours) == b"pong"


@pytest.mark.parametrize("who", ["a stranger", "the broker"])
def test_a_refused_call_leaves_nothing_open(app: Driven, broker: ScriptedBroker, bus: Machine, who: str) -> None:
    """What comes along with calls that are refused, by strangers and by the broker, is closed as they are answered."""
    path = begin(app, broker)
    caller = broker if who == "the broker" else bus.connect()
    folder = Path(f"/proc/{app.process.pid}/fd")
    with pytest.raises(BusError):
        caller.call(broker.object, "ActivityDelegate.WillSave", GLib.Variant("(o)", ("/nowhere",)), destination=broker.client)
    before = len(list(folder.iterdir()))
    with open("/dev/null", "rb") as file:
        descriptors = Gio.UnixFDList.new()
        for _place in range(16):
            descriptors.append(file.fileno())
        for number in range(60):
            method, arguments = [("ActivityDelegate.DidReceiveStream", GLib.Variant("(oh)", (path, 0))),
                                 ("ActivityDelegate.DidReceiveStream", GLib.Variant("(oh)", ("/nowhere", 20))),
                                 ("ActivityDelegate.WillSave", GLib.Variant("(o)", ("/nowhere",)))][number % 3]
            with pytest.raises(BusError):
                caller.call(broker.object, method, arguments, destination=broker.client, descriptors=descriptors)
    # A library may close what has come once it has sent the answer.
    wait(lambda: len(list(folder.iterdir())) <= before, "the descriptors to be closed")


HOSTILE = {
    "early": GLib.Variant("(sv)", ("date", GLib.Variant("x", -(1 << 63)))),
    "late": GLib.Variant("(sv)", ("date", GLib.Variant("x", (1 << 63) - 1))),
    "day": GLib.Variant("(sv)", ("date", GLib.Variant("s", "x"))),
    "five": GLib.Variant("(sv)", ("set", GLib.Variant("x", 5))),
    "abc": GLib.Variant("(sv)", ("set", GLib.Variant("s", "abc"))),
    "page": GLib.Variant("(sv)", ("url", GLib.Variant("x", 5))),
    "none": GLib.Variant("(sv)", ("null", GLib.Variant("s", "x"))),
    "other": GLib.Variant("(sv)", ("other", GLib.Variant("s", "x"))),
}


def test_what_is_tagged_wrongly_ends_nothing(app: Driven, broker: ScriptedBroker) -> None:
    """A state whose tags do not fit its values is taken or refused, and the application goes on with the next one."""
    begin(app, broker)
    taken = 0
    for key, value in HOSTILE.items():
        number, _shows = broker.announce()
        reply = broker.hand_over(number, UserInfo=GLib.Variant("a{sv}", {"text": GLib.Variant("s", key), key: value}))
        if app.language == "Swift" and key not in ("early", "late"):
            with pytest.raises(BusError):
                reply()
        else:
            assert reply().unpack() == (True,)
            taken += 1
            assert f"text={key}" in app.get(app.wait_for("continue", taken)[0])["state"].split(",")
    number, _shows = broker.announce()
    assert broker.hand_over(number)().unpack() == (True,)


def test_a_large_state_goes_on_at_once(app: Driven, broker: ScriptedBroker) -> None:
    """The largest state, of as many entries as there can be, holds the application up for no more than a moment."""
    begin(app, broker)
    number, _shows = broker.announce()
    state = GLib.Variant("a{sv}", {f"{place:04x}": GLib.Variant("y", 1) for place in range(8000)})
    used = processor_time(app.process.pid)
    assert broker.hand_over(number, UserInfo=state)().unpack() == (True,)
    assert processor_time(app.process.pid) - used < 2


def test_stopping_takes_everything_back(app: Driven, broker: ScriptedBroker) -> None:
    """An application that stops takes its registration back, and nothing is current."""
    begin(app, broker)
    app.do("stop")
    broker.wait_for("UnregisterApplication")
    app.wait_until_available(False)
    app.wait_until("n", current="0")


def test_stopping_does_not_wait_for_the_registration(app: Driven, broker: ScriptedBroker) -> None:
    """An application that stops before the broker has answered its registration takes that back too, and can start again."""
    broker.held = {"RegisterApplication"}
    app.do("start")
    broker.wait_for("RegisterApplication")
    app.do("stop")
    broker.wait_for("UnregisterApplication")
    broker.release()
    assert [call.method for call in broker.calls] == ["RegisterApplication", "UnregisterApplication"]
    app.wait_until_available(False)
    app.do("start")
    app.wait_until_available()
    assert len(broker.called("RegisterApplication")) == 2 and len(broker.called("UnregisterApplication")) == 1


def read(stream: socket.socket) -> bytes:
    """All that comes until the end, without holding up the bus."""
    parts: list[bytes] = []

    def has_ended() -> bool:
        try:
            while some := stream.recv(4096):
                parts.append(some)
        except BlockingIOError:
            return False
        return True

    wait(has_ended, "the end of the stream")
    return b"".join(parts)
