# SPDX-License-Identifier: LGPL-2.1-or-later
"""The trust store, when the kernel fails at any moment of writing it.

Each test first has strace tell which system calls touch the state folder, and then lets the bridge end, or the call
fail, at each of them.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from buses import BRIDGE_ROOT, BusError, wait
from support import Machine, device_path, start_machine
from tracing import Hit, Step, Tracer
from transcript import Scribe

ERRORS = {"EIO": "Input/output error", "ENOSPC": "No space left on device"}


def state_folder(machine: Machine) -> Path:
    (folder,) = (machine.folder / "state_home" / "handoff").iterdir()
    return folder


def trust_file(machine: Machine) -> bytes:
    file = state_folder(machine) / "trust"
    return file.read_bytes() if file.exists() else b""


def groups(contents: bytes) -> configparser.ConfigParser:
    """A trust store, taken apart."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(contents.decode())
    return parser


def peers_in(contents: bytes) -> set[str]:
    """The devices that are trusted by a trust store."""
    return {group for group in groups(contents).sections() if len(group) == 64}


def peers_of(machine: Machine) -> set[str]:
    """The devices that a machine trusts now."""
    found = machine.session.managed_objects(BRIDGE_ROOT).values()
    devices = [interfaces["org.example.Handoff.Device"] for interfaces in found
               if "org.example.Handoff.Device" in interfaces]
    return {device["DeviceId"] for device in devices if device["Paired"]}


def stray_files(machine: Machine) -> set[str]:
    return {file.name for file in state_folder(machine).iterdir()} - {"trust", "identity.pem", "lock"}


class Trusting:
    """A device is entered by its id."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        if not trust_file(machine):
            machine.trust(os.urandom(32).hex(), "first")
        self.device_id = ""

    def prepare(self) -> None:
        """What comes before, and needs no failure."""
        self.device_id = os.urandom(32).hex()

    def act(self) -> None:
        """What writes the trust store."""
        self.machine.trust(self.device_id, "other")

    def is_done(self, contents: bytes) -> bool:
        """Whether a trust store is the new one."""
        return self.device_id in peers_in(contents)

    def check(self) -> None:
        """What else holds, whether the old or the new one is in force."""


class Unpairing(Trusting):
    """A peer that has a secret is unpaired."""

    def prepare(self) -> None:
        device = Scribe()
        self.device_id = device.id
        link = device.paired_link_to(self.machine)
        secret = device.transcript(link, self.machine).secret.hex()
        wait(lambda: link.read_messages() and groups(trust_file(self.machine))[device.id]["Secret"] == secret,
             "the secret")
        link.close()
        wait(lambda: not self.machine.connected_to(device.id), "the end of the link")

    def act(self) -> None:
        self.machine.session.call(device_path(self.device_id), "Device.Unpair")

    def is_done(self, contents: bytes) -> bool:
        left = [group for name, group in groups(contents).items() if name.startswith("Unpaired ")]
        is_buried = self.device_id in [group["Device"] for group in left]
        assert is_buried != (self.device_id in peers_in(contents))
        return is_buried


class RenewingSecret(Trusting):
    """A peer comes with a new link, and both take its secret for theirs."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.device, self.old = Scribe(), b""
        self.device_id = self.device.id
        self.link = self.device.paired_link_to(machine)
        self.new = self.device.transcript(self.link, machine).secret
        wait(lambda: self.link.read_messages() and self.is_done(trust_file(machine)), "the first secret")

    def prepare(self) -> None:
        self.link.close()
        self.old = bytes.fromhex(groups(trust_file(self.machine))[self.device_id]["Secret"])
        self.link = self.device.known_link_to(self.machine, self.old)
        self.new = self.device.transcript(self.link, self.machine).secret
        # It is not answered before the other side has heard this one's.
        wait(lambda: not self.link.has_ended() and self.link.received_bytes, "Hello")

    def act(self) -> None:
        try:
            self.link.hello(paired=True)
            wait(lambda: self.link.read_messages() and (self.link.closed or len(self.link.calls("Hello")) >= 2),
                 "Hello with the new secret")
        except AssertionError:
            assert self.link.closed, "the bridge has neither answered nor ended"

    def is_done(self, contents: bytes) -> bool:
        entry = groups(contents)[self.device_id]
        assert entry["Secret"] in (self.old.hex(), self.new.hex())
        return entry["Secret"] == self.new.hex()

    def check(self) -> None:
        # A peer that has not stored the new one comes with the old one.
        for secret in (self.old, self.new) if self.is_done(trust_file(self.machine)) else (self.old,):
            link = self.device.known_link_to(self.machine, secret)
            assert link.peer_id == self.machine.device_id
            link.close()


OPERATIONS = {"Trust": Trusting, "Unpair": Unpairing, "a new secret": RenewingSecret}


def steps_of(machine: Machine, operation: Trusting) -> list[Step]:
    """The system calls that an operation makes on the state folder."""
    operation.prepare()
    with Tracer(machine) as tracer:
        operation.act()
        wait(lambda: operation.is_done(trust_file(machine)), "the trust store to be written")
        wait(lambda: "rename(" in tracer.output.read_text(), "strace to tell it")
    steps = tracer.steps(str(state_folder(machine)))
    assert {"openat", "write", "fsync", "rename", "close"} <= {step.call for step in steps}
    return steps


def renames(steps: list[Step]) -> int:
    """Which of these is the moment when the new store takes the place of the old one."""
    (index,) = [index for index, step in enumerate(steps) if step.call.startswith("rename")]
    return index


class Disturbed(NamedTuple):
    """What a call that was let fail has left behind."""

    # What the operation was answered with.
    error: BusError | None
    # The trust store, and the devices that were trusted, before it.
    before: bytes
    known: set[str]


# Which way to go from a number that met another call than was meant.
HIGHER, LOWER = 1, -1
# How often it is tried. On a busy machine the numbers vary by more than that on a quiet one.
ATTEMPTS = 60


def way_to(index: int, hit: Hit | None) -> int:
    """Which way to go to the call of this index among those that touch the folder, from a number that met another one."""
    return HIGHER if hit and hit.before + hit.touches <= index else LOWER


def disturb(operation: Trusting, index: int, step: Step, how: str,
            finish: Callable[[Tracer], None]) -> Disturbed | int:
    """Runs an operation while strace lets this call of the bridge fail. If that met another than the one of this index among
    those that touch the folder, gives back which way that one is."""
    operation.prepare()
    machine = operation.machine
    before, known, error = trust_file(machine), peers_of(machine), None
    with Tracer(machine, "-e", f"inject={step.call}:{how}:when={step.number}") as tracer:
        try:
            operation.act()
        except BusError as caught:
            error = caught
        finish(tracer)
    hit = tracer.hit(str(state_folder(machine)))
    if hit == (index, True):
        return Disturbed(error, before, known)
    return way_to(index, hit)


def until_hit(attempt: Callable[[Step], Disturbed | int], step: Step) -> Disturbed:
    """What an attempt has left that has met the call that was meant. Calls are counted by their names, and how many others
    the bridge makes before that varies: it wakes itself up, and reads what comes in more or fewer pieces."""
    number = step.number
    for _ in range(ATTEMPTS):
        outcome = attempt(step._replace(number=number))
        if isinstance(outcome, Disturbed):
            return outcome
        number = max(1, number + outcome)
    raise AssertionError(f"the call was never met: {step}")


@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=OPERATIONS)
def test_killed_at_any_call(machine: Machine, kind: type[Trusting]) -> None:
    """A bridge that is killed at any system call of writing the trust store finds the old or the new one when it is
    started again, and goes by it."""
    operation = kind(machine)
    steps = steps_of(machine, operation)
    for index, step in enumerate(steps):
        def attempt(step: Step) -> Disturbed | int:
            bridge = machine.processes["handoff-bridge"]

            def finish(_tracer: Tracer) -> None:
                wait(lambda: bridge.poll() is not None or operation.is_done(trust_file(machine)), f"the end at {step}")
                with suppress(AssertionError):
                    wait(lambda: bridge.poll() is not None, "the end of the bridge", 0.3)

            disturbed = disturb(operation, index, step, "signal=KILL", finish)
            if bridge.poll() is None:
                return LOWER
            machine.processes.pop("handoff-bridge")
            after = trust_file(machine)
            machine.start_bridge()
            if isinstance(disturbed, Disturbed):
                is_done = operation.is_done(after)
                assert is_done or after == disturbed.before
                assert is_done == (index > renames(steps)), step
                assert peers_of(machine) == peers_in(after)
                assert trust_file(machine) == after, "nothing was set aside"
                assert not [name for name in stray_files(machine) if "damaged" in name]
                operation.check()
            return disturbed

        until_hit(attempt, step)


def has_to_fail(steps: list[Step], index: int) -> bool:
    """Whether the trust store can't be written if this call fails: a folder that can't be made may be there, room that
    is not set aside may be there too, and what comes after the renaming only makes it sooner safe."""
    return steps[index].call not in ("mkdir", "fallocate") and index <= renames(steps)


@pytest.mark.parametrize("error", ERRORS)
def test_trust_that_can_not_be_written(machine: Machine, error: str) -> None:
    """Trust fails, saying why, if any system call fails that it needs for being durable, and the former trust stays in
    force; another try then succeeds."""
    operation = Trusting(machine)
    steps = steps_of(machine, operation)
    for index, step in enumerate(steps):
        disturbed = until_hit(
            lambda step: disturb(operation, index, step, f"error={error}", lambda _tracer: None), step)
        if has_to_fail(steps, index):
            assert disturbed.error and disturbed.error.short_name == "Failed", step
            assert str(state_folder(machine)) in disturbed.error.message
            assert (trust_file(machine), peers_of(machine)) == (disturbed.before, disturbed.known), step
            operation.act()
        else:
            assert not disturbed.error, step
        assert operation.is_done(trust_file(machine))
        assert peers_of(machine) == peers_in(trust_file(machine)) == disturbed.known | {operation.device_id}
        assert not stray_files(machine)
    machine.kill("handoff-bridge")
    machine.start_bridge()
    assert peers_of(machine) == peers_in(trust_file(machine))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("kind", [Unpairing, RenewingSecret], ids=["Unpair", "a new secret"])
def test_change_that_is_written_later(machine_list: list[Machine], kind: type[Trusting], error: str) -> None:
    """Unpairing, and a new secret, are in force though any system call fails that writes them, and are written a
    little later."""
    first = start_machine(machine_list, "first")
    steps = steps_of(first, kind(first))
    operations = []
    for index, step in enumerate(steps):
        machine = start_machine(machine_list, f"m{index}")
        operation = kind(machine)

        def finish(tracer: Tracer) -> None:
            wait(lambda: "(INJECTED)" in tracer.output.read_text() or operation.is_done(trust_file(machine)),
                 f"the failure at {step}")

        disturbed = until_hit(lambda step: disturb(operation, index, step, f"error={error}", finish), step)
        if has_to_fail(steps, index):
            wait(lambda: "Trying again" in machine.log("handoff-bridge"), "the warning")
            assert ERRORS[error] in machine.log("handoff-bridge") or step.call == "newfstatat"
            assert trust_file(machine) == disturbed.before, step
        if kind is Unpairing:
            assert operation.device_id not in peers_of(machine)
        else:
            operation.device.known_link_to(machine, operation.new).close()
        operations.append(operation)
    for operation in operations:
        wait(lambda: operation.is_done(trust_file(operation.machine)), "the second try")
        assert not stray_files(operation.machine)
        operation.machine.kill("handoff-bridge")
        operation.machine.start_bridge()
        assert peers_of(operation.machine) == peers_in(trust_file(operation.machine))
