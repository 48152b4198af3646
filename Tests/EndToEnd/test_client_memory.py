# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clients keep no memory that is the application's, and give none of theirs away."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from buses import HANDOFF_ERROR, BusError, wait
from conforming import ID, broker, bus  # noqa: F401  pylint: disable=unused-import
from driven import CLIENTS, DRIVERS, compile_qt, missing
from gi.repository import GLib
from scripted_broker import TYPE, ScriptedBroker
from support import Machine
from test_client_examples import Example

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
# It is compiled for long, and both versions run the same lines.
VERSIONS = [5, pytest.param(6, marks=pytest.mark.long)]
REFUSAL = (f"{HANDOFF_ERROR}.InvalidURL", "It is not absolute.")


@pytest.fixture(params=VERSIONS)
def begin(bus: Machine, request: pytest.FixtureRequest) -> Iterator[Callable[[str], Example]]:
    """Starts the application whose function of this name deletes the activity that calls it, and checks how it ends."""
    version = request.param
    if missing(f"Qt {version}"):
        pytest.skip(missing(f"Qt {version}"))
    program = compile_qt(DRIVERS / "deleting.cpp", f"deleting-qt{version}", version, "-g", "-fsanitize=address")
    started: list[Example] = []

    def start(which: str) -> Example:
        started.append(Example(bus, [str(program), ID, TYPE, which]))
        return started[-1]

    yield start
    for example in started:
        wait(lambda: "deleted by" in example.log.read_text() or example.process.poll() is not None, "the function to be called")
        running = example.process.poll() is None
        example.end()
        said = example.log.read_text(errors="replace")
        assert running and "AddressSanitizer" not in said, said


def test_a_question_may_delete_its_activity(begin: Callable[[str], Example], broker: ScriptedBroker) -> None:
    """In C++, the function that is asked for the state may delete the activity: the broker is refused it."""
    begin("willSave")
    broker.wait_for("BecomeCurrent")
    with pytest.raises(BusError, match="ended"):
        broker.save()()
    broker.wait_for("Invalidate")
    # The application goes on.
    broker.announce()


@pytest.mark.parametrize("which", ["wasContinued", "stream", "continue"])
def test_news_may_delete_an_activity(begin: Callable[[str], Example], broker: ScriptedBroker, which: str) -> None:
    """In C++, the functions that are told of a continuation and of a stream may delete the activity, and take themselves
    away."""
    begin(which)
    path = broker.wait_for("BecomeCurrent").path
    if which == "wasContinued":
        broker.ask("ActivityDelegate", "WasContinued", GLib.Variant("(oa{sv})", (path, broker.context(1))))()
    elif which == "stream":
        broker.give_stream().close()
    else:
        number, _shows = broker.announce()
        assert broker.hand_over(number)().unpack() == (True,)
    broker.announce()


@pytest.mark.parametrize("when", ["it is created", "it is updated", "it has ended", "its state is too deep", "a save fails"])
def test_a_failure_may_delete_its_activity(begin: Callable[[str], Example], broker: ScriptedBroker, when: str) -> None:
    """In C++, the function that is told of a failure may delete the activity, whatever has failed."""
    broker.refusals["CreateActivity" if when == "it is created" else "Update"] = REFUSAL
    example = begin("failure")
    if when == "it is created":
        broker.wait_for("CreateActivity")
    else:
        broker.wait_for("BecomeCurrent")
        if when == "a save fails":
            with pytest.raises(BusError, match="onWillSave has thrown: nokey"):
                broker.save()()
        else:
            example.type({"it has ended": "end", "its state is too deep": "deep"}.get(when, "set"))
        broker.wait_for("Invalidate")
    broker.announce()


@pytest.mark.parametrize(("language", "lines"), [
    ("Python", f"""
import sys
sys.path.insert(0, {str(CLIENTS / "python")!r})
import handoff
application = handoff.HandoffApplication("org.example.Notes")
one, other = handoff.UserActivity("one"), handoff.UserActivity("other")
one.keywords.append("x")
one.required_user_info_keys.append("x")
one.user_info["x"] = "x"
print(other.keywords, other.required_user_info_keys, list(other.user_info))
"""),
    ("GJS", f"""
import {{HandoffApplication, UserActivity}} from 'file://{CLIENTS}/gjs/handoff.js';
const application = new HandoffApplication('org.example.Notes');
const [one, other] = [new UserActivity('one'), new UserActivity('other')];
one.keywords.push('x');
one.requiredUserInfoKeys.push('x');
one.userInfo.x = 'x';
print(...[other.keywords, other.requiredUserInfoKeys, Object.keys(other.userInfo)].map(list => JSON.stringify(list)));
""")], ids=["Python", "GJS"])
def test_a_default_is_nobody_elses(language: str, lines: str, tmp_path: Path) -> None:
    """What is done to a list of an activity, which was never set, is done to no other activity."""
    if missing(language):
        pytest.skip(missing(language))
    program = tmp_path / "program"
    program.write_text(lines)
    run = subprocess.run([*(["/usr/bin/python3"] if language == "Python" else ["gjs", "-m"]), str(program)],
                         capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "[] [] []", run.stderr
