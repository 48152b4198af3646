# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every process of two machines, alone and with each other one, restarted in every way at any moment."""

# This file is long because the walk that two machines are taken through, and the restarts that fall into it, can only be
# understood together.

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, TIMEOUT, let_pass, typed, wait
from clients import APPLICATION_ID, Dock
from support import Machine, device_path, pair, start_machine

STANDING_CLIENT = str(Path(__file__).with_name("standing_client.py"))
# How long after the last restart all may be as it was; longer where a slow machine has been said to be one.
WITHIN = 5 * max(1, TIMEOUT / 20)
# Longer than a broker waits for an application to save, and than an offer stays on a new link unrepeated.
STOPPED = 2.5
UNREPEATED = 1.2


class Kind(Enum):
    """What a process is of its machine."""

    BROKER = "broker"
    BRIDGE = "bridge"
    APPLICATION = "application"


class Process(NamedTuple):
    """One of the six."""

    kind: Kind
    machine: str

    def __str__(self) -> str:
        return f"the {self.kind.value} of {self.machine}"

    @property
    def program(self) -> str:
        return {Kind.BROKER: "handoffd", Kind.BRIDGE: "handoff-bridge", Kind.APPLICATION: STANDING_CLIENT}[self.kind]

    @property
    def name(self) -> str:
        """The bus name of a daemon."""
        return {Kind.BROKER: BROKER, Kind.BRIDGE: BRIDGE}[self.kind]


class Way(Enum):
    """How it is restarted."""

    KILLED = "killed"
    ENDED = "asked to end"
    STOPPED = "stopped for a while"
    REPLACED = "replaced"


class Moment(Enum):
    """What is under way meanwhile."""

    IDLE = "while an offer stands"
    SAVING = "while the origin is asked to save"
    CONTINUING = "while the other side is asked to continue"


PROCESSES = [Process(kind, machine) for machine in ("desk", "lap") for kind in Kind]
APPLICATION_A, APPLICATION_B = Process(Kind.APPLICATION, "desk"), Process(Kind.APPLICATION, "lap")
BROKERS = BROKER_A, BROKER_B = Process(Kind.BROKER, "desk"), Process(Kind.BROKER, "lap")
BRIDGES = BRIDGE_A, BRIDGE_B = Process(Kind.BRIDGE, "desk"), Process(Kind.BRIDGE, "lap")
BOTH_WAYS = (("desk", "lap"), ("lap", "desk"))
SIGNALS = {Way.KILLED: signal.SIGKILL, Way.ENDED: signal.SIGTERM}


class Diary:
    """What an application has told, the dead ones before it included."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.file = machine.log_file(STANDING_CLIENT)
        self.read = 0
        self.lines: list[dict[str, Any]] = []

    def entries(self, event: str, **about: Any) -> list[dict[str, Any]]:
        """The entries of one kind so far that say this."""
        with open(self.file, "rb") as file:
            file.seek(self.read)
            new = file.read()
        complete = new[:new.rfind(b"\n") + 1]
        self.read += len(complete)
        for line in complete.decode().splitlines():
            assert line.startswith("{"), f"an application complains: {line}"
            self.lines.append(json.loads(line))
        return [line for line in self.lines if line["event"] == event and about.items() <= line.items()]

    def called(self, member: str) -> list[GLib.Variant]:
        """The arguments that a member was called with, each time."""
        types = {"WillContinueActivity": "(sa{sv})", "ContinueActivity": "(a{sv}a{sv})", "WillSave": "(o)",
                 "DidFailToContinueActivity": "(sss)", "WasContinued": "(oa{sv})"}
        return [GLib.Variant.parse(GLib.VariantType(types[member]), entry["arguments"])
                for entry in self.entries("called", member=member)]


class Counts(NamedTuple):
    """How often something has been called on the application of the lap, and on the desk's."""

    will: int
    did: int
    failed: int
    was_continued: int


class Walk:
    """Two machines whose applications each offer something to the other, and the walk over the moments."""

    def __init__(self, desk: Machine, lap: Machine) -> None:
        self.machines = {"desk": desk, "lap": lap}
        self.diaries = {name: Diary(machine) for name, machine in self.machines.items()}
        self.owners: dict[Process, str] = {}
        for daemon in (*BROKERS, *BRIDGES):
            self.owners[daemon] = self.machines[daemon.machine].session.owner(daemon.name)
        for application in (APPLICATION_A, APPLICATION_B):
            self.start(application)
            self.wait_until_started(application)
        self.docks = {name: Dock(machine) for name, machine in self.machines.items()}
        self.ids = {name: machine.device_id for name, machine in self.machines.items()}
        self.wait_until_all_is_well(time.monotonic())

    # Processes

    def running(self, process: Process) -> subprocess.Popen[bytes]:
        return self.machines[process.machine].processes[process.program]

    def start(self, process: Process, *options: str) -> None:
        machine = self.machines[process.machine]
        arguments = {Kind.BROKER: (), Kind.BRIDGE: ("--no-discovery", f"--listen=127.0.0.1:{machine.port}"),
                     Kind.APPLICATION: ({"desk": "A letter", "lap": "A list"}[process.machine],)}
        machine.start(process.program, *arguments[process.kind], *options)

    def wait_until_started(self, process: Process) -> None:
        """Waits until a process owns its name; an application, which has none, until it is on the bus."""
        running, machine = self.running(process), self.machines[process.machine]

        def started() -> bool:
            assert running.poll() is None, f"{process} has ended with status {running.returncode}"
            if process.kind is Kind.APPLICATION:
                return bool(self.diaries[process.machine].entries("connected", process=running.pid))
            owner = machine.session.owner(process.name)
            if owner in ("", self.owners[process]):
                return False
            self.owners[process] = owner
            return True

        wait(started, f"{process} to be there again")

    def restart(self, way: Way, processes: Sequence[Process]) -> None:
        """Restarts them all at once."""
        former = [self.running(process) for process in processes]

        def send(number: int) -> None:
            for each in former:
                each.send_signal(number)

        def ended() -> bool:
            return all(each.poll() is not None for each in former)

        if way is Way.STOPPED:
            send(signal.SIGSTOP)
            let_pass(STOPPED)
            send(signal.SIGCONT)
            return
        if way in SIGNALS:
            send(SIGNALS[way])
            wait(ended, "the end of those that were killed")
        for process in processes:
            self.start(process, *(["--replace"] if way is Way.REPLACED else []))
        for process in processes:
            self.wait_until_started(process)
        wait(ended, "the end of those that were replaced")
        status = -signal.SIGKILL if way is Way.KILLED else 0
        assert [each.returncode for each in former] == [status] * len(former)

    # What must be so

    def activity(self, name: str) -> dict[str, Any] | None:
        """The activity that the application of a machine has made current at the broker that is there now."""
        application, broker = Process(Kind.APPLICATION, name), Process(Kind.BROKER, name)
        told = self.diaries[name].entries("current", process=self.running(application).pid)
        return told[-1] if told and told[-1]["broker"] == self.owners[broker] else None

    def expected_offer(self, name: str) -> str:
        """The only offer that a machine is to see."""
        other = "lap" if name == "desk" else "desk"
        activity = self.activity(other)
        return f"{ROOT}/remote/{self.ids[other]}/{activity['activity']}" if activity else "none yet"

    def is_well(self) -> bool:
        return (all(set(dock.offers) == {self.expected_offer(name)} for name, dock in self.docks.items())
                and all(self.machines[name].connected_to(self.ids[other]) for name, other in BOTH_WAYS))

    def wait_until_all_is_well(self, since: float) -> None:
        """Each machine sees what the other offers, and nothing else, soon after a moment."""
        try:
            wait(self.is_well, "the offers", max(0.1, since + WITHIN - time.monotonic()))
        except AssertionError:
            seen = {name: (sorted(dock.offers), self.expected_offer(name)) for name, dock in self.docks.items()}
            raise AssertionError(f"not within {WITHIN:g} s; what is seen, and what is to be: {seen}") from None

    def assert_all_is_well(self) -> None:
        """What the brokers list is what was told; trust and switch are as before; and no daemon has complained."""
        assert self.is_well()
        for name, other in BOTH_WAYS:
            machine = self.machines[name]
            listed = [path for path in machine.session.managed_objects() if path.startswith(f"{ROOT}/remote/")]
            assert listed == [self.expected_offer(name)]
            assert machine.device_id == self.ids[name]
            devices = [path for path in machine.session.managed_objects(BRIDGE_ROOT) if "/devices/" in path]
            assert devices == [device_path(self.ids[other])]
            assert machine.session.get(ROOT, "Manager.Enabled") is True
            for program in ("handoffd", "handoff-bridge"):
                assert "Fatal error" not in machine.log(program)

    def counts(self) -> Counts:
        lap, desk = self.diaries["lap"], self.diaries["desk"]
        return Counts(len(lap.called("WillContinueActivity")), len(lap.called("ContinueActivity")),
                      len(lap.called("DidFailToContinueActivity")), len(desk.called("WasContinued")))

    def hand_over(self) -> None:
        """A complete handoff: what the desk has open arrives on the lap as it is."""
        dock, before = self.docks["lap"], self.counts()
        told = len(dock.finished())
        dock.continue_offer(self.expected_offer("lap"))
        wait(lambda: len(dock.finished()) > told, "the outcome of a handoff", WITHIN)
        assert dock.finished()[-1] == (APPLICATION_ID, "", "")
        arrived = self.diaries["lap"].called("ContinueActivity")[-1].get_child_value(0).lookup_value("UserInfo")
        state = GLib.Variant.parse(GLib.VariantType("a{sv}"), self.activity("desk")["state"])
        assert sorted_entries(arrived) == sorted_entries(state)
        wait(lambda: self.counts().was_continued > before.was_continued, "WasContinued")
        activity = self.diaries["desk"].called("WasContinued")[-1].unpack()[0]
        assert activity == f"{ROOT}/activities/{self.activity('desk')['activity']}"

    # The moments

    def pass_through(self, moment: Moment, way: Way, processes: Sequence[Process]) -> None:
        """Restarts processes at a moment, and sees whether all is well afterwards."""
        self.open_another_letter()
        dock, before = self.docks["lap"], self.counts()
        dock.events.clear()
        hold = self.begin(moment)
        self.restart(way, processes)
        since = time.monotonic()
        gone = set() if way is Way.STOPPED else set(processes)
        for process in gone:
            if process.kind is Kind.BROKER:
                self.docks[process.machine].follow()
        if hold:
            hold.unlink()
        # First the outcome: an offer that is being continued stays to be seen, even if it has ended.
        succeeded = self.finish(moment, gone, way)
        self.wait_until_all_is_well(since)
        finished = len(dock.finished())
        self.hand_over()
        confirmed = 2 if succeeded and not gone & {APPLICATION_A, BROKER_A} else 1
        wait(lambda: self.counts().was_continued >= before.was_continued + confirmed, "WasContinued")
        let_pass(UNREPEATED)
        self.assert_all_is_well()
        assert len(dock.finished()) == finished + 1, "an outcome that nobody asked for"
        assert self.counts().was_continued == before.was_continued + confirmed
        self.check_told_once(before, moment, gone)

    def open_another_letter(self) -> None:
        """The application of the desk begins something new, which was not saved yet."""
        former = self.expected_offer("lap")
        self.running(APPLICATION_A).send_signal(signal.SIGUSR1)
        wait(lambda: self.expected_offer("lap") != former, "another activity")
        self.wait_until_all_is_well(time.monotonic())

    def begin(self, moment: Moment) -> Path | None:
        """Brings the moment about, and gives back the file that keeps it from passing."""
        if moment is Moment.IDLE:
            return None
        name, member = ("desk", "WillSave") if moment is Moment.SAVING else ("lap", "ContinueActivity")
        hold = self.machines[name].folder / f"hold-{member}"
        hold.touch()
        before, willing = len(self.diaries[name].called(member)), self.counts().will
        self.docks["lap"].continue_offer(self.expected_offer("lap"))
        wait(lambda: len(self.diaries[name].called(member)) > before and self.counts().will > willing, member)
        return hold

    def finish(self, moment: Moment, gone: set[Process], way: Way) -> bool | None:
        """Waits for the outcome of what was under way: whether it went well; None if nobody can tell."""
        if moment is Moment.IDLE:
            return None
        dock = self.docks["lap"]
        if BROKER_B in gone:
            assert len(dock.finished()) <= 1
            return None
        needed = {APPLICATION_B} if moment is Moment.CONTINUING else {APPLICATION_B, APPLICATION_A, BROKER_A}
        outcome = dock.outcome()
        assert len(dock.finished()) == 1
        if moment is Moment.SAVING and gone == {BRIDGE_A} and way in (Way.ENDED, Way.REPLACED):
            # Whoever ends in order takes the offer along, also from who has not got the activity yet.
            assert outcome[1].endswith(".OfferWithdrawn"), f"the outcome is {outcome}"
            return False
        if moment is Moment.SAVING and gone == {BRIDGE_A, BRIDGE_B} and way in (Way.ENDED, Way.REPLACED):
            # Of two that end at the same time, the one that would tell of it may have gone first.
            assert outcome[1] == "" or outcome[1].endswith(".OfferWithdrawn"), f"the outcome is {outcome}"
            return outcome[1] == ""
        assert (outcome[1] == "") == (not gone & needed), f"the outcome is {outcome}"
        return outcome[1] == ""

    def check_told_once(self, before: Counts, moment: Moment, gone: set[Process]) -> None:
        """The application of the lap heard of each continuation what it had to, and nothing twice."""
        now = self.counts()
        will, did, failed = now.will - before.will, now.did - before.did, now.failed - before.failed
        continuations = [arguments.get_child_value(1).lookup_value("Continuation").get_string()
                         for arguments in self.diaries["lap"].called("ContinueActivity")]
        assert len(set(continuations)) == len(continuations), "an activity was handed over twice"
        assert will == (1 if moment is Moment.IDLE else 2)
        if gone & {APPLICATION_B, BROKER_B}:
            assert did + failed <= will
        else:
            assert did + failed == will


def sorted_entries(dictionary: GLib.Variant) -> list[Any]:
    return sorted(typed(dictionary)[1].items())


def pair_both_ways(one: Machine, other: Machine) -> None:
    """Makes two machines peers of which each knows where the other is."""
    # Of two links made at the same time the one stays that the device with the smaller id has dialled.
    smaller, larger = sorted((one, other), key=lambda machine: machine.device_id)
    pair(larger, smaller)
    smaller.dial(larger.port)
    wait(lambda: all(machine.session.get(device_path(peer.device_id), "Device.Addresses")
                     for machine, peer in ((one, other), (other, one))), "each to know where the other is")


def set_out(machine_list: list[Machine], *, dialling: str) -> Walk:
    """Two machines, of which the one of this name has dialled the other, or "both" have."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    if dialling == "both":
        pair_both_ways(desk, lap)
    else:
        pair(*((desk, lap) if dialling == "desk" else (lap, desk)))
    return Walk(desk, lap)


def named(case: Any) -> str:
    """A case in words, for the name of a test."""
    if isinstance(case, Way):
        return f"is {case.value}"
    if isinstance(case, tuple) and not isinstance(case, Process):
        return " and ".join(str(process) for process in case)
    return str(case)


def walk_through(walk: Walk, way: Way, *processes: Process) -> None:
    """All moments, one after the other. Which of two processes is back first changes."""
    for index, moment in enumerate(Moment):
        try:
            walk.pass_through(moment, way, processes if index % 2 == 0 else processes[::-1])
        except AssertionError as error:
            raise AssertionError(f"{moment.value}: {error}") from error


def unless(is_short: bool, *case: Any, otherwise: pytest.MarkDecorator = pytest.mark.all) -> Any:
    """A case that is left out of a short run unless it belongs to it."""
    return pytest.param(*case, marks=() if is_short else otherwise)


WAYS = [unless(way is Way.KILLED, way) for way in Way]
SINGLE = [unless(way is Way.KILLED, process, way) for process in PROCESSES for way in Way
          if way is not Way.REPLACED or process.kind is not Kind.APPLICATION]
PAIRS = list(itertools.combinations(PROCESSES, 2))
DAEMONS = [(one, other) for one, other in PAIRS if Kind.APPLICATION not in (one.kind, other.kind)
           and (one.kind is other.kind or one.machine == other.machine)]


@pytest.mark.parametrize(("process", "way"), SINGLE, ids=named)
def test_one_process(machine_list: list[Machine], process: Process, way: Way) -> None:
    """One process is restarted: everything is as before within five seconds."""
    walk = set_out(machine_list, dialling="desk")
    walk_through(walk, way, process)


@pytest.mark.parametrize("processes", [unless(pair in ((BROKER_B, BRIDGE_B), (BRIDGE_B, BROKER_B)), pair,
                                              otherwise=pytest.mark.long)
                                       for pair in PAIRS], ids=named)
def test_two_processes_are_killed(machine_list: list[Machine], processes: tuple[Process, Process]) -> None:
    """Two processes are killed at once: everything is as before within five seconds."""
    walk = set_out(machine_list, dialling="lap")
    walk_through(walk, Way.KILLED, *processes)


@pytest.mark.long
@pytest.mark.parametrize("way", [way for way in Way if way is not Way.KILLED], ids=named)
@pytest.mark.parametrize("processes", DAEMONS, ids=named)
def test_two_daemons(machine_list: list[Machine], processes: tuple[Process, Process], way: Way) -> None:
    """Both daemons of a machine, or the same of both machines, are restarted at once."""
    walk = set_out(machine_list, dialling="desk")
    walk_through(walk, way, *processes)


@pytest.mark.parametrize("way", [unless(way is Way.KILLED, way) for way in Way if way is not Way.STOPPED], ids=named)
def test_bridges_that_dial_each_other(machine_list: list[Machine], way: Way) -> None:
    """Both bridges are restarted, and each knows where the other is: of their links one stays."""
    walk = set_out(machine_list, dialling="both")
    walk_through(walk, way, *BRIDGES)


def test_bridge_is_away(machine_list: list[Machine]) -> None:
    """A bridge that has never dialled the other is found soon after it is back, even if it was away for a while."""
    walk = set_out(machine_list, dialling="desk")
    walk.machines["lap"].kill("handoff-bridge")
    # By then dials would be further apart than WITHIN, were the time between them to double without a limit (Backoff).
    let_pass(8)
    walk.start(BRIDGE_B)
    walk.wait_until_started(BRIDGE_B)
    walk.wait_until_all_is_well(time.monotonic())
    walk.hand_over()
    walk.assert_all_is_well()


@pytest.mark.parametrize("processes", [unless(False, (BROKER_B,)), unless(False, (APPLICATION_B,)), (BROKER_B, BRIDGE_B)],
                         ids=named)
def test_again_and_again(machine_list: list[Machine], processes: tuple[Process, ...]) -> None:
    """What those leave behind that are killed while they continue something does not add up."""
    walk = set_out(machine_list, dialling="lap")
    for _time in range(10):
        hold = walk.begin(Moment.CONTINUING)
        walk.restart(Way.KILLED, processes)
        since = time.monotonic()
        hold.unlink()
        walk.docks["lap"].follow()
        walk.wait_until_all_is_well(since)
    walk.hand_over()
    walk.assert_all_is_well()


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_switch_stays_off(machine_list: list[Machine], way: Way) -> None:
    """Handoff is off on one machine: it is so after all daemons were restarted, until it is switched on."""
    walk = set_out(machine_list, dialling="both")
    desk, lap = walk.machines.values()
    desk.set_enabled(False)
    wait(lambda: not any(dock.offers for dock in walk.docks.values()), "the offers to go")
    walk.restart(way, [*BROKERS, *BRIDGES])
    for dock in walk.docks.values():
        dock.follow()
    wait(lambda: walk.activity("desk") and walk.activity("lap"), "the applications")
    let_pass(UNREPEATED)
    assert [machine.session.get(ROOT, "Manager.Enabled") for machine in (desk, lap)] == [False, True]
    assert desk.session.get(BRIDGE_ROOT, "Bridge.Port") == 0
    assert not any(dock.offers for dock in walk.docks.values())
    desk.set_enabled(True)
    walk.wait_until_all_is_well(time.monotonic())
    walk.hand_over()
    walk.assert_all_is_well()
