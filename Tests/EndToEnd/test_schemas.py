# SPDX-License-Identifier: LGPL-2.1-or-later
"""The schemas of what goes between programs as JSON. What programs really say is compared with them where tests have it."""

from __future__ import annotations

import re
from typing import Any

from command_manual import keys, section, statuses
from schemas import SCHEMAS, described, is_valid, parsed, schema, valid
from support import SOURCE, case

ID, DEVICE = "0123456789abcdef" * 2, "0123456789abcdef" * 4
FRONT = {"event": "front", "file": "/home/a/b.txt", "line": 3, "column": 1}


def members(part: Any) -> set[str]:
    """All keys that a schema names, but for those of the state of an activity."""
    if isinstance(part, list):
        return set().union(*map(members, part))
    if not isinstance(part, dict):
        return set()
    own = part.get("properties", {})
    return set(own).union(members(list(own.values())), *(members(value) for key, value in part.items() if key != "properties"))


def test_all_are_schemas() -> None:
    """Each file in data/schemas is a schema, and says under which licence it is."""
    files = sorted(file.name.removesuffix(".schema.json") for file in SCHEMAS.glob("*.json"))
    assert files == ["adapter", "command", "editor", "office"]
    for name in files:
        assert schema(name)["$schema"].endswith("/2020-12/schema") and "SPDX" in schema(name)["$comment"]


def test_command() -> None:
    """The schema of the commands has the keys of handoff(1), a part for each command, and refuses what none of them prints."""
    assert members(described("command", "")) == set(keys())
    verbs = {line["$ref"].rpartition("/")[2] for line in schema("command")["anyOf"]} - {"error"}
    # These print nothing but what fails.
    lines = re.findall(r"^\.B[IR]? .*handoff .*", section("COMMANDS"), re.MULTILINE)
    assert verbs | {"carry", "twins"} == set(re.findall(r"handoff ([a-z]+)", " ".join(lines)))
    failure = {"name": "NotFound", "exitStatus": 3, "message": "There is none."}
    assert set(described("command", "failure")["$defs"]["failure"]["properties"]["exitStatus"]["enum"]) == set(statuses()) - {0}
    for sound in ({"error": failure}, [], {"enabled": True}, {"folder": None}, {"event": "brokerEnded"},
                  {"event": "published", "activityId": ID}):
        valid("command", sound)
    for wrong in (None, 1, "x", {}, [{}], {"error": failure | {"exitStatus": 7}}, {"enabled": 1}, {"event": "published", "activityId": ID.upper()}, {"event": "eaten"},
                  {"deviceId": DEVICE, "deviceName": "lap"}, {"deviceId": DEVICE[1:], "deviceName": "lap", "muted": True}):
        with case(wrong):
            assert not is_valid("command", wrong)


def test_adapters() -> None:
    """The descriptions of our adapters are what their schema says, and it refuses what the agent refuses."""
    files = sorted((SOURCE / "data/adapters").glob("*.adapter.in"))
    assert len(files) > 5
    for file in files:
        valid("adapter", parsed(file))
    least = {"Name": "Players", "Applications": "mpv"}
    for sound in ({}, {"Name[de]": "Spieler", "Colour": "red"}, {"BusName": "org.example.Adapter"}, {"BusName": "", "Names": ""},
                  {"Names": "org.mpris.MediaPlayer2.*;org.a-b._c;org.kde.kate-*;" * 5}, {"Applications": ";a;;b.c;"},
                  {"Applications": "a;" * 64}, {"Except": "a.b.*;" * 32}):
        with case(sound):
            valid("adapter", {"Adapter": least | sound, "Other": {"Key": "x"}})
    for wrong in ({"Name": " "}, {"Applications": ""}, {"Applications": "a;" * 65}, {"Applications": "a b"},
                  {"Applications": ".a"}, {"BusName": "players"}, {"BusName": ":1.1"}, {"BusName": "a.1b"},
                  {"Names": "a.b;" * 17}, {"Names": "org.*"}, {"Names": "org.a*"}, {"Names": "a.b.*.c"}, {"Except": "a.b;" * 33},
                  {"Name": 1}):
        with case(wrong):
            assert not is_valid("adapter", {"Adapter": least | wrong})
    for wrong in ({}, {"Adapters": least}, {"Adapter": {"Name": "x"}}, {"Adapter": {"Applications": "mpv"}}, []):
        assert not is_valid("adapter", wrong), wrong


def test_lines_of_editors() -> None:
    """The lines between editors and their adapter that docs/adapters.md names are what their schema says; it refuses others."""
    place = {"file": "/home/a/b.txt", "line": 10_000_000, "column": 1}
    for sound in (FRONT, {"event": "left"}, {"event": "closed"}, {"answer": 1}, {"answer": 1} | place,
                  {"answer": 1, "text": "x", "folder": "/home/a", "name": "Untitled", "line": 1, "column": 1},
                  {"answer": 2, "opened": True}, {"event": "front", "line": 1, "column": 1, "name": "Untitled"}):
        valid("editor", sound, "said")
    for sound in ({"ask": "save", "id": 1}, {"ask": "front", "id": 2}, {"ask": "open", "id": 3, "text": "x"} | place):
        valid("editor", sound, "asked")
    for wrong in ({}, {"event": "front"}, {"event": "gone"}, FRONT | {"line": 0}, FRONT | {"column": 10_000_001},
                  FRONT | {"file": "b.txt"}, FRONT | {"name": "b"}, FRONT | {"line": "3"}, {"answer": 0}, {"answer": "1"},
                  {"answer": 1, "file": "/a"}, {"answer": 1, "opened": "yes"}, {"ask": "save"}, {"ask": "open", "id": 1},
                  {"ask": "open", "id": 1, "file": "/a"}, {"ask": "quit", "id": 1}, []):
        with case(wrong):
            assert not is_valid("editor", wrong)


def test_lines_of_the_office() -> None:
    """The same of the office."""
    front = {"event": "front", "application": "libreoffice-calc", "file": "/a.ods", "sheet": "A", "cell": "C7"}
    save, opened = {"ask": "save", "id": 1, "folder": "/run"}, {"ask": "open", "id": 1, "file": "/a.ods", "mode": "view"}
    for sound in (front, {"event": "left"}, {"event": "closed"}, {"answer": 1}, {"answer": 1, "opened": False},
                  {"answer": 1, "application": "libreoffice-writer", "name": "Untitled 1", "page": 2, "copy": "/run/a.odt"}):
        valid("office", sound, "said")
    for sound in (save | {"file": "/a.ods"}, save | {"name": "Untitled 1"}, opened, opened | {"slide": 3},
                  opened | {"mode": "unsaved", "name": "Plans"}, {"ask": "front", "id": 1}):
        valid("office", sound, "asked")
    for wrong in (front | {"application": "libreoffice-draw"}, front | {"cell": "C0"}, front | {"page": 0}, front | {"name": "x"},
                  {"event": "front", "application": "libreoffice-calc"}, save, save | {"file": "/a", "name": "a"},
                  opened | {"mode": "unsaved"}, opened | {"mode": "hidden"}, {"answer": 1, "copy": "/run/a.odt"}):
        with case(wrong):
            assert not is_valid("office", wrong)
