# SPDX-License-Identifier: LGPL-2.1-or-later
"""Web sites: a network of its own for a machine's broker, in which a server answers for any host, with certificates of an
authority that is the only one trusted there."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import namespaces
from support import Machine

WELL_KNOWN, ROOT_PLACE = "/.well-known/apple-app-site-association", "/apple-app-site-association"
NUMBERS = itertools.count(101)
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


class Request(NamedTuple):
    """A request that has come."""

    host: str
    path: str
    headers: str
    at: float


# What a site does with a connection once it has read a request.
Answer = Callable[[ssl.SSLSocket], None]


def response(body: bytes, status: str = "200 OK", content_type: str = "application/json", more: str = "") -> Answer:
    """Answers with this."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n\r\n"
    return lambda connection: connection.sendall(head.encode() + body)


MISSING = response(b"not here", "404 Not Found", "text/html")


def apps(*names: str) -> bytes:
    """The file that approves of these."""
    listed = ", ".join(f'"{name}"' for name in names)
    return f'{{"activitycontinuation": {{"apps": [{listed}]}}}}'.encode()


def silent(connection: ssl.SSLSocket) -> None:
    """Never answers."""
    connection.settimeout(60)
    try:
        connection.recv(1)
    except OSError:
        pass


def trickle(connection: ssl.SSLSocket) -> None:
    """Sends a byte every now and then, for as long as somebody listens."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    for _ in range(600):
        connection.sendall(b" ")
        time.sleep(0.1)


def endless(size: int) -> Answer:
    """Sends this many bytes without saying beforehand how many they are."""
    def answer(connection: ssl.SSLSocket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        for _ in range(size // 65536):
            connection.sendall(b" " * 65536)
    return answer


class Authority:
    """Issues certificates, in a folder."""

    def __init__(self, folder: Path, name: str = "Test Authority") -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.certificate = folder / "ca.pem"
        self._run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                  "-subj", f"/CN={name}", "-addext", "keyUsage=keyCertSign", "-keyout", "ca.key", "-out", "ca.pem")

    def _run(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def issue(self, host: str, days: int = 30) -> Path:
        """The certificate and key for a host, in one file; with fewer than 0 days it has expired."""
        file = self.folder / f"{host}{days}.pem"
        if file.exists():
            return file
        name = f"{host}{days}"
        (self.folder / f"{name}.ext").write_text(
            f"subjectAltName=DNS:{host}\nextendedKeyUsage=serverAuth\nkeyUsage=digitalSignature\n")
        self._run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=site",
                  "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self._run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                  "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.crt")
        file.write_bytes((self.folder / f"{name}.crt").read_bytes() + (self.folder / f"{name}.key").read_bytes())
        return file

    def sign(self, content: bytes, host: str, days: int = 30) -> bytes:
        """The content, signed with the certificate of a host: PKCS #7 in DER, with everything in it."""
        certificate = self.issue(host, days)
        (self.folder / "content").write_bytes(content)
        self._run("smime", "-sign", "-binary", "-nodetach", "-md", "sha256", "-in", "content", "-signer", str(certificate),
                  "-inkey", str(certificate), "-certfile", "ca.pem", "-outform", "DER", "-out", "signed")
        return (self.folder / "signed").read_bytes()


class Web:
    """A network with nothing in it but a server, which answers on port 443 for each host that has an answer."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="handoff-web-"))
        self.namespace = f"handoff-{os.getpid()}-{next(NUMBERS)}"
        # Why there is none; empty if there is one.
        self.missing = namespaces.ip("netns", "add", self.namespace)
        self.requests: list[Request] = []
        self._answers: dict[str, dict[str, Answer]] = {}
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._sockets: list[socket.socket] = []
        # The latest version of TLS that its server speaks.
        self.version = ssl.TLSVersion.TLSv1_3
        if self.missing:
            return
        self.missing = namespaces.ip("-n", self.namespace, "link", "set", "lo", "up")
        self.authority = Authority(self.folder / "authority")
        self.other_authority = Authority(self.folder / "other", "Another Authority")
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n")
        self.listener = namespaces.inside(self.namespace, lambda: socket.create_server(("127.0.0.1", 443), backlog=64))
        threading.Thread(target=self._serve, daemon=True).start()

    def remove(self) -> None:
        if not self.missing:
            self.listener.close()
            for connection in self._sockets:
                connection.close()
        namespaces.ip("netns", "del", self.namespace)
        shutil.rmtree(self.folder, ignore_errors=True)

    def site(self, host: str, answers: dict[str, Answer] | Answer, certificate: Path | None = None) -> None:
        """Lets a host answer requests for these paths, or for the first place of the file, instead of what it answered
        before; everything else is missing."""
        known = host in self._answers
        self._answers[host] = answers if isinstance(answers, dict) else {WELL_KNOWN: answers}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate or self.authority.issue(host))
        self._contexts[host] = context
        if not known:
            # Last: nobody finds a site that could not answer yet.
            with open(self.hosts, "a") as hosts:
                hosts.write(f"127.0.0.1 {host}\n")

    def paths(self, host: str) -> list[str]:
        """What this host was asked for so far, in order."""
        return [request.path for request in self.requests if request.host == host]

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        self._sockets.append(connection)
        names: list[str] = []

        def named(tls: ssl.SSLSocket, name: str | None, _context: ssl.SSLContext) -> None:
            names.append(name or "")
            if name in self._contexts:
                tls.context = self._contexts[name]

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = named
        context.maximum_version = self.version
        if self.version < ssl.TLSVersion.TLSv1_2:
            context.minimum_version = self.version
            context.set_ciphers("DEFAULT:@SECLEVEL=0")
        try:
            with context.wrap_socket(connection, server_side=True) as tls:
                head = b""
                while b"\r\n\r\n" not in head and (data := tls.recv(65536)):
                    head += data
                text = head.decode(errors="replace")
                path = text.split(" ")[1]
                self.requests.append(Request(names[0], path, text, time.monotonic()))
                self._answers.get(names[0], {}).get(path, MISSING)(tls)
        except (OSError, IndexError):
            # Whoever asks may go at any time, and does where it has been told not to trust a certificate.
            connection.close()

    def command(self, *command: str) -> list[str]:
        """The command with which a program is run in this network, where only its authority is trusted."""
        # Something can be mounted only where there is something: a bare machine has no such file.
        hosts = ("[ -e /etc/hosts ] || { mount -t tmpfs tmpfs /mnt && cp -a /etc/. /mnt && : > /mnt/hosts &&"
                 " mount --bind /mnt /etc; }")
        script = f'{hosts} && mount --bind "$1" /etc/hosts && mount --bind "$2" {CERTIFICATES} && shift 2 && exec "$@"'
        return ["ip", "netns", "exec", self.namespace, "sh", "-c", script, "sh", str(self.hosts),
                str(self.authority.certificate), *command]


class WebMachine(Machine):
    """A machine whose broker, and what that starts, is in such a network."""

    def __init__(self, name: str, web: Web) -> None:
        super().__init__(name)
        self.web = web

    def prefix(self, program: str) -> list[str]:
        return self.web.command() if program == "handoffd" else super().prefix(program)
