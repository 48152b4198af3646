# SPDX-License-Identifier: LGPL-2.1-or-later
"""A device that is not our bridge: the other end of a link, which may say whatever it likes."""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gi.repository import Gio, GLib
from buses import BROKER, BusError, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID
from support import Machine, device_path

NO_FLAGS = Gio.DBusCapabilityFlags.NONE
CALL, REPLY, ERROR = (Gio.DBusMessageType.METHOD_CALL, Gio.DBusMessageType.METHOD_RETURN, Gio.DBusMessageType.ERROR)


# What a knock shows: bytes, or what makes them of the random bytes of both sides.
Entry = bytes | Callable[[bytes], bytes]


def some_host() -> str:
    """An address of the loopback network, which stands for a separate host."""
    return f"127.{random.randint(1, 254)}.{random.randint(0, 255)}.{random.randint(1, 254)}"


def knock_entry(key: bytes, device_id: str, destination: bytes = bytes(18)) -> Entry:
    """The entry by which a dialler shows that it has a key."""
    return lambda exchange: hmac.digest(
        key, b"handoff knock 2" + exchange + bytes.fromhex(device_id) + destination, "sha256")[:16]


def named(host: str, port: int) -> bytes:
    """A destination that was announced, as a knock names it."""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(host) + port.to_bytes(2, "big")


def trust_key(one: str, other: str) -> bytes:
    """The key that everybody knows who was told both ids."""
    return hashlib.sha256(b"handoff trust 1" + b"".join(sorted(map(bytes.fromhex, (one, other))))).digest()


class Identity:
    """A key and a self-signed certificate, made by openssl."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = Path(folder, "key"), Path(folder, "certificate")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                            "-nodes", "-days", "3650", "-subj", "/CN=handoff", "-keyout", key, "-out", certificate],
                           check=True, capture_output=True)
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
            # For who is dialled: it doesn't ask for a certificate, since Python would want to know its authority.
            self.server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            for context in (self.context, self.server_context):
                context.minimum_version = ssl.TLSVersion.TLSv1_3
                context.load_cert_chain(certificate, key)
            self.id = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text())).hexdigest()


class Link:
    """A TCP connection to a machine's bridge, or from it, and what may come of it."""

    def __init__(self, end: Machine | socket.socket, host: str = "") -> None:
        self.socket: socket.socket = end if isinstance(end, socket.socket) else \
            socket.create_connection(("127.0.0.1", end.port), 5, (host or some_host(), 0))
        self.received: list[Gio.DBusMessage] = []
        # What calls of a member are answered with; nothing, if it is not here.
        self.answers: dict[str, GLib.Variant] = {}
        # How many seconds to wait for bytes that are to come.
        self.patience = 5.0
        self.errors: dict[str, tuple[str, str]] = {}
        # Members whose calls wait for `answer_waiting`, and those calls.
        self.slow: set[str] = set()
        self.waiting: list[Gio.DBusMessage] = []
        self.closed = False
        self._buffer = b""
        self.last_serial = 0

    def close(self) -> None:
        self.closed = True
        self.socket.close()

    # Bytes

    def send_bytes(self, data: bytes) -> None:
        """Sends any bytes; if the connection has been cut off already, nothing happens."""
        self.socket.settimeout(5)
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True

    def _read(self) -> None:
        """Reads what is there, without waiting."""
        if self.closed:
            return
        self.socket.settimeout(0)
        try:
            while data := self.socket.recv(65536):
                self._buffer += data
            self.closed = True
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        except OSError:
            self.closed = True

    @property
    def received_bytes(self) -> bytes:
        """The bytes that have arrived and were not a message yet."""
        return self._buffer

    def wait_until_closed(self, timeout: float = 10) -> None:
        """Waits for the other side to end the connection."""
        wait(self.has_ended, "the connection to be cut off", timeout)

    def has_ended(self) -> bool:
        """Whether the other side has ended the connection, as far as that can be seen now."""
        self._read()
        return self.closed

    # TLS and messages

    def take(self, count: int) -> bytes:
        """Waits for this many bytes; returns fewer if the connection ends before."""
        self.socket.settimeout(self.patience)
        taken = b""
        while len(taken) < count and (data := self.socket.recv(count - len(taken))):
            taken += data
        return taken

    def knock(self, *entries: Entry, kind: int = 1) -> bytes:
        """Takes the greeting, and shows these entries, or what a stranger shows if there are none. Returns the
        greeting."""
        greeting = self.take(24)
        challenge = os.urandom(16)
        shown = [entry if isinstance(entry, bytes) else entry(greeting[8:] + challenge)
                 for entry in entries or (os.urandom(16),)]
        self.socket.sendall(bytes([kind, len(shown)]) + challenge + b"".join(shown))
        return greeting

    def greet(self, greeting: bytes) -> bytes:
        """Greets, as the one that was dialled, and returns the knock."""
        self.socket.sendall(greeting)
        head = self.take(18)
        return head + self.take(16 * head[1]) if len(head) == 18 else head

    def start_tls(self, identity: Identity, *entries: Entry) -> None:
        """Knocks with these entries, or as a stranger, and goes on with TLS."""
        self.knock(*entries)
        self.shake(identity)

    def shake(self, identity: Identity) -> None:
        """Does the handshake as the one that has dialled, which may have to wait for its turn."""
        self.socket.settimeout(12)
        self.socket = identity.context.wrap_socket(self.socket)

    @property
    def peer_id(self) -> str:
        """The identity that the other side has shown."""
        return hashlib.sha256(self.socket.getpeercert(binary_form=True)).hexdigest()

    def send(self, message: Gio.DBusMessage) -> int:
        """Sends a message as it is, with the next serial number unless it has one."""
        if not message.get_serial():
            self.last_serial += 1
            message.set_serial(self.last_serial)
        self.send_bytes(message.to_blob(NO_FLAGS))
        return message.get_serial()

    def read_messages(self) -> list[Gio.DBusMessage]:
        """What has come so far. Calls are answered as a well-behaved device would."""
        self._read()
        while len(self._buffer) >= 16:
            needed = Gio.DBusMessage.bytes_needed(self._buffer[:16])
            if len(self._buffer) < needed:
                break
            message = Gio.DBusMessage.new_from_blob(self._buffer[:needed], NO_FLAGS)
            self._buffer = self._buffer[needed:]
            self.received.append(message)
            if message.get_message_type() == CALL:
                self._answer(message)
        return self.received

    def answer_waiting(self) -> None:
        """Answers what waits, and what comes from now on."""
        self.slow.clear()
        for call in self.waiting:
            self._answer(call)
        self.waiting.clear()

    def _answer(self, call: Gio.DBusMessage) -> None:
        member = call.get_member()
        if member in self.slow:
            self.waiting.append(call)
            return
        if member in self.errors:
            self.send(Gio.DBusMessage.new_method_error_literal(call, *self.errors[member]))
            return
        reply = Gio.DBusMessage.new_method_reply(call)
        if member in self.answers:
            reply.set_body(self.answers[member])
        self.send(reply)

    def calls(self, member: str) -> list[Gio.DBusMessage]:
        """The calls of a member that have come so far."""
        return [message for message in self.read_messages()
                if message.get_message_type() == CALL and message.get_member() == member]

    def answer_to(self, serial: int) -> Gio.DBusMessage | None:
        """The answer to the call with this serial, if it has come."""
        return next((message for message in self.read_messages() if message.get_reply_serial() == serial), None)

    def call(self, member: str, arguments: GLib.Variant | None = None) -> GLib.Variant | None:
        """Calls a member, written `Peer.Offer`, and waits for the answer."""
        serial = self.send(method_call(member, arguments))
        wait(lambda: self.answer_to(serial) or self.closed, f"an answer to {member}")
        answer = self.answer_to(serial)
        assert answer, f"cut off instead of an answer to {member}"
        if answer.get_message_type() == ERROR:
            raise BusError(answer.get_error_name(), answer.get_body().unpack()[0])
        return answer.get_body()

    def hello(self, *, paired: bool, version: int = 1, **about: GLib.Variant) -> None:
        """Says Hello, and waits until the other side has said it too."""
        about = {"Paired": GLib.Variant("b", paired), "Secret": GLib.Variant("ay", b"")} | about
        self.call("Link.Hello", GLib.Variant("(ua{sv})", (version, about)))
        wait(lambda: self.calls("Hello"), "the other side's Hello")


def method_call(member: str, arguments: GLib.Variant | None = None, path: str = "/") -> Gio.DBusMessage:
    """A call as it travels on a link."""
    interface, _, method = member.rpartition(".")
    if "." not in interface:
        interface = f"{BROKER}.{interface}"
    message = Gio.DBusMessage.new_method_call(None, path, interface, method)
    if arguments is not None:
        message.set_body(arguments)
    return message


class Device:
    """Another device, with an identity of its own."""

    def __init__(self) -> None:
        self.identity = Identity()
        self.id = self.identity.id

    def link_to(self, machine: Machine, host: str = "") -> Link:
        """A TLS connection to this machine, which may trust it, on which nothing has been said; from this address, or one
        of its own."""
        link = Link(machine, host)
        link.start_tls(self.identity, knock_entry(trust_key(self.id, machine.device_id), self.id))
        return link

    def paired_link_to(self, machine: Machine) -> Link:
        """Becomes a peer of this machine, and connects."""
        machine.trust(self.id, "other")
        link = self.link_to(machine)
        assert link.peer_id == machine.device_id
        link.hello(paired=True)

        def connected() -> Any:
            # Whoever connects is asked in turn, and has to answer before a test does something that takes its time.
            is_asked = any(message.get_member() == "Hello" for message in link.read_messages())
            return is_asked and machine.connected_to(self.id)

        wait(connected, f"{machine.name} to be connected")
        return link


def forgotten(machine: Machine, device: Device) -> bool:
    """Whether the machine knows nothing of this device."""
    try:
        machine.session.get_all(device_path(device.id), "Device")
    except BusError as error:
        return error.short_name == "UnknownObject"
    return False


# What such a device may say.

SOME_ID = "0123456789abcdef" * 2
CONTINUATION = "fedcba9876543210" * 2


def offer(activity: str = SOME_ID, **changes: GLib.Variant) -> GLib.Variant:
    """The arguments of Offer, with changes to the summary."""
    summary = {"ActivityType": GLib.Variant("s", ACTIVITY_TYPE), "ApplicationId": GLib.Variant("s", APPLICATION_ID),
               "Title": GLib.Variant("s", "From afar"), "Revision": GLib.Variant("t", 1),
               "Since": GLib.Variant("x", 1_000_000)}
    return GLib.Variant("(sa{sv})", (activity, summary | changes))


def fetch(activity: str) -> Gio.DBusMessage:
    """A call of Fetch."""
    return method_call("Peer.Fetch", GLib.Variant("(ss)", (activity, CONTINUATION)))


def state(**values: GLib.Variant) -> dict[str, GLib.Variant]:
    """An activity with its state, with changes."""
    return {"ActivityType": GLib.Variant("s", ACTIVITY_TYPE), "ApplicationId": GLib.Variant("s", APPLICATION_ID),
            "Title": GLib.Variant("s", "Letter"), "Revision": GLib.Variant("t", 3)} | values


def leave(link: Link, activity: str = SOME_ID, summary: dict[str, GLib.Variant] | None = None,
          **values: GLib.Variant) -> str:
    """Leaves an activity with the machine of a link, as before sleep; the name of the error that this is answered with, if
    any."""
    summary = state() if summary is None else summary
    try:
        link.call("Peer.Park", GLib.Variant("(sa{sv}a{sv})", (activity, summary, state(**values))))
    except BusError as error:
        return error.short_name
    return ""
