# SPDX-License-Identifier: LGPL-2.1-or-later
"""Avahi as its clients see it: over D-Bus."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gi.repository import Gio, GLib
from buses import Session

AVAHI = "org.freedesktop.Avahi"
# Interfaces and protocols.
ANY = -1
IPV4 = 0
RUNNING = 2
ESTABLISHED = 2

CONFIGURATION = """\
[server]
host-name={name}
use-ipv4=yes
use-ipv6=yes
ratelimit-interval-usec=1000000
ratelimit-burst=1000000
[wide-area]
enable-wide-area=no
[publish]
publish-hinfo=no
publish-workstation=no
"""


def configure(path: Path, name: str) -> None:
    """Writes a configuration of avahi-daemon for a host of this name."""
    path.write_text(CONFIGURATION.format(name=name))


def is_running(session: Session) -> bool:
    """Whether the daemon on this system bus has established its name on the network."""
    return bool(session.owner(AVAHI)) and call(session, "/", "Server.GetState").unpack()[0] == RUNNING


def call(session: Session, path: str, member: str, signature: str = "()", *arguments: Any) -> GLib.Variant:
    return session.call(path, f"{AVAHI}.{member}", GLib.Variant(signature, arguments), destination=AVAHI)


@dataclass(frozen=True)
class Service:
    """A service that was found."""

    interface: int
    protocol: int
    name: str
    type: str
    domain: str


@dataclass(frozen=True)
class Resolved:
    """Where a service is, and what it says about itself."""

    host: str
    address: str
    port: int
    text: tuple[bytes, ...]


class Publication:
    """A service on the network, for as long as its connection lasts."""

    def __init__(self, session: Session, name: str, service_type: str, port: int, text: tuple[bytes, ...] = ()) -> None:
        self._session = session
        self._path = call(session, "/", "Server.EntryGroupNew").unpack()[0]
        call(session, self._path, "EntryGroup.AddService", "(iiussssqaay)", ANY, ANY, 0, name, service_type, "", "",
             port, text)
        call(session, self._path, "EntryGroup.Commit")

    @property
    def is_established(self) -> bool:
        return call(self._session, self._path, "EntryGroup.GetState").unpack()[0] == ESTABLISHED

    def withdraw(self) -> None:
        call(self._session, self._path, "EntryGroup.Free")


class Browser:
    """The services of a type that are on the network."""

    def __init__(self, session: Session, service_type: str) -> None:
        self._session = session
        self.services: set[Service] = set()
        self._path = ""
        # Before there is a browser, or its first signals would be missed: so for whichever is there.
        self._early: list[tuple[str, str, Service]] = []
        interface = f"{AVAHI}.ServiceBrowser"
        self._subscription = session.connection.signal_subscribe(
            AVAHI, interface, None, None, None, Gio.DBusSignalFlags.NONE, self._signalled)
        self._path = call(session, "/", "Server.ServiceBrowserNew", "(iissu)", ANY, ANY, service_type, "",
                          0).unpack()[0]
        for event in self._early:
            self._handle(*event)

    def _signalled(self, _connection: Gio.DBusConnection, _sender: str, path: str, _interface: str, member: str,
                   arguments: GLib.Variant) -> None:
        if member in ("ItemNew", "ItemRemove"):
            event = (path, member, Service(*arguments.unpack()[:5]))
            if self._path:
                self._handle(*event)
            else:
                self._early.append(event)

    def _handle(self, path: str, member: str, service: Service) -> None:
        if path == self._path:
            (self.services.add if member == "ItemNew" else self.services.discard)(service)

    @property
    def names(self) -> set[str]:
        return {service.name for service in self.services}

    def resolve(self, service: Service, address_protocol: int = ANY) -> Resolved:
        """Asks where a service is. Takes up to five seconds if nobody answers, and then fails."""
        reply = call(self._session, "/", "Server.ResolveService", "(iisssiu)", service.interface, service.protocol,
                     service.name, service.type, service.domain, address_protocol, 0).unpack()
        return Resolved(reply[5], reply[7], reply[8], tuple(bytes(entry) for entry in reply[9]))

    def close(self) -> None:
        self._session.connection.signal_unsubscribe(self._subscription)
        call(self._session, self._path, "ServiceBrowser.Free")
