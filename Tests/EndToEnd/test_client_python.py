# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the client in Python has that those of other languages have not: a state that can be changed in place, and no types."""

from __future__ import annotations

import subprocess

from driven import CLIENTS
from support import Machine

BEFORE = f"""
import sys
sys.path.insert(0, "{CLIENTS / 'python'}")
from gi.repository import GLib
import handoff

def until(condition):
    while not condition():
        GLib.MainContext.default().iteration(True)

def raised(body):
    try:
        body()
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

notes = handoff.HandoffApplication("org.example.Notes", ["org.example.notes.edit"], team=None)
notes.start()
"""


def printed(machine: Machine, text: str) -> list[str]:
    """What a program of these lines prints, in lines."""
    run = subprocess.run(["/usr/bin/python3", "-c", BEFORE + text], env=machine.environment, capture_output=True, text=True,
                         timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_a_state_that_is_changed_in_place(machine: Machine) -> None:
    """What is changed in a state that was read is sent, also deep within it; what was continued keeps its exact types as long
    as it is only read."""
    assert printed(machine, """
editing = handoff.UserActivity("org.example.notes.edit", title="Shopping")
editing.user_info = {"text": "milk", "list": [1]}
editing.become_current()
until(lambda: editing.is_current)
editing.user_info["text"] = "bread"
editing.user_info["list"].append(2)
until(lambda: editing._confirmed["UserInfo"].unpack() == {"text": "bread", "list": [1, 2]})
exact = GLib.Variant("a{sv}", {"number": GLib.Variant("i", 7)})
editing._note("UserInfo", exact)
print(editing.user_info["number"])
notes._flush()
print(editing._properties["UserInfo"].equal(exact), bool(editing._changed))
""") == ["7", "True False"]


def test_names_and_values_that_are_none(machine: Machine) -> None:
    """A misspelt name, a text where a list belongs, and a value of another type are errors where they are set; the type that
    the broker has chosen is shown."""
    assert printed(machine, """
editing = handoff.UserActivity(title="Shopping")
print(raised(lambda: setattr(editing, "titel", "x")))
print(raised(lambda: setattr(notes, "on_contiune", print)))
print(raised(lambda: setattr(editing, "keywords", "milk")))
print(raised(lambda: setattr(editing, "needs_save", 1)))
class Mine(handoff.UserActivity):
    pass
Mine(title="Mine").window = 1
editing.become_current()
until(lambda: editing.activity_type)
print(editing.activity_type)
""") == ["AttributeError: UserActivity has no 'titel'", "AttributeError: HandoffApplication has no 'on_contiune'",
         "TypeError: keywords is a list of texts, not 'milk'", "TypeError: needs_save is true or false, not 1",
         "org.example.notes.edit"]
