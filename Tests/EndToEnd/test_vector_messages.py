# SPDX-License-Identifier: LGPL-2.1-or-later
"""The messages in docs/vectors, read and judged by another implementation of docs/protocol.md."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from test_vectors import VECTORS, is_place, read
from vector_messages import Malformed, Message, single_types

OURS, BUS = "org.example.Handoff", "org.freedesktop.DBus.Error."
STRANGERS = (f"{OURS}.Pairing.", f"{OURS}.Link.Hello")
MOST, MOST_STATE = 16384, 327680
ID = re.compile("[0-9a-f]{32}")
HELLO = {"Paired": "b", "Secret": "ay", "Port": "q", "Places": "aay", "Name": "s", "Type": "s"}


def signatures() -> dict[str, tuple[str, str]]:
    """What each member takes and returns, by the interface files."""
    found = {}
    for name in ("Link", "Pairing", "Peer"):
        interface = ElementTree.parse(VECTORS / f"../../data/dbus-1/interfaces/{OURS}.{name}.xml").find("interface")
        for method in interface.findall("method"):
            sides = ["".join(arg.get("type") for arg in method.findall("arg") if arg.get("direction") == side)
                     for side in ("in", "out")]
            found[f"{OURS}.{name}.{method.get('name')}"] = (sides[0], sides[1])
    return found


MEMBERS = signatures()


def test_calls() -> None:
    """Each call of a link is read as what it says it is: member, arguments and their types, all members at least once."""
    calls = read("messages")["calls"]
    for vector in calls:
        message = Message(bytes.fromhex(vector["bytes"]))
        assert (message.kind, message.method, message.serial) == ("call", vector["method"], vector["serial"])
        assert message.fields["path"] == "/" and message.wants_reply and len(message.data) == message.length
        assert message.signature == MEMBERS[message.method][0] and message.arguments() == vector["arguments"]
    absent = {f"{OURS}.Peer.OpenStream", f"{OURS}.Peer.OpenDocument"}
    assert {vector["method"] for vector in calls} == set(MEMBERS) - absent


def test_answers() -> None:
    """So is each answer, and what a reply holds is of the types of its member."""
    answers = read("messages")["answers"]
    for vector in answers:
        message = Message(bytes.fromhex(vector["bytes"]))
        assert (message.kind, message.serial, message.fields["replySerial"]) == \
            (vector["kind"], vector["serial"], vector["replySerial"])
        assert message.fields.get("error") == vector.get("error") and message.arguments() == vector["arguments"]
        assert message.signature == (MEMBERS[vector["answers"]][1] if vector["kind"] == "reply" else "s")
    returned = {method for method, (_, output) in MEMBERS.items() if output and not method.startswith(f"{OURS}.Peer.Open")}
    assert returned <= {vector["answers"] for vector in answers if vector["kind"] == "reply"}


def test_byte_orders() -> None:
    """A message in the other byte order says the same."""
    messages = read("messages")
    [vector] = messages["bigEndian"]
    message = Message(bytes.fromhex(vector["bytes"]))
    assert message.order == ">" and message.method == vector["method"]
    assert message.arguments() == messages["calls"][0]["arguments"]


def outcome(vector: dict[str, Any]) -> dict[str, Any]:
    """What a device does with what it is sent on a link with a peer, or with a stranger."""
    try:
        message = Message(bytes.fromhex(vector["bytes"]))
        limit = MOST_STATE if message.method == f"{OURS}.Peer.Park" else MOST
        if message.kind != "call" or message.length > limit:
            raise Malformed("no call, too long, or an answer to nothing")
        if {"destination", "sender", "descriptors"} & set(message.fields) or message.fields["path"] != "/":
            raise Malformed("it is addressed, or has a descriptor")
        if "interface" not in message.fields or not message.wants_reply:
            raise Malformed("it names no interface, or wants no reply")
        arguments = [one["data"] for one in message.arguments()]
        if vector["comesFirst"] and message.method != f"{OURS}.Link.Hello":
            raise Malformed("it comes before Hello")
    except Malformed:
        return {"closes": True}
    return answer(message, arguments, vector["from"] == "peer")


def answer(message: Message, arguments: list[Any], is_peer: bool) -> dict[str, Any]:
    interface = message.fields["interface"]
    if interface not in (f"{OURS}.Link", f"{OURS}.Pairing", f"{OURS}.Peer"):
        return {"error": BUS + "AccessDenied"}
    if message.method not in MEMBERS:
        return {"error": BUS + "UnknownMethod"}
    if not is_peer and not message.method.startswith(STRANGERS):
        return {"error": BUS + "AccessDenied"}
    if message.signature != MEMBERS[message.method][0]:
        return {"error": BUS + "InvalidArgs"}
    member = message.method.removeprefix(OURS + ".")
    if member.startswith("Pairing."):
        # No dialogue goes on in these vectors, and no commitment in them has 32 bytes.
        return {"error": f"{OURS}.Error.PairingFailed", "closes": True}
    error = argument_error(member, arguments)
    if not error:
        return {"answered": True}
    return {"error": error} | ({"closes": True} if member == "Link.Hello" else {})


def argument_error(member: str, arguments: list[Any]) -> str:
    """The error that arguments of the right types are answered with; empty for none."""
    wrong = BUS + "InvalidArgs"
    if member == "Link.Hello":
        return hello_error(*arguments)
    if member in ("Peer.OpenStream", "Peer.OpenDocument"):
        return BUS + "NotSupported"
    if member in ("Link.Introduce", "Link.Retract"):
        ids = [one[0] if member == "Link.Introduce" else one for one in arguments[0]]
        places = [one[3] for one in arguments[0]] if member == "Link.Introduce" else []
        is_right = len(ids) <= 61 and all(len(one) == 64 for one in ids) and all(
            len(some) <= 4 and all(is_place(bytes.fromhex(place)) for place in some) for some in places)
        return "" if is_right else wrong
    if member in ("Link.OpenStream", "Link.OpenDocument"):
        # The side that is asked here was dialled, so it makes the token.
        return wrong if arguments[1] or not ID.fullmatch(arguments[0]) else ""
    if member == "Peer.ClipboardChanged":
        sent = arguments[0].get("Sent", {"type": "s", "data": "0" * 32})
        return "" if sent["type"] == "s" and ID.fullmatch(sent["data"]) else wrong
    if member == "Peer.Offer":
        if any(arguments[1].get(key, {"type": "x"})["type"] != "x" for key in ("Since", "Used")):
            return wrong
        return BUS + "LimitsExceeded" if "x" * 4096 in str(arguments[1]) else ""
    if member == "Peer.Invite":
        return f"{OURS}.Error.OfferWithdrawn"
    return "" if not arguments or ID.fullmatch(arguments[0]) else wrong


def hello_error(version: int, about: dict[str, Any]) -> str:
    wrong = BUS + "InvalidArgs"
    if any(key in HELLO and value["type"] != HELLO[key] for key, value in about.items()):
        return wrong
    places = about.get("Places", {"data": []})["data"]
    if len(about.get("Secret", {"data": ""})["data"]) not in (0, 16) or len(places) > 8:
        return wrong
    if not all(is_place(bytes.fromhex(place)) for place in places):
        return wrong
    return "" if version else BUS + "NotSupported"


def test_what_should_not_be_sent() -> None:
    """What a device does with what it should not be sent is what the protocol says: an answer, an error, or the end of the link."""
    sent = read("links")["sent"]
    for vector in sent:
        expected = {key: vector[key] for key in ("answered", "error", "closes") if key in vector}
        assert outcome(vector) == expected, vector["name"]
    names = [vector["name"] for vector in sent]
    assert len(names) == len(set(names)) > 80


def test_types_are_checked() -> None:
    """The reader of this test refuses types that are none."""
    assert single_types("a{sv}(ayss)t") == ["a{sv}", "(ayss)", "t"]
    for wrong in ("a", "()", "(", "a{vs}", "a{s}", "a{sv", "z", "}"):
        try:
            single_types(wrong)
        except Malformed:
            continue
        raise AssertionError(wrong)
