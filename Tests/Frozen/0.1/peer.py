# SPDX-License-Identifier: LGPL-2.1-or-later
"""A paired device as it was in version 0.1: never edited after that is released."""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import ssl
import time
from pathlib import Path
from typing import Any

from gi.repository import Gio, GLib

HERE = Path(__file__).resolve().parent
PEM = HERE / "store" / "peer.pem"
# The secret that this device shares with the one whose store is in the folder “store”.
SECRET = hashlib.sha256(b"the secret of version 0.1").digest()
NO_FLAGS = Gio.DBusCapabilityFlags.NONE
CALL, REPLY, ERROR = (Gio.DBusMessageType.METHOD_CALL, Gio.DBusMessageType.METHOD_RETURN, Gio.DBusMessageType.ERROR)
ACTIVITY = "0123456789abcdef" * 2


def certificate_id() -> str:
    """The id of this device."""
    text = PEM.read_text()
    certificate = text[text.index("-----BEGIN CERTIFICATE-----"):]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate[:certificate.index("-----END CERTIFICATE-----") + 26])).hexdigest()


class FrozenPeer:
    """A link to the bridge that listens at a port of this machine."""

    def __init__(self, port: int, version: int = 1, **about: GLib.Variant) -> None:
        self.received: list[Gio.DBusMessage] = []
        self.answers: dict[str, GLib.Variant] = {}
        self._buffer = b""
        self._serial = 0
        self.closed = False
        self.socket: socket.socket = socket.create_connection(("127.0.0.1", port), 5)
        self._open()
        self.said = self._hello(version, about)

    def _open(self) -> None:
        """Greeting, knock, TLS 1.3 with both certificates."""
        greeting = self._take(24)
        assert greeting[:8] == b"HANDOFF1", greeting
        challenge = os.urandom(16)
        knock = hmac.digest(SECRET, b"handoff knock 2" + greeting[8:] + challenge + bytes.fromhex(certificate_id()) + bytes(18),
                            "sha256")[:16]
        self.socket.sendall(bytes([1, 1]) + challenge + knock)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(PEM)
        self.socket.settimeout(12)
        self.socket = context.wrap_socket(self.socket)
        self.peer_id = hashlib.sha256(self.socket.getpeercert(binary_form=True)).hexdigest()

    def _hello(self, version: int, about: dict[str, GLib.Variant]) -> tuple[int, dict[str, Any]]:
        """Says Hello both ways, and returns what the other side has said."""
        secret = hashlib.sha256(b"handoff secret id 1" + SECRET).digest()[:8]
        said = {"Paired": GLib.Variant("b", True), "Secret": GLib.Variant("ay", secret),
                "Name": GLib.Variant("s", "frozen peer"), "Type": GLib.Variant("s", "laptop"),
                "Port": GLib.Variant("q", 0)}
        self.call("org.example.Handoff.Link.Hello", GLib.Variant("(ua{sv})", (version, said | about)))
        return wait(lambda: self.calls("Hello"), "the other side's Hello")[0].get_body().unpack()

    def close(self) -> None:
        self.closed = True
        self.socket.close()

    def _take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count and (data := self.socket.recv(count - len(taken))):
            taken += data
        return taken

    def messages(self) -> list[Gio.DBusMessage]:
        """What has come so far. Calls are answered."""
        self.socket.settimeout(0)
        try:
            while not self.closed and (data := self.socket.recv(65536)):
                self._buffer += data
            self.closed = True
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        except OSError:
            self.closed = True
        while len(self._buffer) >= 16 and len(self._buffer) >= (size := Gio.DBusMessage.bytes_needed(self._buffer[:16])):
            message = Gio.DBusMessage.new_from_blob(self._buffer[:size], NO_FLAGS)
            self._buffer = self._buffer[size:]
            self.received.append(message)
            if message.get_message_type() == CALL:
                reply = Gio.DBusMessage.new_method_reply(message)
                if (answer := self.answers.get(message.get_member())) is not None:
                    reply.set_body(answer)
                self._send(reply)
        return self.received

    def _send(self, message: Gio.DBusMessage) -> int:
        self._serial += 1
        message.set_serial(self._serial)
        self.socket.settimeout(5)
        self.socket.sendall(message.to_blob(NO_FLAGS))
        return self._serial

    def calls(self, member: str) -> list[Gio.DBusMessage]:
        return [message for message in self.messages()
                if message.get_message_type() == CALL and message.get_member() == member]

    def call(self, member: str, arguments: GLib.Variant | None = None) -> Any:
        """Calls INTERFACE.METHOD, and returns what it is answered with, or the name of an error."""
        interface, _, method = member.rpartition(".")
        message = Gio.DBusMessage.new_method_call(None, "/", interface, method)
        if arguments is not None:
            message.set_body(arguments)
        serial = self._send(message)
        answer = wait(lambda: next((each for each in self.messages() if each.get_reply_serial() == serial), None),
                      f"an answer to {member}")
        if answer.get_message_type() == ERROR:
            return answer.get_error_name()
        return answer.get_body().unpack() if answer.get_body() else ()

    def offer(self, title: str, activity_type: str, application: str, team: str, **more: GLib.Variant) -> None:
        summary = {"ActivityType": GLib.Variant("s", activity_type), "ApplicationId": GLib.Variant("s", application),
                   "Team": GLib.Variant("s", team), "Title": GLib.Variant("s", title),
                   "SupportsContinuationStreams": GLib.Variant("b", False), "Revision": GLib.Variant("t", 1),
                   "Since": GLib.Variant("x", 1_000_000)}
        self.call("org.example.Handoff.Peer.Offer", GLib.Variant("(sa{sv})", (ACTIVITY, summary | more)))

    def withdraw(self) -> None:
        self.call("org.example.Handoff.Peer.Withdraw", GLib.Variant("(s)", (ACTIVITY,)))


def wait(condition: Any, what: str, timeout: float = 20) -> Any:
    """Runs the main loop until the condition returns something true, and returns that."""
    context, end = GLib.MainContext.default(), time.monotonic() + timeout
    tick = GLib.timeout_add(20, lambda: GLib.SOURCE_CONTINUE)
    try:
        while not (result := condition()):
            if time.monotonic() > end:
                raise AssertionError(f"not within {timeout:g} s: {what}")
            context.iteration(True)
        return result
    finally:
        GLib.source_remove(tick)
