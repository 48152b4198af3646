# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the two ends of a link compute from their TLS session, done by hand (docs/protocol.md)."""

from __future__ import annotations

import hashlib
import hmac
import os
import tempfile

from gi.repository import GLib
from link import Device, Link, knock_entry
from support import Machine

LABEL = "EXPORTER-Channel-Binding"


def expanded(secret: bytes, label: str, context: bytes, length: int, digest: str) -> bytes:
    """HKDF-Expand-Label (RFC 8446, section 7.1), for no more than one block."""
    name = f"tls13 {label}".encode()
    info = length.to_bytes(2, "big") + bytes([len(name)]) + name + bytes([len(context)]) + context
    return hmac.digest(secret, info + b"\x01", digest)[:length]


class Transcript:
    """One session, its two ends, and random bytes of whoever uses this."""

    def __init__(self, exporter: bytes, client: str, server: str) -> None:
        self.exporter = exporter
        self.ends = bytes.fromhex(client) + bytes.fromhex(server)
        self.nonce = os.urandom(32)

    def commitment(self, nonce: bytes = b"") -> bytes:
        """What the client commits itself to its nonce with."""
        return hashlib.sha256(b"handoff commit 1" + self.exporter + self.ends + (nonce or self.nonce)).digest()

    def code(self, theirs: bytes) -> str:
        """The code as users see it, for the client's nonce and this one of the server."""
        digest = hashlib.sha256(b"handoff pairing 1" + self.exporter + self.ends + self.nonce + theirs).digest()
        digits = f"{int.from_bytes(digest[:8], 'big') % 1_000_000:06}"
        return f"{digits[:3]} {digits[3:]}"

    @property
    def secret(self) -> bytes:
        """K, which both ends have if they are paired over this link."""
        return hmac.digest(self.exporter, b"handoff secret 1" + self.ends, "sha256")


class Scribe(Device):
    """A device that knows what is computed from its sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._keys = tempfile.NamedTemporaryFile()
        self.identity.context.keylog_filename = self.identity.server_context.keylog_filename = self._keys.name

    def transcript(self, link: Link, machine: Machine, is_client: bool = True) -> Transcript:
        """That of a link with this machine, if no later one was made."""
        with open(self._keys.name) as file:
            secret = bytes.fromhex([line.split()[2] for line in file if line.startswith("EXPORTER_SECRET ")][-1])
        digest = "sha384" if link.socket.cipher()[0].endswith("SHA384") else "sha256"
        size = hashlib.new(digest).digest_size
        empty = hashlib.new(digest, b"").digest()
        exporter = expanded(expanded(secret, LABEL, empty, size, digest), "exporter", empty, 32, digest)
        ends = (self.id, machine.device_id) if is_client else (machine.device_id, self.id)
        return Transcript(exporter, *ends)

    def known_link_to(self, machine: Machine, secret: bytes) -> Link:
        """Dials this machine as a peer that has this secret; nothing is said over TLS yet."""
        link = Link(machine)
        link.start_tls(self.identity, knock_entry(secret, self.id))
        return link

    def knock(self, greeting: bytes, secret: bytes, destination: bytes = bytes(18)) -> bytes:
        """What a dialler says to this greeting that has this secret."""
        challenge = os.urandom(16)
        entry = knock_entry(secret, self.id, destination)
        return b"\x01\x01" + challenge + entry(greeting[8:] + challenge)


def octets(data: bytes) -> GLib.Variant:
    """One argument of bytes."""
    return GLib.Variant("(ay)", (data,))
