#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a machine is kept from sleep by leaving what is offered with eight others, beside eight bare TLS connections.

Run with a number of samples, it says "sleep", the ratio, the median and the longest in milliseconds, and the median of the
reference: the same bytes written by GLib's TLS, and a byte for an answer from each. HANDOFF_BINARIES has the programs.
"""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "EndToEnd"))

# ruff: noqa: E402
from gi.repository import Gio, GLib
from buses import wait
from clients import Client, Dock
from login_manager import LoginManager
from support import Machine, pair, wait_for_link

PEERS = 8
# With what a dictionary takes around it, 128 KiB.
BULK = (1 << 17) - 1024


def own_certificate() -> Gio.TlsCertificate:
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = f"{folder}/key", f"{folder}/certificate"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=reference", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        return Gio.TlsCertificate.new_from_files(certificate, key)


def connection(end: socket.socket) -> Gio.SocketConnection:
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Gio.Socket.new_from_fd(end.detach()).connection_factory_create_connection()


class Reference:
    """Eight TLS connections over loopback, whose other ends read, and answer each message with a byte."""

    def __init__(self) -> None:
        self.certificate = own_certificate()
        self.streams = [self._connect() for _ in range(PEERS)]

    def _connect(self) -> Gio.TlsConnection:
        listener = socket.create_server(("127.0.0.1", 0))
        near = socket.create_connection(listener.getsockname())
        far, _address = listener.accept()
        listener.close()
        threading.Thread(target=self._answer, args=(far,), daemon=True).start()
        stream = Gio.TlsClientConnection.new(connection(near), None)
        stream.connect("accept-certificate", lambda *_arguments: True)
        stream.handshake()
        return stream

    def _answer(self, far: socket.socket) -> None:
        stream = Gio.TlsServerConnection.new(connection(far), self.certificate)
        stream.handshake()
        left = BULK
        while read := len(stream.get_input_stream().read_bytes(1 << 16, None).get_data()):
            left -= read
            if not left:
                stream.get_output_stream().write_all(b"x", None)
                left = BULK

    def sample(self) -> float:
        data = b"x" * BULK
        begin = time.monotonic()
        for stream in self.streams:
            stream.get_output_stream().write_all(data, None)
        for stream in self.streams:
            stream.get_input_stream().read_bytes(1, None)
        return time.monotonic() - begin


def main(samples: int) -> None:
    lap = Machine("lap")
    logind = LoginManager.of(lap)
    peers = [Machine(f"peer{number}") for number in range(PEERS)]
    for machine in [lap, *peers]:
        machine.start_broker()
        machine.start_bridge()
    for machine in peers:
        pair(machine, lap)
    here = Client(lap)
    here.offer("Letter", UserInfo={"bulk": GLib.Variant("s", "x" * BULK)})
    docks = [Dock(machine) for machine in peers]
    _there = [Client(machine) for machine in peers]
    reference = Reference()
    slept, sent = [], []
    for _ in range(samples):
        for machine, dock in zip(peers, docks):
            wait_for_link(lap, machine)
            dock.offer("Letter")
        wait(lambda: logind.delays, "the delay of sleep")
        sent.append(reference.sample())
        slept.append(delay(logind))
        wait(lambda: all(offer["Parked"] for dock in docks for offer in dock.offers.values()), "what was left")
        assert all(dock.offers for dock in docks)
        # One of a peer is taken in ten seconds.
        time.sleep(10)
        logind.prepare_for_sleep(False)
    median, echo = (statistics.median(values) * 1000 for values in (slept, sent))
    print(f"sleep {median / echo:.2f} {median:.2f} {max(slept) * 1000:.2f} {echo:.2f}")
    for machine in [lap, *peers]:
        machine.stop()
    logind.stop()


def delay(logind: LoginManager) -> float:
    """For how long the machine is kept from sleep; nothing else is done meanwhile."""
    begin = time.monotonic()
    logind.prepare_for_sleep(True)
    while logind.delays:
        time.sleep(0.0005)
    return time.monotonic() - begin


main(int(sys.argv[1]))
