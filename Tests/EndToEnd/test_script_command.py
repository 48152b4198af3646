# SPDX-License-Identifier: LGPL-2.1-or-later
"""A script as an application: handoff publish --json-lines, --save and --continued, handoff receive --run."""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path

import pytest
from buses import wait
from support import Machine
from test_command import APPLICATION, done, listed
from test_stream_command import Shell, folder  # noqa: F401

Machines = tuple[Machine, Machine]
OPTIONS = " ".join(APPLICATION)
PUBLISH = f"exec handoff publish {OPTIONS} --title Note"
LIMIT = 256 << 10


def in_group_of(process: int) -> list[int]:
    """The processes that have said that they belong to this one's command: those of its sessions."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == process and fields[0] != "Z":
                found.append(int(entry.name))
    return found


class Pipe:
    """A pipe that feeds a command, opened by its name."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pipe"
        os.mkfifo(self.path)
        self.file = os.open(self.path, os.O_RDWR)

    def write(self, *lines: str | bytes | dict) -> None:
        for line in lines:
            data = json.dumps(line) if isinstance(line, dict) else line
            data = data.encode() if isinstance(data, str) else data
            data += b"\n"
            while data:
                data = data[os.write(self.file, data):]

    def close(self) -> None:
        os.close(self.file)


@pytest.fixture
def pipe(folder: Path) -> Pipe:  # noqa: F811
    return Pipe(folder)


def publish(desk: Machine, folder: Path, *options: str) -> Shell:  # noqa: F811
    return Shell(desk, f"{PUBLISH} {shlex.join(options)}", folder)


def offered(lap: Machine, title: str) -> None:
    """Waits until something of this title is offered, even if nothing here continues it."""
    wait(lambda: any(offer["title"] == title for offer in json.loads(done(lap.run("handoff", "list", "--all", "--json")))),
         f"“{title}” in the list")


def received(lap: Machine, folder: Path, title: str) -> dict:  # noqa: F811
    """Continues what has this title, and gives back what arrives."""
    receiver = Shell(lap, f"exec handoff receive {OPTIONS} --once > got", folder)
    receiver.until("Waiting")
    done(lap.run("handoff", "continue", listed(lap, title)["activityId"]))
    assert receiver.end() == 0, receiver.text
    return json.loads((folder / "got").read_text())


def test_lines_are_updates(machines: Machines, folder: Path, pipe: Pipe) -> None:  # noqa: F811
    """Each line of JSON on standard input sets properties, with the types that are told or those that fit; and what one
    command has printed can be what the other one reads."""
    desk, lap = machines
    publisher = Shell(desk, f"{PUBLISH} --json-lines < pipe", folder)
    pipe.write({"title": "First"})
    offered(lap, "First")
    state = {"text": "hello", "n": 7, "line": 9007199254740993, "when": ["date", 5], "tags": ["a", "b"], "odd": [1, "a"],
             "half": 0.5, "deep": {"a": [True, "x"]}, "none": None, "huge": 18446744073709551615}
    pipe.write("", {"title": "Second", "webpageURL": "https://example.com/2", "userInfo": state,
                    "userInfoTypes": {"n": "q", "when": "(sv)"}})
    got = received(lap, folder, "Second")
    assert got["userInfo"] == state | {"none": ["null", False]}
    assert got["userInfoTypes"] == {
        "text": "s", "n": "q", "line": "x", "when": "(sv)", "tags": "as", "odd": "av", "half": "d", "deep": "a{sv}",
        "huge": "t", "none": "(sv)"}
    assert got["webpageURL"] == "https://example.com/2"
    pipe.write(got | {"title": "Third"})
    again = received(lap, folder, "Third")
    assert again | {"title": ""} == got | {"title": ""}
    pipe.write({"title": "Fourth", "userInfoText": got["userInfoText"].replace("hello", "bye"), "webpageURL": None})
    last = received(lap, folder, "Fourth")
    assert last["userInfoText"] == got["userInfoText"].replace("hello", "bye") and not last.get("webpageURL")
    pipe.close()
    assert publisher.end() == 0, publisher.text
    wait(lambda: json.loads(done(lap.run("handoff", "list", "--all", "--json"))) == [], "the offer to go")


HOSTILE = [
    ("no JSON", "It is not JSON"),
    ("[1]", "not an object"),
    ('{"titel": "x"}', "Did you mean “title”?"),
    ('{"secret": 1}', "“userInfo”"),
    ('{"title": 5}', "“title”"),
    ('{"title": "a", "title": "b"}', "twice"),
    ('{"title": "a\\u0000b"}', "NUL"),
    ('{"title": "' + "x" * 5000 + '"}', "4096"),
    ('{"webpageURL": "ftp://example.com/"}', "WebpageURL"),
    ('{"userInfo": {"a": 1}, "userInfoTypes": {"a": "h"}}', "“a”"),
    ('{"userInfo": {"a": 256}, "userInfoTypes": {"a": "y"}}', "“y”"),
    ('{"userInfo": {"a": 1e999}}', "too large"),
    ('{"userInfo": {"a": ' + "[" * 40 + "]" * 40 + "}}", "deep"),
    ('{"userInfo": {"a": "' + "x" * 200_000 + '"}}', "131072"),
    ('{"needsSave": null}', "true or false"),
    (b'{"title": "\xff"}', "UTF-8"),
    ('{"title": "' + "x" * 2 * LIMIT + '"}', f"longer than {LIMIT} bytes"),
]


def test_bad_lines_are_named_and_left_out(machines: Machines, folder: Path, pipe: Pipe) -> None:  # noqa: F811
    """A line that is wrong is named by its number with the reason, changes nothing, and the next one counts; in the end the
    status says that not all was right."""
    desk, lap = machines
    publisher = Shell(desk, f"{PUBLISH} --json-lines < pipe", folder)
    offered(lap, "Note")
    for number, (line, reason) in enumerate(HOSTILE, start=1):
        pipe.write(line)
        publisher.until(f"Line {number} of")
        said = publisher.text.split(f"Line {number} of")[1]
        assert reason in said, said[:2000]
    offered(lap, "Note")
    pipe.write({"title": "After"})
    offered(lap, "After")
    # What has no line break at the end is a line too.
    os.write(pipe.file, b'{"title"')
    pipe.close()
    assert publisher.end() == 1
    assert f"{len(HOSTILE) + 1} lines of standard input were left out" in publisher.text


@pytest.mark.parametrize("source", ["yes", "yes x | tr -d '\\n'", "cat /dev/zero", "yes '{\"title\": \"Note\"}'"])
def test_endless_input(machines: Machines, folder: Path, source: str) -> None:  # noqa: F811
    """Input without end, with or without lines, takes no more and more memory, and the command still does what it is asked."""
    desk, lap = machines
    publisher = Shell(desk, f"{source} | handoff publish {OPTIONS} --title Note --json-lines --save 'echo {{}}'", folder)
    wait(lambda: received(lap, folder, "Note")["title"] == "Note", "the activity")
    process = next(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()
                   and (entry / "cmdline").exists() and b"publish" in command_line(entry) and str(desk.folder).encode()
                   in environment(entry))
    peak = int(next(line for line in Path(f"/proc/{process}/status").read_text().splitlines()
                    if line.startswith("VmHWM")).split()[1])
    assert peak < 200_000, f"{peak} KiB"
    assert publisher.text.count("\n") < 150
    os.kill(process, signal.SIGTERM)
    publisher.end()


def command_line(entry: Path) -> bytes:
    try:
        data = (entry / "cmdline").read_bytes().split(b"\0")
        return data[1] if data and data[0].endswith(b"handoff") else b""
    except (OSError, IndexError):
        return b""


def environment(entry: Path) -> bytes:
    try:
        return (entry / "environ").read_bytes()
    except OSError:
        return b""


def test_state_is_asked_for(machines: Machines, folder: Path) -> None:  # noqa: F811
    """The command of --save is asked each time the activity goes on, and once with “passing” false; each time the command of
    --continued is told where it has gone on."""
    desk, lap = machines
    (folder / "state").write_text('{"userInfo": {"n": 1}}')
    told = 'printf "%s %s\\n" "$HANDOFF_DEVICE_ID" "$HANDOFF_DEVICE_NAME" >> told; cat >> told'
    publisher = publish(desk, folder, "--save", "cat state; cat >&2", "--continued", told)
    for number in (1, 2):
        (folder / "state").write_text(f'{{"userInfo": {{"n": {number}}}}}')
        assert received(lap, folder, "Note")["userInfo"] == {"n": number}
        wait(lambda: (folder / "told").exists() and
             (folder / "told").read_text() == f"{lap.device_id} lap\n" * number, "the command")
    (folder / "state").write_text('{"userInfo": {"n": 3}, "passing": false}')
    assert received(lap, folder, "Note")["userInfo"] == {"n": 3}
    (folder / "state").write_text('{"userInfo": {"n": 4}}')
    assert received(lap, folder, "Note")["userInfo"] == {"n": 3}
    publisher.kill(signal.SIGINT)
    assert publisher.end() == 0, publisher.text


@pytest.mark.parametrize("command, reason", [
    ("exit 3", "status 3"), ("kill -9 $$", "signal 9"), ("echo nonsense", "not JSON"), ("true", "not JSON"),
    ("echo '{\"titel\": \"\"}'", "Did you mean"), ("sleep 1000 & sleep 1000", "two seconds"),
    ("cat /dev/zero", f"more than {LIMIT} bytes"), ("exec >&-; sleep 1000", "two seconds"),
    ("no-such-command-anywhere", "status 127"),
], ids=str)
def test_failing_save(machines: Machines, folder: Path, command: str, reason: str) -> None:  # noqa: F811
    """When the command of --save fails, prints nonsense or does not end, the last state goes on, both logs say so, and nothing
    of it is left running."""
    desk, lap = machines
    publisher = publish(desk, folder, "--user-info", "n=last", "--save", f"echo $$ > group; {command}")
    assert received(lap, folder, "Note")["userInfo"] == {"n": "last"}
    publisher.until("The state from before is handed off")
    assert reason in publisher.text
    wait(lambda: "was not saved" in desk.log("handoffd"), "the broker's log")
    wait(lambda: not in_group_of(int((folder / "group").read_text())), "the end of all of the command")
    publisher.kill(signal.SIGINT)
    assert publisher.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_commands_end_with_us(machines: Machines, folder: Path, number: int) -> None:  # noqa: F811
    """A command of --continued that never ends is ended, with all that it has started, when the user ends the publisher."""
    desk, lap = machines
    publisher = publish(desk, folder, "--continued", "echo $$ > group; sleep 1000 & sleep 1000")
    received(lap, folder, "Note")
    wait(lambda: (folder / "group").exists() and (folder / "group").read_text(), "the command")
    group = int((folder / "group").read_text())
    assert in_group_of(group)
    publisher.kill(number)
    assert publisher.end() == 0, publisher.text
    wait(lambda: not in_group_of(group), "the end of all that the command has started")


def test_last_command_is_waited_for(machines: Machines, folder: Path) -> None:  # noqa: F811
    """When input has ended, or the stream was sent, the command of --continued that runs is waited for."""
    desk, lap = machines
    sender = Shell(desk, f"echo hello | handoff publish {OPTIONS} --title Note --stream - --continued 'sleep 1; touch told'", folder)
    receiver = Shell(lap, f"exec handoff receive {OPTIONS} --stream > got", folder)
    receiver.until("Waiting")
    done(lap.run("handoff", "continue", listed(lap, "Note")["activityId"]))
    assert receiver.end() == 0 and sender.end() == 0, sender.text
    assert (folder / "told").exists()
    assert (folder / "got").read_text() == "hello\n"


@pytest.mark.parametrize("line, text", [
    (f"publish {OPTIONS} --title T --json-lines --stream -", "both read standard input"),
    (f"publish {OPTIONS} --title T --json-lines <&-", "standard input is closed"),
    (f"receive {OPTIONS} --run true --stream >/dev/null", "cannot be combined"),
])
def test_what_does_not_go_together(machine: Machine, line: str, text: str) -> None:
    """Options that exclude each other are a wrong command line."""
    result = machine.run("bash", "-c", f"handoff {line}")
    assert result.returncode == 2 and text in result.stderr, result.stderr


def test_stays_when_the_script_has_something_to_say(machine: Machine) -> None:
    """Input that has ended before the broker was reached is published nevertheless, before the command ends."""
    result = machine.run("bash", "-c", f"echo '{{\"title\": \"T\"}}' | handoff publish {OPTIONS} --title Note --json-lines")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.strip()) == 32
