# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads captured frames, and makes multicast DNS messages."""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capture import Frame

MULTICAST_DNS = ("224.0.0.251", 5353)
SERVICE = "_handoff._tcp.local"
TCP, UDP = 6, 17
# What is looked for repeats in so many bytes.
WINDOW = 8


@dataclass(frozen=True)
class Packet:
    """An IP packet that carries UDP or TCP."""

    target: str
    port: int
    protocol: int
    payload: bytes


def packets(frames: Iterable[Frame]) -> Iterator[Packet]:
    """The packets in Ethernet frames; IPv6 without extension headers."""
    for frame in frames:
        kind, data = frame.data[12:14], frame.data[14:]
        if kind == b"\x08\x00":
            protocol, target = data[9], data[16:20]
            data = data[(data[0] & 15) * 4:struct.unpack_from(">H", data, 2)[0]]
        elif kind == b"\x86\xdd":
            protocol, target = data[6], data[24:40]
            data = data[40:40 + struct.unpack_from(">H", data, 4)[0]]
        else:
            continue
        if protocol in (TCP, UDP):
            start = (data[12] >> 4) * 4 if protocol == TCP else 8
            port = struct.unpack_from(">H", data, 2)[0]
            yield Packet(str(ipaddress.ip_address(target)), port, protocol, data[start:])


def windows(payloads: Iterable[bytes]) -> set[bytes]:
    """All runs of eight bytes in one of them that may be a token: at random, seven of eight are different."""
    runs = {payload[start:start + WINDOW] for payload in payloads for start in range(len(payload) - WINDOW + 1)}
    return {run for run in runs if len(set(run)) >= WINDOW - 1}


def name(text: str) -> bytes:
    """A domain name in a DNS message (RFC 1035, section 3.1)."""
    return b"".join(bytes([len(label)]) + label for label in (part.encode() for part in text.split("."))) + b"\0"


def record(owner: str, kind: int, data: bytes, lifetime: int = 120) -> bytes:
    return name(owner) + struct.pack(">HHIH", kind, 1, lifetime, len(data)) + data


def announcement(instance: str, host: str, port: int, text: list[bytes], address: str, lives: bool = True) -> bytes:
    """What a machine sends to announce an instance of our service, or to take that back."""
    full, lifetime = f"{instance}.{SERVICE}", 120 if lives else 0
    records = [
        record(SERVICE, 12, name(full), lifetime),
        record(full, 33, struct.pack(">HHH", 0, 0, port) + name(host), lifetime),
        record(full, 16, b"".join(bytes([len(entry)]) + entry for entry in text), lifetime),
        record(host, 1, socket.inet_aton(address), lifetime),
    ]
    return struct.pack(">HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def multicast_socket(address: str) -> socket.socket:
    """A socket that sends multicast DNS by the network of `address`."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    # From any other port it would be a question of a simple resolver (RFC 6762, section 6.7).
    sender.bind((address, 5353))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    return sender
