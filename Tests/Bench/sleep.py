#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long leaving what is offered with eight others before sleep takes, beside eight bare TLS connections.

Run with a number of samples, the program "peers" and eight certificates, it says "sleep", the ratio, the median in milliseconds
until all have it, the longest time until the machine may sleep, and the median of the reference: the same bytes written by GLib's
TLS, and a byte for an answer from each. HANDOFF_BINARIES has the programs.
"""

from __future__ import annotations

import os
import re
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
from clients import Client
from login_manager import LoginManager
from support import Machine

PEERS = 8
# With what a dictionary takes around it, 128 KiB.
BULK = (1 << 17) - 1024


def own_certificate() -> Gio.TlsCertificate:
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = f"{folder}/key", f"{folder}/certificate"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "2", "-subj", "/CN=reference", "-keyout", key, "-out", certificate],
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


def main(samples: int, program: str, certificates: list[str]) -> None:
    reference = Reference()
    left, slept, sent = [], [], []
    for _ in range(samples):
        sent.append(reference.sample())
        all_have_it, sleeps = sample(program, certificates)
        left.append(all_have_it)
        slept.append(sleeps)
    median, echo = (statistics.median(values) * 1000 for values in (left, sent))
    print(f"sleep {median / echo:.2f} {median:.2f} {max(slept) * 1000:.2f} {echo:.2f}")


def sample(program: str, certificates: list[str]) -> tuple[float, float]:
    """How long it takes until a device for each certificate has what a machine leaves with it before sleep, and until that may
    sleep. The devices do nothing but read and answer, so that they take no processor from the machine."""
    lap = Machine("lap")
    logind = LoginManager.of(lap)
    lap.start_broker()
    lap.start_bridge()
    Client(lap).offer("Letter", UserInfo={"bulk": GLib.Variant("s", "x" * BULK)})
    peers = subprocess.Popen([program, str(lap.port), lap.device_id, *certificates], env=lap.environment,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert peers.stdout.readline() == b"linked\n"
    wait(lambda: logind.delays, "the delay of sleep")
    log = Path(lap.log_file("handoff-bridge"))
    wait(lambda: log.read_text(encoding="utf-8").count("is up (paired)") == len(certificates), "the links")
    # Whoever answers is done with what it does when a link is new.
    assert lap.device_id
    times = delay(lap, logind)
    (heirs,) = re.findall("was left with (.*)", log.read_text(encoding="utf-8"))
    assert len(heirs.split(", ")) == len(certificates), heirs
    peers.communicate()
    lap.stop()
    logind.stop()
    return times


def delay(lap: Machine, logind: LoginManager) -> tuple[float, float]:
    """How long both take; meanwhile the application answers what it is asked."""
    context, left = GLib.MainContext.default(), 0.0
    with open(lap.log_file("handoff-bridge"), encoding="utf-8") as log:
        log.seek(0, os.SEEK_END)
        begin = time.monotonic()
        logind.prepare_for_sleep(True)
        while not left or logind.delays:
            context.iteration(False)
            if not left and "was left with" in log.read():
                left = time.monotonic() - begin
            time.sleep(0.0002)
        return left, time.monotonic() - begin


main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
