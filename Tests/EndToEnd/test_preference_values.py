# SPDX-License-Identifier: LGPL-2.1-or-later
"""The preferences with rules of their own: what they may be, how they are kept, and what is refused, in the file and on the
bus."""

from __future__ import annotations

import random
import signal
from typing import Any

import pytest
from gi.repository import GLib
from buses import BROKER, BUS, ROOT, let_pass, wait
from clients import Dock
from support import Machine, refused
from test_preferences import choose, chosen, file, restarted

DEFAULTS = {"NotifyOffers": "arrival", "NotifyContinued": True, "ExcludedApplications": [], "DisabledAdapters": [],
            "DocumentsFolder": ""}
TYPES = {"NotifyOffers": "s", "NotifyContinued": "b", "ExcludedApplications": "as", "DisabledAdapters": "as",
         "DocumentsFolder": "s"}
CHOSEN = {"NotifyOffers": "never", "NotifyContinued": False, "ExcludedApplications": ["com.example.a", "org.b"],
          "DisabledAdapters": ["kate", "mpv-2"], "DocumentsFolder": "~/Meine Dokumente; ü"}


def these(machine: Machine) -> dict[str, Any]:
    return {name: value for name, value in chosen(machine).items() if name in DEFAULTS}


def choose_all(machine: Machine, values: dict[str, Any]) -> None:
    for name, value in values.items():
        choose(machine, name, GLib.Variant(TYPES[name], value))


def test_each_is_kept_and_announced(machine: Machine) -> None:
    """Each of them has its default, is announced when it changes and not when it does not, is kept over a restart, and can
    go back to its default; whatever else is in the file stays."""
    file(machine).write_text("# mine\n[Device]\nName=desk\n[Handoff]\nOther=1\n[Notifications]\nMine=2\n")
    restarted(machine)
    assert these(machine) == DEFAULTS
    dock = Dock(machine)
    choose_all(machine, CHOSEN)

    def announced() -> list[tuple[str, Any]]:
        return [item for event in dock.events if event.member == "PropertiesChanged" and event.path == ROOT
                and event.arguments.unpack()[0] == f"{BROKER}.Preferences"
                for item in event.arguments.unpack()[1].items()]

    wait(lambda: announced() == list(CHOSEN.items()), "the announcements")
    choose_all(machine, CHOSEN)
    choose(machine, "ExcludedApplications", GLib.Variant("as", ["org.b", "com.example.a", "org.b"]))
    # What comes next is what changes next: they come in order.
    name, value = next(iter(CHOSEN.items()))
    choose_all(machine, {name: DEFAULTS[name]})
    choose_all(machine, {name: value})
    changes = [*CHOSEN.items(), (name, DEFAULTS[name]), (name, value)]
    wait(lambda: len(announced()) == len(changes), "the next announcements")
    assert announced() == changes
    restarted(machine)
    assert these(machine) == CHOSEN
    choose_all(machine, DEFAULTS)
    assert these(machine) == DEFAULTS
    text = file(machine).read_text()
    assert all(line in text for line in ("# mine", "Name=desk", "Other=1", "Mine=2"))
    restarted(machine)
    assert these(machine) == DEFAULTS


@pytest.mark.parametrize(("name", "values"), [
    ("NotifyOffers", ["", "Never", "sometimes", "never\n", "x" * 100_000]),
    ("ExcludedApplications", [[""], ["com.a", "a/b"], ["../x"], ["a;b"], ["a b"], ["x" * 256], ["\u202e"], [".a"]]),
    ("DisabledAdapters", [[""], ["a_b"], ["a", "ä"], ["../x"], ["a;b"], ["x" * 65], ["\n"]]),
    ("DocumentsFolder", ["/", "//", "In", "~", "~me/x", "~/../x", "/a/./b", "/a//b", "/a\nb", "/a\u202eb", "file:///a",
                         "/" + "x" * 5000])])
def test_hostile_values_on_the_bus(machine: Machine, name: str, values: list[Any]) -> None:
    """A value that is not legal is refused with InvalidArgs, and nothing has changed, here or in the file."""
    choose_all(machine, CHOSEN)
    before = file(machine).read_bytes()
    for value in values:
        with refused("InvalidArgs"):
            choose(machine, name, GLib.Variant(TYPES[name], value))
    with refused("InvalidArgs", containing=(name,)):
        choose(machine, name, GLib.Variant("i", 1))
    assert these(machine) == CHOSEN and file(machine).read_bytes() == before


def test_too_many(machine: Machine) -> None:
    """As many applications and adapters as there may be are taken, one more is LimitsExceeded, and nothing has changed."""
    for name, limit in (("ExcludedApplications", 256), ("DisabledAdapters", 64)):
        many = sorted(f"com-example-a{number}" for number in range(limit + 1))
        choose(machine, name, GLib.Variant("as", many[:limit]))
        for value in (many, many * 50):
            with refused("LimitsExceeded", containing=(str(limit),)):
                choose(machine, name, GLib.Variant("as", value))
        assert chosen(machine)[name] == many[:limit]
    restarted(machine)
    assert len(chosen(machine)["ExcludedApplications"]) == 256 and len(chosen(machine)["DisabledAdapters"]) == 64


def test_file_edited_by_hand(machine: Machine) -> None:
    """A file that was edited by hand counts from the next start on; what somebody adds while the broker runs is not undone
    when it changes another key."""
    file(machine).write_text("[Handoff]\nExcludedApplications= com.b ;com.a\n[Adapters]\nDisabled=mpv\n"
                             "[Documents]\nFolder=~/In\n[Notifications]\nOffers=always\nContinued=false\n")
    restarted(machine)
    assert these(machine) == {"NotifyOffers": "always", "NotifyContinued": False, "DisabledAdapters": ["mpv"],
                              "ExcludedApplications": ["com.a", "com.b"], "DocumentsFolder": "~/In"}
    file(machine).write_text(file(machine).read_text().replace("Disabled=mpv", "Disabled=mpv;kate"))
    choose(machine, "NotifyOffers", GLib.Variant("s", "never"))
    assert "Disabled=mpv;kate" in file(machine).read_text() and "Offers=never" in file(machine).read_text()
    assert chosen(machine)["DisabledAdapters"] == ["mpv"]
    restarted(machine)
    assert chosen(machine)["DisabledAdapters"] == ["kate", "mpv"]


def test_nonsense_in_the_file(machine: Machine) -> None:
    """What cannot be understood in the file counts as not chosen, the log says so once for each key, nothing else of it is
    lost, and it can be put right over the bus."""
    noise = ";".join(["../x"] * 5000)
    file(machine).write_text(f"[Device]\nName=desk\n[Handoff]\nExcludedApplications={noise};com.a;\n"
                             f"[Adapters]\nDisabled=a\\x\n[Documents]\nFolder=../In\n"
                             f"[Notifications]\nOffers=\u202esometimes\nContinued=perhaps\n")
    restarted(machine)
    assert these(machine) == DEFAULTS | {"ExcludedApplications": ["com.a"]}
    assert chosen(machine)["DeviceName"] == "desk"
    log = machine.log("handoffd")
    for key in ("ExcludedApplications", "[Adapters], Disabled", "[Documents], Folder", "[Notifications], Offers",
                "[Notifications], Continued"):
        assert len([line for line in log.splitlines() if key in line]) == 1, key
    assert "\u202e" not in log
    choose_all(machine, CHOSEN)
    restarted(machine)
    assert these(machine) == CHOSEN


@pytest.mark.parametrize("value", ["com.a;\\x", ";".join(f"com.a{number}" for number in range(257))])
def test_exclusions_that_cannot_be_told(machine_list: list[Machine], value: str) -> None:
    """If it cannot be told which applications the user keeps out, the broker does not start, and says which key is wrong."""
    machine = Machine("desk")
    machine_list.append(machine)
    file(machine).write_text(f"[Handoff]\nExcludedApplications={value}\n")
    process = machine.start("handoffd")
    wait(lambda: process.poll() is not None, "the end of the broker")
    machine.processes.pop("handoffd")
    assert process.returncode == 1 and "ExcludedApplications" in machine.log("handoffd")


def test_written_at_once(machine: Machine) -> None:
    """What several programs change at the same time is all in the file afterwards."""
    sessions = [machine.connect() for _ in range(len(CHOSEN))]
    for turn in range(10):
        values = CHOSEN if turn % 2 == 0 else {**DEFAULTS, "NotifyOffers": "always"}
        answers = []
        for session, (name, value) in zip(sessions, values.items()):
            arguments = GLib.Variant("(ssv)", (f"{BROKER}.Preferences", name, GLib.Variant(TYPES[name], value)))
            answers.append(session.begin(ROOT, f"{BUS}.Properties.Set", arguments))
        for answer in answers:
            answer()
        assert these(machine) == values
    restarted(machine)
    assert these(machine) == values


def test_killed_while_writing(machine: Machine) -> None:
    """When the broker is killed while it writes, the file is as it was before or as it is afterwards, and nothing else in it
    is lost."""
    choose_all(machine, CHOSEN)
    numbers, before = random.Random(1), CHOSEN["ExcludedApplications"]
    for turn in range(6):
        names = [[f"com.example.a{turn}x{number}" for number in range(count)] for count in range(1, 200, 5)]
        for value in names:
            machine.session.begin(ROOT, f"{BUS}.Properties.Set", GLib.Variant("(ssv)", (
                f"{BROKER}.Preferences", "ExcludedApplications", GLib.Variant("as", value))))
        # Somewhere in the middle of it.
        let_pass(numbers.random() * 0.05)
        machine.kill("handoffd", signal.SIGKILL)
        written = GLib.KeyFile()
        written.load_from_file(str(file(machine)), GLib.KeyFileFlags.NONE)
        assert written.get_string("Documents", "Folder") == CHOSEN["DocumentsFolder"]
        machine.start_broker()
        now = these(machine)
        excluded = now.pop("ExcludedApplications")
        assert excluded in [before, *(sorted(value) for value in names)]
        assert now == {name: value for name, value in CHOSEN.items() if name != "ExcludedApplications"}
        before = excluded


def test_file_that_cannot_be_written(machine: Machine) -> None:
    """Where the file cannot be written the answer says why, and nothing has changed."""
    choose_all(machine, CHOSEN)
    file(machine).unlink()
    file(machine).mkdir()
    for name, value in DEFAULTS.items():
        with refused("Failed", containing=("handoff.conf",)):
            choose(machine, name, GLib.Variant(TYPES[name], value))
    assert these(machine) == CHOSEN
