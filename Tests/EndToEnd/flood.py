# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a peer sends as fast as it can, and how the user of the machine fares meanwhile.

Run as a program with what it is to send, the port of a bridge, the id of that device, and the activity that is offered
there, it says its own id, waits for a line, by when it is to be trusted, links, says that, waits for another line, and
floods until the next one.
"""

from __future__ import annotations

import select
import ssl
import struct
import sys
import threading
import time
from types import TracebackType

from gi.repository import Gio, GLib
from buses import BRIDGE_ROOT, ROOT
from attacks import Target, answer, until
from link import CALL, NO_FLAGS, SOME_ID, Device, Link, fetch, method_call, offer
from samples import byte_array
from support import Machine, processor_time

# Most of the bytes that any message may take.
BULK = 15_000
DEPTH = 45


def nested(count: int) -> GLib.Variant:
    """Variants within variants, which take long to look through."""
    def one() -> GLib.Variant:
        value = GLib.Variant("y", 7)
        for _level in range(DEPTH):
            value = GLib.Variant("v", value)
        return value
    return GLib.Variant("av", [one() for _ in range(count)])


def messages(activity: str) -> dict[str, bytes]:
    """The calls that are sent again and again, by kind, for the one activity that is offered."""
    hello = {"Paired": GLib.Variant("b", True), "Bulk": byte_array(bytes(BULK))}
    calls = {
        "nested": method_call("Peer.Offer", offer(Unknown=nested(80))),
        "maximal": method_call("Peer.Offer", offer(Unknown=byte_array(bytes(BULK)))),
        "small": method_call("Peer.Withdraw", GLib.Variant("(s)", (SOME_ID,))),
        "invitations": method_call("Peer.Invite", GLib.Variant("(s)", (SOME_ID,))),
        "unknown": method_call("Peer.Nonsense", GLib.Variant("(s)", ("x" * BULK,))),
        "fetches": fetch(activity),
        "hellos": method_call("Link.Hello", GLib.Variant("(ua{sv})", (1, hello))),
    }
    for call in calls.values():
        call.set_serial(1)
    return {name: call.to_blob(NO_FLAGS) for name, call in calls.items()}


class Flood:
    """Sends a call on a link again and again, each time with another serial number, and reads what comes, in a thread."""

    def __init__(self, link: Link, blob: bytes, waiting: int = 1 << 30) -> None:
        # How many calls may wait for their answers: who asks for more than it reads is given up.
        self._waiting = waiting
        self.sent = 0
        self.answered = 0
        self.closed = False
        self._link = link
        self._blob = blob
        self._serial = link.last_serial + 100_000
        self._received = bytearray()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Flood:
        self._thread.start()
        return self

    def __exit__(self, _type: type | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self._link.close()

    def _some(self) -> memoryview:
        """Several calls, as little-endian GDBus makes them."""
        count = min(max(1, 65536 // len(self._blob)), self._waiting - self.sent + self.answered)
        calls = bytearray()
        for _ in range(count):
            self._serial += 1
            calls += self._blob[:8] + struct.pack("<I", self._serial) + self._blob[12:]
        self.sent += count
        return memoryview(calls)

    def _answers(self) -> bytes:
        """Answers to the calls among what has come: who does not answer is given up."""
        answers = b""
        while len(self._received) >= 16:
            needed = Gio.DBusMessage.bytes_needed(bytes(self._received[:16]))
            if len(self._received) < needed:
                break
            if self._received[1] == int(CALL):
                reply = Gio.DBusMessage.new_method_reply(
                    Gio.DBusMessage.new_from_blob(bytes(self._received[:needed]), NO_FLAGS))
                self._serial += 1
                reply.set_serial(self._serial)
                answers += reply.to_blob(NO_FLAGS)
            else:
                self.answered += 1
            del self._received[:needed]
        return answers

    def _run(self) -> None:
        end, rest = self._link.socket, self._some()
        end.setblocking(False)
        try:
            while not self._stop.is_set():
                select.select([end], [end] if rest else [], [], 0.1)
                try:
                    while True:
                        data = end.recv(1 << 18)
                        if not data:
                            self.closed = True
                            return
                        self._received += data
                except ssl.SSLWantReadError:
                    pass
                try:
                    rest = rest[end.send(rest) if rest else 0:] or memoryview(self._answers() + self._some())
                except ssl.SSLWantWriteError:
                    pass
        except OSError:
            self.closed = True


class Stopwatch:
    """How long the user's calls take, and how much processor time the daemons use in the meantime."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.times: list[float] = []
        self._begin = time.monotonic()
        self._used = self._processor_time()

    def _processor_time(self) -> dict[str, float]:
        return {program: processor_time(self._machine.processes[program].pid)
                for program in ("handoffd", "handoff-bridge")}

    def call(self, seconds: float) -> None:
        """Calls both daemons in turn, for this many seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for path, name in ((ROOT, "Manager.Enabled"), (BRIDGE_ROOT, "Bridge.DeviceName")):
                begin = time.monotonic()
                self._machine.session.get(path, name)
                self.times.append(time.monotonic() - begin)

    def share(self, program: str) -> float:
        """What share of a processor a daemon has taken since this began."""
        return (self._processor_time()[program] - self._used[program]) / (time.monotonic() - self._begin)

    def slowest(self, share: float) -> float:
        """The time that all but this share of the calls kept to."""
        return sorted(self.times)[int(len(self.times) * (1 - share))]


def main(name: str, port: str, device_id: str, activity: str) -> None:
    """The program."""
    device = Device()
    print(device.id, flush=True)
    sys.stdin.readline()
    link = device.link_to(Target(int(port), device_id))
    answer(link, method_call("Link.Hello", GLib.Variant("(ua{sv})", (1, {
        "Paired": GLib.Variant("b", True), "Secret": GLib.Variant("ay", b"")}))))
    quiet = time.monotonic() + 1
    until(link, lambda: link.read_messages() and time.monotonic() > quiet, "the link to be quiet")
    print("linked", flush=True)
    sys.stdin.readline()
    with Flood(link, messages(activity)[name]) as flood:
        sys.stdin.readline()
        assert not flood.closed, "it was cut off"


if __name__ == "__main__":
    main(*sys.argv[1:])
