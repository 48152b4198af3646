# SPDX-License-Identifier: LGPL-2.1-or-later
"""A command that continues activities: handoff receive --run."""

from __future__ import annotations

import json
import shlex
import signal
import time
from pathlib import Path

import pytest
from buses import wait
from support import Machine
from test_command import done, listed
from test_script_command import OPTIONS, in_group_of, publish
from test_stream_command import Shell, folder  # noqa: F401

Machines = tuple[Machine, Machine]


def test_commands_get_nothing_of_ours(machines: Machines, folder: Path) -> None:  # noqa: F811
    """A command has the three standard descriptors and no other, no signal is ignored or blocked, and what comes from elsewhere
    is never part of it."""
    desk, lap = machines
    look = "ls -l /proc/self/fd > fds; grep Sig /proc/self/status > signals; echo \"$HANDOFF_TITLE\" > title; cat > line"
    receiver = Shell(lap, f"exec 7</dev/zero; exec handoff receive {OPTIONS} --once --run {shlex.quote(look)}", folder)
    receiver.until("Waiting")
    title = "$(touch hacked) `touch hacked`; touch hacked '\" |&"
    publisher = publish(desk, folder, "--title", title, "--user-info", "x=$(touch hacked)")
    done(lap.run("handoff", "continue", listed(lap, title)["activityId"]))
    assert receiver.end() == 0, receiver.text
    numbers = [line.split(" -> ")[0].split()[-1] for line in (folder / "fds").read_text().splitlines() if " -> " in line]
    # The fourth one is that of the folder itself.
    assert numbers == ["0", "1", "2", "3"], (folder / "fds").read_text()
    signals = dict(line.split(":\t") for line in (folder / "signals").read_text().splitlines())
    # Two are the C library's own.
    assert int(signals["SigBlk"], 16) == 0 and int(signals["SigIgn"], 16) & ~(3 << 31) == 0, signals
    assert (folder / "title").read_text() == title + "\n" and not (folder / "hacked").exists()
    assert json.loads((folder / "line").read_text())["title"] == title
    publisher.kill(signal.SIGINT)
    publisher.end()


def receiving(lap: Machine, folder: Path, command: str, *options: str) -> Shell:  # noqa: F811
    receiver = Shell(lap, f"exec handoff receive {OPTIONS} {' '.join(options)} --run {shlex.quote(command)}", folder)
    receiver.until("Waiting")
    return receiver


def test_large_activity_for_a_command(machines: Machines, folder: Path) -> None:  # noqa: F811
    """A command gets all of a large state, and one that reads nothing of it is no problem."""
    desk, lap = machines
    text = "x" * 120_000
    publisher = publish(desk, folder, "--user-info", f"text={text}")
    receiver = receiving(lap, folder, "cat > /dev/stdout > line", "--once")
    done(lap.run("handoff", "continue", listed(lap, "Note")["activityId"]))
    assert receiver.end() == 0, receiver.text
    assert json.loads((folder / "line").read_text())["userInfo"] == {"text": text}
    receiver = receiving(lap, folder, "true", "--count", "2")
    for _ in range(2):
        done(lap.run("handoff", "continue", listed(lap, "Note")["activityId"]))
    assert receiver.end() == 0, receiver.text
    publisher.kill(signal.SIGINT)
    publisher.end()


def test_failing_command_of_receive(machines: Machines, folder: Path) -> None:  # noqa: F811
    """When the command of --run fails, the activity was not continued: the user is told what it has said last, the offer stays,
    and it does not count."""
    desk, lap = machines
    publisher = publish(desk, folder, "--continued", "touch gone")
    receiver = receiving(lap, folder, "test -e good || { echo first >&2; printf 'no \\033[1mroom\\n' >&2; exit 5; }", "--once")
    result = lap.run("handoff", "continue", listed(lap, "Note")["activityId"])
    assert result.returncode == 1 and "status 5" in result.stderr and "room" in result.stderr, result.stderr
    assert "\033" not in result.stderr
    assert "first" in receiver.text
    (folder / "good").touch()
    assert not (folder / "gone").exists()
    done(lap.run("handoff", "continue", listed(lap, "Note")["activityId"]))
    assert receiver.end() == 0, receiver.text
    wait((folder / "gone").exists, "word to the publisher")
    publisher.kill(signal.SIGINT)
    publisher.end()


@pytest.mark.long
def test_command_that_stays_has_continued(machines: Machines, folder: Path) -> None:  # noqa: F811
    """A command of --run that goes on and on shows the activity: it counts as continued after a while, and is ended, with all
    that it has started, when the receiver is."""
    desk, lap = machines
    publisher = publish(desk, folder)
    receiver = receiving(lap, folder, "echo $$ > group; trap '' TERM; sleep 1000 & sleep 1000; sleep 1000")
    began = time.monotonic()
    process = Shell(lap, f"exec handoff continue {listed(lap, 'Note')['activityId']}", folder)
    assert process.end(90) == 0, process.text
    assert time.monotonic() - began > 10
    group = int((folder / "group").read_text())
    assert len(in_group_of(group)) >= 2
    receiver.kill(signal.SIGTERM)
    assert receiver.end() == 0
    wait(lambda: not in_group_of(group), "the end of all that the command has started")
    publisher.kill(signal.SIGINT)
    publisher.end()
