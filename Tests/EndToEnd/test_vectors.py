# SPDX-License-Identifier: LGPL-2.1-or-later
"""The values of the protocol in docs/vectors, computed anew from what docs/protocol.md says, with nothing but Python's library.
This shares no code with Handoff, nor with the other tests."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VECTORS = Path(__file__, "../../../docs/vectors").resolve()
PAIRING_FAILED = "org.example.Handoff.Error.PairingFailed"


def read(name: str) -> dict[str, Any]:
    return json.loads((VECTORS / f"{name}.json").read_text())


def unhex(vector: dict[str, Any], *names: str) -> Iterator[bytes]:
    """The bytes under these names."""
    return (bytes.fromhex(vector[name]) for name in names)


def digest(*parts: bytes) -> bytes:
    """H of the protocol."""
    return hashlib.sha256(b"".join(parts)).digest()


def authenticated(key: bytes, *parts: bytes) -> bytes:
    """M of the protocol."""
    return hmac.digest(key, b"".join(parts), "sha256")


def trust_key(one: bytes, other: bytes) -> bytes:
    return digest(b"handoff trust 1", min(one, other), max(one, other))


def code_of(*parts: bytes) -> str:
    return f"{int.from_bytes(digest(b'handoff pairing 1', *parts)[:8], 'big') % 1_000_000:06}"


def test_secrets() -> None:
    """K, what names it, the key of Trust and the port at places are what their formulas give."""
    vectors = read("secrets")
    for vector in vectors["secrets"]:
        exporter, client, server = unhex(vector, "EKM", "client", "server")
        key = authenticated(exporter, b"handoff secret 1", client, server)
        assert (key.hex(), digest(b"handoff secret id 1", key)[:8].hex()) == (vector["K"], vector["Secret"])
    for vector in vectors["trust"]:
        assert trust_key(*unhex(vector, "one", "other")).hex() == vector["key"]
    for vector in vectors["portsOfPlaces"]:
        number = int.from_bytes(digest(b"handoff place port 1", *unhex(vector, "id"))[:4], "big")
        assert 45700 + number % 100 == vector["port"]
    assert [len(vectors[name]) for name in ("secrets", "trust", "portsOfPlaces")] == [3, 3, 3]


def destination(host: str, port: int) -> bytes:
    """A place, or A of a knock: an address of 16 bytes and a port."""
    address = ipaddress.ip_address(host.partition("%")[0])
    whole = address.packed if address.version == 6 else b"\0" * 10 + b"\xff\xff" + address.packed
    return whole + port.to_bytes(2, "big")


def is_place(place: bytes) -> bool:
    """Whether one can get there from another network."""
    if len(place) != 18 or not int.from_bytes(place[16:], "big"):
        return False
    address = ipaddress.IPv6Address(place[:16])
    known = address.ipv4_mapped or address
    if isinstance(known, ipaddress.IPv4Address) and (known.packed[0] == 0 or known.packed[0] >= 224):
        return False
    return not (known.is_unspecified or known.is_loopback or known.is_link_local or known.is_multicast)


def test_places() -> None:
    """What is a place, and how it is written, is as the protocol says."""
    places = read("secrets")["places"]
    for vector in places:
        [place] = unhex(vector, "bytes")
        assert vector["address"] is None or destination(vector["address"], vector["port"]) == place
        assert is_place(place) == vector["isPlace"], vector
    assert {vector["isPlace"] for vector in places} == {True, False}


def test_codes() -> None:
    """The commitment and the six digits are what their formulas give, with leading zeros."""
    codes = read("pairing")["codes"]
    for vector in codes:
        session, (na, nb) = b"".join(unhex(vector, "EKM", "I", "R")), unhex(vector, "Na", "Nb")
        assert digest(b"handoff commit 1", session, na).hex() == vector["C"]
        assert code_of(session, na, nb) == vector["code"]
    assert any(vector["code"].startswith("0") for vector in codes)


class Dialogue:
    """One side of an attempt at pairing: what it does, step by step. Both ids and EKM are those of the codes."""

    def __init__(self, role: str, vector: dict[str, Any]) -> None:
        self.session = b"".join(unhex(vector, "EKM", "I", "R"))
        self.na, self.nb = unhex(vector, "Na", "Nb")
        self.role, self.state, self.commitment = role, "idle", b""
        self.said: set[str] = set()

    def step(self, step: dict[str, Any]) -> dict[str, Any]:
        """What comes of a step, beside what it was."""
        given = bytes.fromhex(step.get("bytes", ""))
        if "call" in step:
            done = self.called(step["call"], given)
        elif "reply" in step:
            done = self.answered(step["reply"], given)
        else:
            done = self.user(step["user"])
        if self.state == "comparing" and self.said != {"we", "they"}:
            code = code_of(self.session, self.na, self.nb)
            done["code"] = f"{code[:3]} {code[3:]}"
        return done

    def refuse(self) -> dict[str, Any]:
        was, self.state = self.state, "over"
        return {"error": PAIRING_FAILED} | ({"closes": True} if was != "over" else {})

    def called(self, member: str, given: bytes) -> dict[str, Any]:
        if member == "Cancel":
            was, self.state = self.state, "over" if self.state != "idle" else "idle"
            return {"closes": True} if was not in ("idle", "over") else {}
        if member == "Request" and self.role == "I" and self.state in ("idle", "committed"):
            return self.commit() if self.state == "idle" else {}
        if member == "Commit" and self.role == "R" and self.state in ("idle", "asked") and len(given) == 32:
            self.state, self.commitment = "answered", given
            return {"answer": self.nb.hex()}
        if member == "Reveal" and self.state == "answered" and len(given) == 32 \
                and digest(b"handoff commit 1", self.session, given) == self.commitment:
            self.state = "comparing"
            return {}
        if member == "Confirm" and self.state == "comparing" and "they" not in self.said:
            self.said.add("they")
            return self.stored()
        return self.refuse()

    def answered(self, member: str, given: bytes) -> dict[str, Any]:
        if member == "Reveal":
            self.state = "comparing"
            return {}
        if len(given) != 32:
            self.state = "over"
            return {"closes": True}
        self.state = "revealed"
        return {"calls": "Reveal", "argument": self.na.hex()}

    def user(self, what: str) -> dict[str, Any]:
        if what == "pairs":
            if self.role == "I":
                return self.commit()
            self.state = "asked"
            return {"calls": "Request"}
        if what == "no":
            self.state = "over"
            return {"calls": "Cancel", "closes": True}
        self.said.add("we")
        return {"calls": "Confirm"} | self.stored()

    def commit(self) -> dict[str, Any]:
        self.state = "committed"
        return {"calls": "Commit", "argument": digest(b"handoff commit 1", self.session, self.na).hex()}

    def stored(self) -> dict[str, Any]:
        return {"stores": True} if self.said == {"we", "they"} else {}


def test_dialogues() -> None:
    """Each dialogue of pairing goes as the protocol says, and what is wrong in one ends it."""
    pairing = read("pairing")
    for vector in pairing["dialogues"]:
        dialogue = Dialogue(vector["role"], pairing["codes"][0])
        for step in vector["steps"]:
            given = {key: step[key] for key in ("call", "reply", "user", "bytes") if key in step}
            assert given | dialogue.step(step) == step, vector["name"]
    outcomes = [step for vector in pairing["dialogues"] for step in vector["steps"]]
    assert sum("stores" in step for step in outcomes) == 3 and sum("error" in step for step in outcomes) > 10


def entry(kind: str, key: bytes, exchange: bytes, dialler: bytes, to: bytes = b"") -> bytes:
    """What a knock shows."""
    label = b"handoff knock 2" if kind == "link" else b"handoff stream 2"
    return authenticated(key, label, exchange, dialler, to)[:16]


def test_greetings_and_entries() -> None:
    """Greetings, where a knock goes and what it shows are as the protocol says."""
    opening = read("opening")
    for vector in opening["greetings"]:
        [greeting] = unhex(vector, "bytes")
        is_ours = greeting[:8] == b"HANDOFF1" and len(greeting) == 24
        assert vector == {"bytes": greeting.hex()} | ({"S": greeting[8:].hex()} if is_ours else {"closes": True})
    for vector in opening["destinations"]:
        if vector["host"] is None:
            assert vector["A"] == bytes(18).hex()
        elif vector["A"] is None:
            assert vector["host"] == "lap.local"
        else:
            assert destination(vector["host"], vector["port"]).hex() == vector["A"]
    for vector in opening["entries"]:
        key, listener, own, dialler = unhex(vector, "key", "S", "D", "dialler")
        to = bytes.fromhex(vector.get("A", ""))
        shown = entry(vector["kind"], key, listener + own, dialler, to)
        assert shown.hex() == vector["entry"]
        assert vector["kind"] == "link" or (b"\x02\x01" + own + shown).hex() == vector["knock"]
    assert {vector["kind"] for vector in opening["entries"]} == {"link", "stream"}


def test_knocks() -> None:
    """Who is let in by a knock, and which knocks close the connection, is as the protocol says."""
    opening = read("opening")
    for vector in opening["heads"]:
        [head] = unhex(vector, "bytes")
        kind, count = {1: "link", 2: "stream"}.get(head[0]), head[1]
        if kind and 1 <= count <= (124 if kind == "link" else 1):
            assert vector == {"bytes": head.hex(), "kind": kind, "entries": count, "D": head[2:].hex()}
        else:
            assert vector == {"bytes": head.hex(), "closes": True}
    found = []
    for vector in opening["knocks"]:
        listener, knock, reached = unhex(vector, "S", "knock", "reachedAt")
        shown = {knock[start:start + 16] for start in range(18, len(knock), 16)}
        assert knock[0] == 1 and len(knock) == 18 + 16 * knock[1]
        found.append(next((
            known["id"] for known in vector["knows"] for to in (reached, bytes(18))
            if entry("link", bytes.fromhex(known["key"]), listener + knock[2:18], bytes.fromhex(known["id"]), to) in shown), None))
        assert found[-1] == vector["device"], vector["name"]
    assert None in found and len(set(found)) == 2


def tag(key: bytes, device: bytes, instance: bytes, port: int, hour: int) -> bytes:
    return authenticated(key, b"handoff tag 1", device, instance, port.to_bytes(2, "big"), hour.to_bytes(8, "big"))[:8]


def instance_of(label: str) -> str | None:
    """The instance that a label names."""
    try:
        found = base64.b32decode(label + "======", casefold=True)
    except ValueError:
        return None
    return found.hex() if base64.b32encode(found).decode().rstrip("=") == label.upper() and len(label) == 26 else None


def test_tags() -> None:
    """The labels and tags of announcements are what their formulas give, and a device is recognized an hour early or late."""
    announcements = read("announcements")
    for vector in announcements["labels"]:
        assert instance_of(vector["label"]) == vector["instance"], vector
    assert all(vector["seconds"] // 3600 == vector["hour"] for vector in announcements["hours"])
    for vector in announcements["tags"]:
        key, device, instance = unhex(vector, "K", "id", "instance")
        assert tag(key, device, instance, vector["port"], vector["hour"]).hex() == vector["tag"]
    for vector in announcements["sets"]:
        device, instance, tags = unhex(vector, "id", "instance", "tags")
        peers, count = vector["peers"], next(count for count in (8, 16, 31, 62) if count >= vector["peers"])
        own = [tag(bytes([number]) * 32, device, instance, vector["port"], vector["hour"]) for number in range(peers)]
        fillers = [bytes([4 * number + 1 & 0xFF]) * 8 for number in range(count - peers)]
        assert b"".join(sorted(own + fillers)) == tags
    for vector in announcements["recognized"]:
        key, instance = unhex(vector, "K", "instance")
        hours = range(vector["hour"] - 1, vector["hour"] + 2)
        found = [peer for peer in vector["peers"] if
                 {tag(key, bytes.fromhex(peer), instance, vector["port"], hour).hex() for hour in hours} & set(vector["tags"])]
        assert (found or [None])[0] == vector["device"], vector
    assert [vector["device"] is None for vector in announcements["recognized"]] == [True, False, False, False, True]


def test_records() -> None:
    """What a TXT record says is read as the protocol says."""
    records = read("announcements")["records"]
    for vector in records:
        values: dict[str, bytes] = {}
        for string in map(bytes.fromhex, vector["strings"]):
            assert len(string) <= 255
            key, equals, value = string.partition(b"=")
            if equals:
                values.setdefault(key.decode().lower(), value)
        understood = values.get("v") == b"1"
        assert understood == vector["isUnderstood"], vector["name"]
        rows = [values.get(key, b"")[:31 * 8] for key in ("t", "t1")] if understood else []
        assert [row[start:start + 8].hex() for row in rows for start in range(0, len(row) - 7, 8)] == vector["tags"]
        try:
            name = values.get("n", b"").decode() if understood else ""
        except UnicodeDecodeError:
            name = ""
        # What steers a terminal, or turns the direction of text, is shown as a replacement character.
        assert "".join("\ufffd" if letter in "\x1b\u202e" else letter for letter in name) == vector["shownName"]
    assert {vector["isUnderstood"] for vector in records} == {True, False}


def received(stream: bytes) -> tuple[bytes, str]:
    """The data in a direction of a stream, behind which the connection ends, and how it has ended."""
    data = b""
    while len(stream) >= 4:
        size, stream = int.from_bytes(stream[:4], "big"), stream[4:]
        if size == 0:
            return data, "broken" if stream else "ended"
        if size > 262144:
            break
        data, stream = data + stream[:size], stream[size:]
    return data, "broken"


def test_streams() -> None:
    """What comes by streams, and whether it has come in order, is as the protocol says; so are the bytes of documents."""
    frames = read("frames")
    assert frames["ready"] == "01"
    for vector in frames["streams"]:
        data, result = received(*unhex(vector, "bytes"))
        assert (data.hex(), result) == (vector["data"], vector["result"]), vector["name"]
    assert {vector["result"] for vector in frames["streams"]} == {"ended", "broken"}
    for vector in frames["documents"]:
        document, stream = unhex(vector, "document", "stream")
        assert digest(document).hex() == vector["digest"]
        assert received(stream) == (document + digest(document), "ended")
