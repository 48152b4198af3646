# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams in a shell: handoff publish --stream, handoff receive --stream."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from buses import wait
from streams import Background
from support import Machine
from test_command import APPLICATION, listed

Machines = tuple[Machine, Machine]
OPTIONS = " ".join(APPLICATION)


class Shell:
    """A command line of a machine that runs in the background."""

    def __init__(self, machine: Machine, line: str, folder: Path, errors: int | None = None) -> None:
        self.errors_file = folder / f"errors-{os.urandom(4).hex()}"
        with open(self.errors_file, "wb") as log:
            self.process = subprocess.Popen(
                # Who runs the tests in the background may have these signals ignored.
                ["env", "--default-signal=INT,HUP", "setpriv", "--pdeathsig", "TERM", "bash", "-o", "pipefail", "-c", line],
                env=machine.environment,
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log if errors is None else errors,
                start_new_session=True)

    @property
    def text(self) -> str:
        return self.errors_file.read_text(errors="replace")

    def until(self, text: str) -> None:
        wait(lambda: text in self.text or self.process.poll() is not None, f"“{text}” of a command")
        assert text in self.text, self.text

    def end(self, timeout: float = 60) -> int:
        wait(lambda: self.process.poll() is not None, f"the end of a command that has said {self.text}", timeout)
        return self.process.returncode

    def kill(self, number: int) -> None:
        """Sends a signal to all that runs there."""
        os.killpg(self.process.pid, number)


@pytest.fixture
def folder(machines: Machines) -> Path:
    folder = machines[0].folder / "work"
    folder.mkdir()
    return folder


def hand_over(lap: Machine, title: str) -> None:
    """Continues what was published, which a handoff is waiting for."""
    result = lap.run("handoff", "continue", listed(lap, title)["activityId"])
    assert result.returncode == 0, result.stderr


def start(machines: Machines, folder: Path, sending: str, receiving: str, title: str = "Files") -> tuple[Shell, Shell]:
    """Runs both command lines, and hands over."""
    receiver = Shell(machines[1], receiving, folder)
    receiver.until("Waiting")
    sender = Shell(machines[0], sending, folder)
    hand_over(machines[1], title)
    return sender, receiver


def test_folder_through_tar(machines: Machines, folder: Path) -> None:
    """tar on one machine, tar on the other: a folder goes over, and both commands end by themselves."""
    (folder / "from").mkdir()
    for number in range(20):
        (folder / "from" / f"file {number}").write_bytes(os.urandom(300_000 * number))
    (folder / "to").mkdir()
    sender, receiver = start(
        machines, folder, f"tar c -C from . | handoff publish {OPTIONS} --title Files --stream -",
        f"handoff receive {OPTIONS} --stream | tar x -C to")
    assert receiver.end() == 0, receiver.text
    assert sender.end() == 0, sender.text
    assert "which calls itself “lap”" in sender.text and "Sent 57.0 MB" in sender.text, sender.text
    for number in range(20):
        name = f"file {number}"
        assert (folder / "to" / name).read_bytes() == (folder / "from" / name).read_bytes()


def test_file_as_often_as_wanted(machines: Machines, folder: Path) -> None:
    """A file is sent to everyone who continues, until the command is interrupted; the receiver is told how long it is."""
    data = os.urandom(3_000_000)
    (folder / "file").write_bytes(data)
    sender = Shell(machines[0], f"exec handoff publish {OPTIONS} --title Files --stream file", folder)
    for number in range(2):
        receiver = Shell(machines[1], f"handoff receive {OPTIONS} --stream >copy{number}", folder)
        receiver.until("Waiting")
        hand_over(machines[1], "Files")
        assert receiver.end() == 0, receiver.text
        assert '"StreamSize":3000000' in receiver.text.replace(" ", "") and "Received 3.0 MB" in receiver.text
        assert (folder / f"copy{number}").read_bytes() == data
    sender.kill(signal.SIGINT)
    assert sender.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_sender(machines: Machines, folder: Path, number: int) -> None:
    """When the sender of a file is interrupted or killed, the receiver says that it is not complete, and fails."""
    with open(folder / "file", "wb") as file:
        file.truncate(8 << 30)
    sender, receiver = start(
        machines, folder, f"exec handoff publish {OPTIONS} --title Files --stream file",
        f"handoff receive {OPTIONS} --stream >/dev/null")
    receiver.until('"event"')
    sender.kill(number)
    assert receiver.end() == 1
    assert "broke" in receiver.text or "of 8589934592 bytes" in receiver.text, receiver.text
    assert sender.end() == (1 if number == signal.SIGINT else -signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("source", ["exec handoff PUBLISH </dev/zero", "(head -c 3000000 /dev/zero; sleep 60) | handoff PUBLISH"])
def test_interrupted_sender_of_standard_input(machines: Machines, folder: Path, source: str, number: int) -> None:
    """When the sender of standard input is interrupted, with the other commands of its pipeline, the receiver does not take
    that for the end."""
    sender, receiver = start(
        machines, folder, source.replace("PUBLISH", f"publish {OPTIONS} --title Files --stream -"),
        f"handoff receive {OPTIONS} --stream >/dev/null")
    receiver.until('"event"')
    sender.kill(number)
    assert receiver.end() == 1
    assert "The stream broke after" in receiver.text
    assert sender.end() != 0


def test_receiver_that_cannot_write(machines: Machines, folder: Path) -> None:
    """When the receiver cannot write what fitted into the buffers long ago, the sender is told all the same."""
    sender, receiver = start(
        machines, folder, f"echo hello | handoff publish {OPTIONS} --title Files --stream -",
        f"handoff receive {OPTIONS} --stream >/dev/full")
    assert receiver.end() == 1 and "No space left" in receiver.text
    assert sender.end() == 1 and "before it had written all" in sender.text, sender.text


def test_interrupted_receiver(machines: Machines, folder: Path) -> None:
    """A receiver that is interrupted says that what it has written is not complete, and fails; so does the sender."""
    sender, receiver = start(
        machines, folder, f"exec handoff publish {OPTIONS} --title Files --stream - </dev/zero",
        f"exec handoff receive {OPTIONS} --stream >/dev/null")
    receiver.until('"event"')
    receiver.kill(signal.SIGINT)
    assert receiver.end() == 1 and "Interrupted after" in receiver.text
    assert sender.end() == 1


def test_little(machines: Machines, folder: Path) -> None:
    """What is sent at once is complete, and the sender hears that it was continued."""
    for content in ("hello", ""):
        title = f"Note {content}"
        sender, receiver = start(
            machines, folder, f"printf '{content}' | handoff publish {OPTIONS} --title '{title}' --stream -",
            f"handoff receive {OPTIONS} --stream >received", title)
        assert receiver.end() == 0, receiver.text
        assert sender.end() == 0, sender.text
        assert "which calls itself “lap”" in sender.text
        assert (folder / "received").read_text() == content


def test_what_can_be_read_once(machines: Machines, folder: Path) -> None:
    """A pipe is sent once, and the command ends then; a file of the kernel is sent, though it says that it is empty."""
    sender, receiver = start(
        machines, folder, f"handoff publish {OPTIONS} --title Files --stream <(echo from a pipe)",
        f"handoff receive {OPTIONS} --stream >received")
    assert (receiver.end(), sender.end()) == (0, 0), receiver.text + sender.text
    assert (folder / "received").read_text() == "from a pipe\n"
    sender, receiver = start(
        machines, folder, f"exec handoff publish {OPTIONS} --title Version --stream /proc/version",
        f"handoff receive {OPTIONS} --stream >received", "Version")
    assert receiver.end() == 0, receiver.text
    assert (folder / "received").read_text() == Path("/proc/version").read_text()
    sender.kill(signal.SIGTERM)
    assert sender.end() == 0


def test_closed_descriptors(machine: Machine) -> None:
    """Closed standard descriptors are not taken for what has been opened in their place."""
    for line in ("handoff publish OPTIONS --title x --stream - <&-", "handoff receive OPTIONS --stream <&- >&-"):
        result = machine.run("bash", "-c", line.replace("OPTIONS", OPTIONS))
        assert result.returncode == 2 and "is closed" in result.stderr, result.stderr


def test_receiver_that_ends(machines: Machines, folder: Path) -> None:
    """When the receiver ends before, the sender of standard input says so, and fails."""
    sender, receiver = start(
        machines, folder, f"exec handoff publish {OPTIONS} --title Files --stream - </dev/zero",
        f"handoff receive {OPTIONS} --stream | head -c 1000000 | wc -c")
    assert receiver.end() != 0
    assert "1000000" in receiver.text
    assert sender.end() == 1
    assert "closed the stream" in sender.text


def test_progress_on_a_terminal(machines: Machines, folder: Path) -> None:
    """On a terminal the receiver shows how far it is, and takes that away at the end."""
    with open(folder / "file", "wb") as file:
        file.truncate(1 << 30)
    ours, theirs = pty.openpty()
    receiver = Shell(machines[1], f"handoff receive {OPTIONS} --stream >/dev/null", folder, errors=theirs)
    os.close(theirs)
    shown = b""

    def until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            shown += Background(lambda: os.read(ours, 4096)).result()

    until(b"Waiting")
    sender = Shell(machines[0], f"exec handoff publish {OPTIONS} --title Files --stream file", folder)
    hand_over(machines[1], "Files")
    until(b"of 1.1 GB, ")
    until(b"Received 1.1 GB")
    assert b"\r\x1b[K" in shown
    assert receiver.end() == 0
    os.close(ours)
    sender.kill(signal.SIGINT)
    assert sender.end() == 0


def test_what_cannot_be_sent(machine: Machine) -> None:
    """A file that is not there, and a folder, are refused at once, with what to do."""
    for path, reason in (("/nowhere", "No such file"), ("/tmp", "tar c")):
        result = machine.run("handoff", "publish", *APPLICATION, "--title", "x", "--stream", path)
        assert result.returncode == 1 and reason in result.stderr, result.stderr


def test_activity_without_a_stream(machines: Machines, folder: Path) -> None:
    """An activity without streams is refused by handoff receive --stream, which waits for another."""
    receiver = Shell(machines[1], f"exec handoff receive {OPTIONS} --stream", folder)
    receiver.until("Waiting")
    sender = Shell(machines[0], f"exec handoff publish {OPTIONS} --title Note", folder)
    result = machines[1].run("handoff", "continue", listed(machines[1], "Note")["activityId"])
    assert result.returncode == 1 and "SupportsContinuationStreams" in result.stderr, result.stderr
    assert receiver.process.poll() is None
    for shell in (sender, receiver):
        shell.kill(signal.SIGTERM)
        assert shell.end() == 0
