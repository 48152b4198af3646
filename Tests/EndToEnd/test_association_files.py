# SPDX-License-Identifier: LGPL-2.1-or-later
"""What web sites say of applications, good and bad, and the program that asks them."""

from __future__ import annotations

import gzip
import os
import re
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from buses import wait
from claims import HOST, NAME, SHOP, TEAM, claim, handlers, helpers, wait_for_answer
from clients import Client
from sites import MISSING, ROOT_PLACE, WELL_KNOWN, Answer, Web, WebMachine, apps, endless, response, silent, trickle
from support import PROGRAMS, SANITIZED, Machine, memory


# What a site says


def both(first: Answer, second: Answer) -> dict[str, Answer]:
    return {WELL_KNOWN: first, ROOT_PLACE: second}


GOOD = response(apps(NAME))


@pytest.mark.parametrize("answers", [
    pytest.param({WELL_KNOWN: GOOD}, id="first place"),
    pytest.param({ROOT_PLACE: GOOD}, id="second place"),
    pytest.param(both(response(b"", "410 Gone"), GOOD), id="gone"),
    pytest.param(both(response(b"", "500 Oops"), GOOD), id="broken"),
    pytest.param(both(response(b"{}", "302 Found", more=f"Location: https://{HOST}{ROOT_PLACE}\r\n"), GOOD), id="moved"),
    pytest.param(both(GOOD, response(b"{}")), id="both"),
])
def test_places_of_the_file(lap: WebMachine, web: Web, answers: dict[str, Answer]) -> None:
    """The file counts in .well-known, or if there is none, in the root of the site."""
    web.site(HOST, answers)
    claim(lap, HOST)
    assert "was asked" in wait_for_answer(lap)
    assert web.paths(HOST) == ([WELL_KNOWN] if answers.get(WELL_KNOWN) is GOOD else [WELL_KNOWN, ROOT_PLACE])


def test_signed_file(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A signed file counts if its certificate is valid for the host that it comes from."""
    web.site(HOST, response(web.authority.sign(apps(NAME), HOST), content_type="application/pkcs7-mime"))
    claim(lap, HOST)
    assert "was asked" in wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == [SHOP]


BAD_FILES = {
    "huge": endless(10 << 20),
    "slow": trickle,
    "silent": silent,
    "redirected": response(b"", "302 Found", more="Location: https://other.example.net/.well-known/apple-app-site-association\r\n"),
    "redirected for good": response(apps(NAME), "301 Moved", more="Location: http://shop.example.net/apple-app-site-association\r\n"),
    "HTML": response(b"<html><body>Welcome</body></html>", content_type="text/html"),
    "binary": response(bytes(range(256)) * 64),
    "of another shape": response(b'{"activitycontinuation": ["' + NAME.encode() + b'"]}'),
    "of texts that are none": response(b'{"activitycontinuation": {"apps": [7, {}, "a b", "\\u0000.\\u001b"]}}'),
    "nested 10,000 deep": response(b"[" * 10_000 + b"]" * 10_000),
    "missing": MISSING,
    "empty": response(b""),
    "cut off": lambda connection: connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + apps(NAME)),
    "all headers": lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000_000),
    "no HTTP": lambda connection: connection.sendall(apps(NAME) * 100),
    "compressed": response(gzip.compress(apps(NAME)), more="Content-Encoding: gzip\r\n"),
}


@pytest.mark.parametrize("harm", BAD_FILES)
def test_bad_file(lap: WebMachine, desk: Machine, web: Web, harm: str) -> None:
    """An association file that is huge, slow, redirected, of the wrong type, missing or broken in any other way is no
    approval; the log says why, and other sites are asked all the same."""
    web.site(HOST, BAD_FILES[harm])
    web.site("other.example.net", response(apps(NAME)))
    web.site("zzz.example.net", response(apps(NAME)))
    claim(lap, HOST, "zzz.example.net")
    reason = wait_for_answer(lap)
    if harm != "of texts that are none":
        assert f"https://{HOST}/" in reason and len(reason) < 1200 and "\ufffd" not in reason
    assert "was asked" in wait_for_answer(lap, "zzz.example.net")
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []
    assert handlers(desk, lap, "https://zzz.example.net/") == [SHOP]
    assert "other.example.net" not in [request.host for request in web.requests], "a redirect was followed"


def certificate_of(web: Web, kind: str) -> Path:
    """A certificate that is not to be trusted for the host."""
    return {"another authority": lambda: web.other_authority.issue(HOST), "expired": lambda: web.authority.issue(HOST, -1),
            "another host": lambda: web.authority.issue("other.example.net")}[kind]()


@pytest.mark.parametrize("kind", ["another authority", "expired", "another host"])
def test_certificate_that_is_not_trusted(lap: WebMachine, desk: Machine, web: Web, kind: str) -> None:
    """A site whose certificate is of an unknown authority, expired, or that of another host is not even asked."""
    web.site(HOST, response(apps(NAME)), certificate_of(web, kind))
    claim(lap, HOST)
    assert "certificate" in wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []
    assert not web.requests


def test_old_tls(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A site that speaks no version of TLS after 1.1 is not even asked."""
    web.version = ssl.TLSVersion.TLSv1_1
    web.site(HOST, GOOD)
    claim(lap, HOST)
    wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []
    assert not web.requests


@pytest.mark.parametrize("kind", ["another authority", "expired", "another host", "changed", "without signature"])
def test_signature_that_is_not_valid(lap: WebMachine, desk: Machine, web: Web, kind: str) -> None:
    """A file that is signed by another host, by an unknown authority, with an expired certificate, or was changed since is
    no approval."""
    content = apps(NAME)
    web.authority.issue("other.example.net")
    signed = {"another authority": lambda: web.other_authority.sign(content, HOST),
              "expired": lambda: web.authority.sign(content, HOST, -1),
              "another host": lambda: web.authority.sign(content, "other.example.net"),
              "changed": lambda: web.authority.sign(content.replace(b"shop", b"shoq"), HOST).replace(b"shoq", b"shop"),
              "without signature": lambda: unsigned(web, content)}[kind]()
    web.site(HOST, response(signed))
    claim(lap, HOST)
    wait_for_answer(lap)
    assert "no application" in wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []


def unsigned(web: Web, content: bytes) -> bytes:
    """PKCS #7 that holds the content, and no signature."""
    (web.folder / "content").write_bytes(content)
    return subprocess.run(["openssl", "cms", "-data_create", "-in", web.folder / "content", "-outform", "DER"], check=True,
                          capture_output=True).stdout


# The helper process


def test_helper_is_confined(lap: WebMachine, web: Web) -> None:
    """The process that asks sites has little memory, few descriptors, no files to write to, nothing of the session in its
    environment, no way to more rights, and ends with the broker."""
    web.site(HOST, silent)
    claim(lap, HOST)
    wait(lambda: web.paths(HOST), "the site to be asked")
    process, = helpers(lap)
    limits = Path(f"/proc/{process}/limits").read_text()
    memory = {} if SANITIZED else {"address space": 1 << 29}
    for name, most in (memory | {"open files": 64, "file size": 0, "core file size": 0, "cpu time": 12}).items():
        assert re.search(rf"^Max {name} +{most} +{most} ", limits, re.MULTILINE), limits
    status = Path(f"/proc/{process}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    environment = Path(f"/proc/{process}/environ").read_text()
    assert str(lap.folder) not in environment
    descriptors = [str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir()]
    assert not [name for name in descriptors if name.startswith("/") and name != "/dev/null"], descriptors
    lap.kill("handoffd")
    wait(lambda: has_ended(process), "the helper to end", 2)
    lap.start_broker("--verbose")


def has_ended(process: int) -> bool:
    """Whether a process runs no longer; who has to take note of its end may not have done so yet."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_helper_touches_nothing(web: Web, tmp_path: Path) -> None:
    """The process that asks sites talks to the site alone: to no bus and no proxy, and it writes no file."""
    web.site(HOST, response(apps(NAME)))
    trace = tmp_path / "trace"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/bus",
                   "https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "XDG_RUNTIME_DIR": str(tmp_path)}
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(f"{tmp_path}/bus")
        bus.listen()
        # What the broker clears away is there: the program itself has to leave it alone.
        done = subprocess.run(web.command("strace", "-f", "-o", str(trace), "-e", "trace=connect,open,openat,creat,mkdir,unlink",
                                          str(PROGRAMS / "handoff-associations"), HOST),
                              env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == apps_answer(), done.stderr
    calls = trace.read_text().splitlines()
    connected = [call for call in calls if "connect(" in call]
    assert any("sin_port=htons(443)" in call for call in connected)
    others = [call for call in connected if "sin_port=htons(443)" not in call and "nscd" not in call]
    # A socket without a listener is how the C library orders addresses (RFC 6724): nothing is sent.
    assert not [call for call in others if "AF_UNIX" in call or "htons(9)" in call], others
    written = [call for call in calls if any(flag in call for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "mkdir(", "unlink("))]
    # The thread sanitizer, where it is built in, makes a file of its own.
    assert not [call for call in written if "/dev/null" not in call and "/tsan.rodata." not in call], written


def apps_answer() -> str:
    """What the program prints for a site that approves of the application."""
    return f"handoff-associations 1 approved\n{NAME}\n"


def test_broker_stays_small(lap: WebMachine, web: Web) -> None:
    """The broker, which asks no site itself, is as small after asking many, leaves no process and no descriptor behind, and
    loads nothing of what the helper needs."""
    process = lap.processes["handoffd"].pid

    def resources() -> tuple[int, int]:
        return memory(lap, "handoffd") >> 10, len(list(Path(f"/proc/{process}/fd").iterdir()))

    claim(lap, "warm.example.net")
    web.site("warm.example.net", response(apps(NAME)))
    wait_for_answer(lap, "warm.example.net")
    before = resources()
    names = [f"h{number}.example.net" for number in range(24)]
    for name in names:
        web.site(name, response(apps(*(f"{TEAM}.x{number}" for number in range(5000)))[:131_000]),
                 web.authority.issue("many.example.net"))
    claim(lap, "warm.example.net", *names)
    for name in names:
        wait_for_answer(lap, name)
    dirty, descriptors = resources()
    assert dirty <= before[0] + 512 and descriptors <= before[1] + 1, (before, dirty, descriptors)
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    assert not children
    maps = Path(f"/proc/{process}/maps").read_text()
    assert "soup" not in maps and "Foundation" not in maps


def test_damaged_memory(web: Web, machine_list: list[Machine]) -> None:
    """Whatever is in the file where answers are kept: the sites are asked, and the file is written anew."""
    lap = WebMachine("lap", web)
    machine_list.append(lap)
    web.site(HOST, response(apps(NAME)))
    claim(lap, HOST)
    kept = Path(lap.environment["XDG_CACHE_HOME"], "handoff", "sites")
    kept.parent.mkdir()
    for number, content in enumerate([b"\xff\0", b"[" * 100_000, b"x" * (3 << 20),
                                      f"[{HOST}]\nAsked=9223372036854775807\nAnswered=-1\n".encode()]):
        kept.write_bytes(content)
        lap.start_broker("--verbose")
        wait(lambda: len(web.requests) > number, "the site to be asked")
        wait(lambda: kept.read_bytes() != content, "the file to be written")
        lap.kill("handoffd")
    lap.start_broker()


def test_host_that_does_not_exist(lap: WebMachine) -> None:
    """A claim to a host that does not exist is logged as such."""
    claim(lap, "unknown.example.net")
    assert "resolving" in wait_for_answer(lap, "unknown.example.net")
