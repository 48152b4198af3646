# SPDX-License-Identifier: LGPL-2.1-or-later
"""A paired peer that sends as fast as it can: it is slowed down, and the user of the machine is not.

How long a call takes depends on what else the machine does, so the limits here are generous; the tight ones are in
meson-helpers/bench. What share of a processor the daemons take does not.
"""

from __future__ import annotations

import signal
import time

import pytest
from gi.repository import Gio, GLib
from buses import let_pass, wait
from clients import Client
from flood import Flood, Stopwatch, messages, nested
from link import NO_FLAGS, SOME_ID, Device, Link, method_call
from support import Machine, device_path

SECONDS = 4
# The 20 ms in 100 that a peer has, and what is not counted for it: what the kernel, the bus and GLib need.
SHARE = 0.5
# Of the user's calls, all but one in ten.
PROMPT = 0.25
AT_ONCE = 1.5


def linked(machine: Machine) -> tuple[Device, Link]:
    """A peer whose link is quiet."""
    device = Device()
    link = device.paired_link_to(machine)
    # What it is told at first it answers as others do: its answers would come behind all that it sends.
    end = time.monotonic() + 1
    wait(lambda: link.read_messages() and time.monotonic() > end, "the link to be quiet")
    return device, link


def flooded(machine: Machine, name: str) -> tuple[Device, Flood]:
    """A peer that sends one of the messages, and reads what comes."""
    client = Client(machine)
    activity = client.offer("Mine", UserInfo={"bulk": GLib.Variant("s", "x" * 60_000)})
    device, link = linked(machine)
    return device, Flood(link, messages(activity.id)[name], 40 if name == "fetches" else 1 << 30)


@pytest.mark.parametrize("name", ["nested", "maximal", "small", "invitations", "unknown", "fetches"])
def test_flood(machine: Machine, name: str) -> None:
    """A peer that sends calls as fast as it can takes no more than its share of the processor, is read on, and the
    user's calls to both daemons are answered at once, the end of the pairing and the switch among them."""
    device, flood = flooded(machine, name)
    with flood:
        watch = Stopwatch(machine)
        watch.call(SECONDS)
        assert not flood.closed and flood.sent > 100
        assert watch.share("handoff-bridge") < SHARE and watch.share("handoffd") < SHARE
        assert watch.slowest(0.1) < PROMPT
        for switch in (False, True):
            begin = time.monotonic()
            machine.set_enabled(switch)
            assert time.monotonic() - begin < AT_ONCE
        begin = time.monotonic()
        machine.session.call(device_path(device.id), "Device.Unpair")
        assert time.monotonic() - begin < AT_ONCE
        wait(lambda: flood.closed, "the link to be closed")


def test_good_peer_among_floods(machine: Machine) -> None:
    """While three peers send as fast as they can, a fourth that asks for something now and then is answered soon, and so is
    the user."""
    floods = [flooded(machine, "nested")[1] for _ in range(3)]
    _device, good = linked(machine)
    times = []
    with floods[0], floods[1], floods[2]:
        # As long as the floods take to get going.
        let_pass(0.5)
        for _ in range(25):
            begin = time.monotonic()
            serial = good.send(method_call("Peer.Withdraw", GLib.Variant("(s)", (SOME_ID,))))
            wait(lambda serial=serial: good.read_messages() and good.answer_to(serial), "an answer")
            times.append(time.monotonic() - begin)
        watch = Stopwatch(machine)
        watch.call(SECONDS)
        assert not good.closed and not any(flood.closed for flood in floods)
        assert watch.slowest(0.1) < PROMPT
        assert sorted(times)[len(times) // 2] < PROMPT


@pytest.mark.parametrize("name", ["nested", "fetches"])
def test_end_while_flooded(machine: Machine, name: str) -> None:
    """Both daemons end at once on SIGTERM, whatever a peer sends meanwhile."""
    _device, flood = flooded(machine, name)
    with flood:
        Stopwatch(machine).call(1)
        assert not flood.closed
        for program in ("handoff-bridge", "handoffd"):
            begin = time.monotonic()
            assert machine.kill(program, signal.SIGTERM) == 0
            assert time.monotonic() - begin < AT_ONCE, program


def test_hello_flood(machine: Machine) -> None:
    """A peer that says Hello without a pause is cut off."""
    _device, flood = flooded(machine, "hellos")
    with flood:
        wait(lambda: flood.closed, "the link to be cut off")
    assert "said Hello more than" in machine.log("handoff-bridge")


def answer(body: GLib.Variant, serial: int) -> Gio.DBusMessage:
    """A reply to the call of this serial number."""
    call = method_call("Peer.Fetch")
    call.set_serial(serial)
    reply = Gio.DBusMessage.new_method_reply(call)
    reply.set_body(GLib.Variant.new_tuple(body))
    return reply


def test_answers_to_nothing(machine: Machine) -> None:
    """A peer that answers what was not asked is cut off at the header, before the answer has come as a whole."""
    reply = answer(nested(5500), 4_000_000)
    reply.set_serial(77)
    blob = reply.to_blob(NO_FLAGS)
    assert len(blob) > 700_000
    # Only now: a device that is busy for longer than that does not answer its peer's Hello.
    link = Device().paired_link_to(machine)
    watch = Stopwatch(machine)
    link.send_bytes(blob[:64])
    link.wait_until_closed()
    watch.call(0.5)
    assert watch.slowest(0.1) < PROMPT
    wait(lambda: "it answered what was not asked" in machine.log("handoff-bridge"), "the reason in the log")


def test_half_a_message(machine: Machine) -> None:
    """A peer that sends half a message and nothing more for five seconds is cut off, and the log says why."""
    _device, link = linked(machine)
    call = method_call("Peer.Withdraw", GLib.Variant("(s)", (SOME_ID,)))
    call.set_serial(99)
    link.send_bytes(call.to_blob(NO_FLAGS)[:-5])
    link.wait_until_closed()
    wait(lambda: "it has sent part of a message, and no more" in machine.log("handoff-bridge"), "the reason in the log")


@pytest.mark.parametrize("size", [15_000, 100_000, 330_000, 1 << 24])
def test_long_messages(machine: Machine, size: int) -> None:
    """A call of more than 16 KiB is refused at its header, with its size, and nothing of it is waited for."""
    # The header is looked at where any call could be so long.
    link = Device().paired_link_to(machine)
    call = method_call("Peer.Offer", GLib.Variant("(sa{sv})", (
        SOME_ID, {"Unknown": GLib.Variant("s", "x" * size)})))
    call.set_serial(99)
    blob = call.to_blob(NO_FLAGS)
    link.send_bytes(blob[:256] if size > 1 << 14 else blob)
    if size > 1 << 14:
        link.wait_until_closed()
        limit = 1 << 14 if len(blob) <= 320 << 10 else 320 << 10
        reason = f"a message of {len(blob)} bytes, more than the {limit} allowed"
        wait(lambda: reason in machine.log("handoff-bridge"), "the reason in the log")
    else:
        wait(lambda: link.answer_to(99), "an answer")
        assert link.answer_to(99).get_error_name().endswith("LimitsExceeded")


@pytest.mark.long
def test_shut_out(machine: Machine) -> None:
    """A peer that takes ten seconds of processor time within a minute loses its link, is told of in the log, and does
    not get in again."""
    device, flood = flooded(machine, "nested")
    with flood:
        wait(lambda: flood.closed, "the link to be closed", 90)
    # Not even to a handshake, though it shows that it is who it is.
    machine.trust(device.id, "other")
    with pytest.raises(OSError):
        device.link_to(machine)
    assert "of processor time in a minute: no link with it for the next minute" in machine.log("handoff-bridge")
