# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a machine announces and sends on a network, and what of that is its own."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import avahi
from buses import BRIDGE_ROOT
from packets import UDP, packets
from rig import HostedMachine
from support import Machine


def announcements(machine: HostedMachine, browser: avahi.Browser) -> Iterator[tuple[avahi.Service, avahi.Resolved]]:
    """What a machine announces now, as another host finds it. Two machines may have chosen the same port."""
    port = machine.session.get(BRIDGE_ROOT, "Bridge.Port")
    for service in [service for service in browser.services if service.protocol == avahi.IPV4]:
        try:
            resolved = browser.resolve(service, avahi.IPV4)
        except Exception:  # It has gone meanwhile.
            continue
        if (resolved.address, resolved.port) == (machine.place.address, port):
            yield service, resolved


def instances(machine: HostedMachine, browser: avahi.Browser) -> dict[str, tuple[int, tuple[bytes, ...]]]:
    """What a machine announces now: port and text, by instance."""
    return {service.name: (resolved.port, resolved.text) for service, resolved in announcements(machine, browser)}


def tags(text: tuple[bytes, ...]) -> set[bytes]:
    """The tags in the text of an announcement."""
    values = next(entry[2:] for entry in text if entry.startswith(b"t="))
    return {values[start:start + 8] for start in range(0, len(values), 8)}


# What names and records of DNS-SD have in common, wherever they stand in a message.
WORDS = ("_services", "_dns-sd", "_handoff", "_udp", "_tcp", "local")
# What follows the label of a name: a pointer to the rest of the name, a type and a class, and in an answer the time to live,
# a length, and the length of the label that may come next (RFC 1035, sections 4.1.3 and 4.1.4; RFC 6762, section 10.2).
# With that, two characters that two random labels begin or end with would make eight bytes that repeat.
REST = rb"\xc0[\x00-\xff]\x00[\x01-\xff][\x00\x80]\x01(?:\x00\x00[\x00-\xff]{2}\x00[\x01-\xff]\x1a?)?"
# The names for the addresses of the host, which Avahi announces itself; where one has stood before, a pointer to its rest.
REVERSE = rb"(?:\x01[0-9a-f]){4,32}(?:\x03ip6(?:\x04arpa)?)?|(?:[\x01-\x03][0-9]{1,3}){4}\x07in-addr(?:\x04arpa)?"
COMMON = re.compile(REST + b"|" + REVERSE)


def labels(machine: HostedMachine, browser: avahi.Browser) -> set[str]:
    """What a machine calls what it announces now: the service, and the host."""
    return {label for service, resolved in announcements(machine, browser)
            for label in (service.name, resolved.host.partition(".")[0])}


def sent(machine: HostedMachine, others: set[str] = frozenset()) -> list[bytes]:
    """What a machine has sent since the capture began, without what Avahi says of the host itself, the words that all
    announcements have, and the names of `others`."""
    words = [bytes([len(word)]) + word.encode() for word in (machine.place.name, *WORDS, *others)]
    words += [b"\x03v=1", b"Bt=", socket.inet_aton(machine.place.address)]
    payloads = []
    for packet in packets(machine.place.stop_capture()):
        pieces = [packet.payload]
        for word in words if packet.protocol == UDP else [b"HANDOFF1"]:
            pieces = [part for piece in pieces for part in piece.split(word)]
        if packet.protocol == UDP:
            pieces = [part for piece in pieces for part in COMMON.split(piece)]
        payloads += pieces
    return payloads


def secrets_of(machine: Machine) -> list[bytes]:
    """What would tell anybody who a machine is."""
    return [machine.name.encode(), bytes.fromhex(machine.device_id), machine.device_id.encode(),
            f"{socket.gethostname()}.local".encode()]
