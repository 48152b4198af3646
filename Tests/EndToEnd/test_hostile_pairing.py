# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a hostile neighbour tries with the messages of pairing: nobody is trusted who was not agreed to, and two peers
do not notice (test_hostile_neighbours says what that means)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import pytest
from gi.repository import GLib
from buses import BusError, wait
from bystanders import Bystanders, Impostor, connecting
from link import Device, Link, method_call
from pairing import call, discoverable, shown, state, YES
from support import Machine, refused
from transcript import Scribe, Transcript, octets


def stranger_to(machine: Machine, device: Scribe) -> tuple[Link, Transcript]:
    """A link of a stranger that has dialled, and what its two ends compute."""
    link = device.link_to(machine)
    transcript = device.transcript(link, machine)
    link.hello(paired=False)
    return link, transcript


def commit(link: Link, commitment: bytes) -> bytes:
    """Commits itself, and gives back the other's nonce."""
    return bytes(link.call("Pairing.Commit", octets(commitment)).unpack()[0])


def begin(link: Link, transcript: Transcript) -> str:
    """Does all until the code is compared, which is given back."""
    code = transcript.code(commit(link, transcript.commitment()))
    link.call("Pairing.Reveal", octets(transcript.nonce))
    return code


def test_the_code_is_that_of_the_wire(bystanders: Bystanders) -> None:
    """The machine shows the code that the other end computes, and is paired only if its own user says yes."""
    desk = bystanders.desk
    discoverable(desk)
    device = Scribe()
    with bystanders.undisturbed() as times:
        link, transcript = stranger_to(desk, device)
        code = begin(link, transcript)
        assert (state(desk, device.id), shown(desk, device.id)["PairingCode"]) == ("comparing", code)
        link.call("Pairing.Confirm")
        times.take_under_attack()
        assert (state(desk, device.id), shown(desk, device.id)["Paired"]) == ("comparing", False)
    call(desk, device.id, "ConfirmPairing", YES)
    wait(lambda: link.read_messages() and shown(desk, device.id)["Paired"], "the pairing")


def revealed_twice(link: Link, transcript: Transcript) -> None:
    begin(link, transcript)
    link.call("Pairing.Reveal", octets(transcript.nonce))


def committed_again(link: Link, transcript: Transcript) -> None:
    begin(link, transcript)
    link.call("Pairing.Commit", octets(transcript.commitment()))


def revealed_almost_that(link: Link, transcript: Transcript) -> None:
    commit(link, transcript.commitment())
    link.call("Pairing.Reveal", octets(transcript.nonce[:-1] + bytes([transcript.nonce[-1] ^ 1])))


def revealed_one_byte_less(link: Link, transcript: Transcript) -> None:
    commit(link, transcript.commitment(transcript.nonce[:31]))
    link.call("Pairing.Reveal", octets(transcript.nonce[:31]))


def confirmed_before_reveal(link: Link, transcript: Transcript) -> None:
    commit(link, transcript.commitment())
    link.call("Pairing.Confirm")


def confirmed_twice(link: Link, transcript: Transcript) -> None:
    begin(link, transcript)
    link.call("Pairing.Confirm")
    link.call("Pairing.Confirm")


def requested_after_commit(link: Link, transcript: Transcript) -> None:
    commit(link, transcript.commitment())
    link.call("Pairing.Request")


def went_on_after_cancel(link: Link, transcript: Transcript) -> None:
    begin(link, transcript)
    link.send(method_call("Pairing.Cancel", GLib.Variant("(s)", ("No.",))))
    link.send(method_call("Pairing.Confirm"))
    link.wait_until_closed()
    raise BusError("PairingFailed", "The link was cut off.")


def for_other_ends(link: Link, transcript: Transcript) -> None:
    other = Transcript(transcript.exporter, os.urandom(32).hex(), transcript.ends[32:].hex())
    commit(link, other.commitment(transcript.nonce))
    link.call("Pairing.Reveal", octets(transcript.nonce))


MISUSES = {
    "Reveal twice": revealed_twice, "Commit after Reveal": committed_again,
    "a nonce of which one bit is another": revealed_almost_that, "a nonce of 31 bytes": revealed_one_byte_less,
    "Confirm before Reveal": confirmed_before_reveal, "Confirm twice": confirmed_twice,
    "Request after Commit": requested_after_commit, "Confirm after Cancel": went_on_after_cancel,
    "a commitment of other devices": for_other_ends,
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES)
def test_misused_pairing(bystanders: Bystanders, misuse: Callable[[Link, Transcript], None]) -> None:
    """Pairing messages out of order, repeated or untrue end the attempt and the link; nobody is trusted."""
    desk = bystanders.desk
    discoverable(desk)
    device = Scribe()
    with bystanders.undisturbed() as times:
        link, transcript = stranger_to(desk, device)
        times.take_under_attack()
        with refused("PairingFailed"):
            misuse(link, transcript)
        link.wait_until_closed()
        wait(lambda: shown(desk, device.id).get("PairingError"), "the reason")
        with refused("PairingFailed"):
            call(desk, device.id, "ConfirmPairing", YES)


@pytest.mark.parametrize("whose", ["the device's own", "another's"])
def test_commitment_of_another_session(bystanders: Bystanders, whose: str) -> None:
    """A commitment and its nonce that were good in one session are not in the next, whoever's they were."""
    desk = bystanders.desk
    discoverable(desk)
    device = Scribe()
    with bystanders.undisturbed() as times:
        first, transcript = stranger_to(desk, device if whose == "the device's own" else Scribe())
        begin(first, transcript)
        times.take_under_attack()
        if whose == "the device's own":
            first.close()
        second, _transcript = stranger_to(desk, device)
        commit(second, transcript.commitment())
        with refused("PairingFailed"):
            second.call("Pairing.Reveal", octets(transcript.nonce))
        second.wait_until_closed()


def short_answer(link: Link) -> None:
    link.answers["Commit"] = octets(bytes(31))


def committed_as_well(link: Link) -> None:
    link.send(method_call("Pairing.Commit", octets(bytes(32))))


def revealed_as_well(link: Link) -> None:
    link.send(method_call("Pairing.Reveal", octets(bytes(32))))


def confirmed_unseen(link: Link) -> None:
    link.send(method_call("Pairing.Confirm"))


def refused_reveal(link: Link) -> None:
    link.errors["Reveal"] = ("org.example.Handoff.Error.PairingFailed", "I do not like it.")


RESPONSES = {
    "answers Commit with 31 bytes": short_answer, "commits itself as well": committed_as_well,
    "reveals as well": revealed_as_well, "confirms before Reveal": confirmed_unseen, "refuses Reveal": refused_reveal,
}


@pytest.mark.parametrize("respond", RESPONSES.values(), ids=RESPONSES)
def test_misused_by_who_was_dialled(bystanders: Bystanders, respond: Callable[[Link], None]) -> None:
    """A device that was dialled and misuses pairing ends the attempt and the link; it is not trusted."""
    desk, device = bystanders.desk, Device()
    with bystanders.undisturbed() as times, Impostor() as impostor:
        finish = connecting(desk, impostor.port)
        link = impostor.answer(device.identity)
        link.hello(paired=False)
        finish()
        link.answers["Commit"] = octets(bytes(32))
        times.take_under_attack()
        respond(link)
        with suppress(BusError):
            call(desk, device.id, "Pair")
        wait(lambda: link.read_messages() is not None and link.closed, "the end of the link")
        assert not shown(desk, device.id).get("Paired")
        with refused("PairingFailed", "UnknownObject"):
            call(desk, device.id, "ConfirmPairing", YES)
