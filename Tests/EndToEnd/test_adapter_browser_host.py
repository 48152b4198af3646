# SPDX-License-Identifier: LGPL-2.1-or-later
"""The native messaging host of the add-on for browsers, spoken to as a browser does, and as none should."""

from __future__ import annotations

import json
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from choices import choose, exclude
from clients import CROSSING, Client, Dock
from listener import Listener
from support import PROGRAMS, SANITIZED, Machine
from vendor import ADD_ON, HOST

Machines = tuple[Machine, Machine]
STARTED_FOR = (f"/usr/lib/mozilla/native-messaging-hosts/{HOST}.json", ADD_ON)
BROWSING = "org.example.Handoff.BrowsingWeb"
TEAM = {"Team": GLib.Variant("s", "org.example.Handoff.Browser")}
PAGE = "https://example.com/page"


class Host:
    """The host of this process, which is its browser."""

    def __init__(self, machine: Machine, *arguments: str) -> None:
        link = machine.folder / "handoff-browser"
        if not link.exists():
            link.symlink_to(PROGRAMS / "handoff-adapter")
        self.log_file = machine.folder / "handoff-browser.log"
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen([link, *(arguments or STARTED_FOR)], env=machine.environment,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.received: list[dict[str, Any]] = []
        self._pending = b""
        self._watch = GLib.io_add_watch(self.process.stdout.fileno(), GLib.PRIORITY_DEFAULT, GLib.IO_IN, self._readable)

    def _readable(self, descriptor: int, _condition: GLib.IOCondition) -> bool:
        data = self.process.stdout.read1(1 << 16)
        self._pending += data
        while len(self._pending) >= 4:
            (length,) = struct.unpack("=I", self._pending[:4])
            assert length <= 1 << 20
            if len(self._pending) < 4 + length:
                break
            self.received.append(json.loads(self._pending[4:4 + length]))
            self._pending = self._pending[4 + length:]
        return bool(data)

    def send_bytes(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: str = "front", **members: Any) -> None:
        body = json.dumps({"message": message} | members).encode()
        self.send_bytes(struct.pack("=I", len(body)) + body)

    def show(self, title: str, url: str = PAGE, focus: bool = True) -> None:
        self.send(page={"tab": 1, "url": url, "title": title}, focus=focus)

    def asked(self, message: str, count: int = 1) -> dict[str, Any]:
        """Waits until the host has said something of this kind so many times, and returns the last of it."""
        def all_of_them() -> list[dict[str, Any]]:
            return [one for one in self.received if one["message"] == message][count - 1:]
        return wait(all_of_them, f"{message} from the host")[0]

    def stands(self, standing: str) -> None:
        wait(lambda: [one["standing"] for one in self.received if one["message"] == "standing"][-1:] == [standing],
             f"the standing {standing}")

    def end(self) -> int:
        """Waits for the end of the host and returns its status."""
        wait(lambda: self.process.poll() is not None, "the end of the host")
        return self.process.returncode

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")


@contextmanager
def host(machine: Machine, *arguments: str) -> Iterator[Host]:
    """A host that is ready."""
    running = Host(machine, *arguments)
    try:
        if not arguments:
            running.stands("ready")
        yield running
    finally:
        GLib.source_remove(running._watch) if running.process.poll() is None else None
        running.process.stdin.close()
        running.process.kill()
        running.process.wait()
        running.process.stdout.close()


def handled(dock: Dock, title: str) -> str:
    """The offer of this title, once something here continues it."""
    path = dock.offer(title)
    wait(lambda: dock.offers[path]["Handlers"], "something that continues it")
    return path


def test_browser_that_leaves_a_page(machines: Machines) -> None:
    """What is in front of a browser is current while its user is there, and over with the browser, with which the host
    ends."""
    desk, lap = machines
    with host(desk) as browser:
        dock = Dock(lap)
        browser.show("One")
        path = dock.offer("One")
        browser.show("One", focus=False)
        dock.wait_until_gone(path)
        browser.show("Two")
        path = dock.offer("Two")
        browser.send(page=None, focus=True)
        dock.wait_until_gone(path)
        browser.show("Three")
        path = dock.offer("Three")
        browser.process.stdin.close()
        assert browser.end() == 0
        dock.wait_until_gone(path)
        browser.process.stdin = open("/dev/null", "rb")


def test_place_is_read_when_it_is_needed(machines: Machines) -> None:
    """The place in a page is asked for each time that it is continued, and never in between; what comes late, or is of another
    page, is not taken for it."""
    desk, lap = machines
    with host(desk) as browser:
        reader = Client(lap, "com.example.reader", (BROWSING,), options=TEAM)
        dock = Dock(lap)
        browser.show("One")
        path = dock.offer("One")
        dock.continue_offer(path)
        asked = browser.asked("save")
        assert asked["url"] == PAGE
        browser.send("answer", id=asked["id"] + 1, url=PAGE, place={"y": 1})
        browser.send("answer", id=asked["id"], url=PAGE + "#there", place={"y": 250, "x": -1, "height": "high"})
        activity = reader.wait_for("ContinueActivity").arguments.unpack()[0]
        assert activity["UserInfo"] == {"ScrollX": 0.0, "ScrollY": 250.0, "Height": 0.0}
        assert activity["WebpageURL"] == PAGE
        wait(dock.finished, "the end")
        # Longer than between two calls of WillSave that no continuation asks for (Deadline.autosave, 1 s).
        let_pass(1.2)
        assert len([one for one in browser.received if one["message"] == "save"]) == 1
        dock.continue_offer(path)
        asked = browser.asked("save", 2)
        browser.send("answer", id=asked["id"], url="https://example.com/other", place={"y": 700})
        wait(lambda: len(dock.finished()) == 2, "the second end")
        dock.continue_offer(path)
        asked = browser.asked("save", 3)
        browser.send("answer", id=asked["id"], url=PAGE, place={"y": 900})
        wait(lambda: len(dock.finished()) == 3, "the third end")
        places = [call.arguments.unpack()[0]["UserInfo"]["ScrollY"] for call in reader.calls
                  if call.member == "ContinueActivity"]
        assert places == [250.0, 250.0, 900.0]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "about:config", "https://user:word@example.com/", "x", "", None,
                                     "https://example.com/" + "x" * 9000])
def test_pages_that_stay(machines: Machines, address: str | None) -> None:
    """Whatever the add-on says, only http and https pages without user info are offered."""
    desk, lap = machines
    with host(desk) as browser:
        dock = Dock(lap)
        browser.send(page={"tab": 1, "url": address, "title": "Stays"}, focus=True)
        let_pass(CROSSING)
        browser.show("Goes")
        dock.offer("Goes")
        assert "Stays" not in str(dock.events) and dock.titles == ["Goes"]


def test_pages_that_are_not_opened(machines: Machines) -> None:
    """A peer cannot have a browser open anything but http and https pages without user info, and what it sends along is
    checked."""
    desk, lap = machines
    origin = Client(desk, "com.example.origin", (BROWSING,), options=TEAM)
    with host(lap) as browser:
        dock = Dock(lap)
        for number, address in enumerate(("https://user@example.com/", ""), 1):
            origin.offer(f"Bad {number}", WebpageURL=address)
            dock.continue_offer(handled(dock, f"Bad {number}"))
            wait(lambda: len(dock.finished()) == number, "a refusal")
            assert dock.finished()[-1][1].endswith("ApplicationFailed"), dock.finished()
        fields = [{"Name": GLib.Variant("s", "a"), "Number": GLib.Variant("x", 5), "Text": GLib.Variant("s", "b")},
                  {"Name": GLib.Variant("s", ""), "Number": GLib.Variant("x", -5), "Text": GLib.Variant("i", 1)}]
        origin.offer("Good", WebpageURL=PAGE, UserInfo={
            "ScrollY": GLib.Variant("d", float("nan")), "ScrollX": GLib.Variant("s", "1"), "Height": GLib.Variant("d", -1),
            "Fields": GLib.Variant("aa{sv}", fields)})
        dock.continue_offer(handled(dock, "Good"))
        asked = browser.asked("open")
        assert asked["place"] == {"x": 0, "y": 0, "height": 0, "fields": [{"name": "a", "number": 5, "text": "b"}]}
        assert asked["url"] == PAGE
        browser.send("answer", id=asked["id"], done=False)
        wait(lambda: len(dock.finished()) == 3, "the failure")
        assert "did not open the page" in dock.finished()[-1][2]
        assert len([one for one in browser.received if one["message"] == "open"]) == 1


@pytest.mark.parametrize("data, words", [
    (b"\xff\xff\xff\xff", "a message of 4294967295 bytes"),
    (struct.pack("=I", (1 << 20) + 1), "at most 1048576"),
    (struct.pack("=I", 20000) + b"[" * 20000, "nests more than 32 deep"),
    (struct.pack("=I", 50000) + b'{"a":' * 10000, "nests more than 32 deep"),
    (struct.pack("=I", 4) + b"\xff\xfe\xfd\xfc", "no JSON"),
    (struct.pack("=I", 0), "no JSON"),
])
def test_messages_that_end_the_host(machine: Machine, data: bytes, words: str) -> None:
    """A message that is too long, too deep, or none ends the host with a line that says why, at once."""
    with host(machine) as browser:
        began = time.monotonic()
        browser.send_bytes(data)
        assert browser.end() == 1
        assert time.monotonic() - began < 2
        assert words in browser.log and browser.log.count("handoff-browser ends") == 1


def test_flood(machines: Machines) -> None:
    """A thousand pages a second, with titles of almost a megabyte among them, are told ten times a second at most; the last one
    is told, and the host's memory stays."""
    desk, lap = machines
    with host(desk) as browser:
        dock = Dock(lap)
        listener = Listener(desk)
        began = time.monotonic()
        for number in range(3000):
            browser.show(f"Page {number}", f"{PAGE}/{number % 7}")
            if number % 300 == 0:
                browser.show("x" * 900_000)
        browser.show("The last one")
        dock.offer("The last one")
        heard = listener.close()
        assert 2 <= heard.count("member=CreateActivity") + heard.count("member=Update\n") <= (time.monotonic() - began) * 10 + 2
        with open(f"/proc/{browser.process.pid}/status", encoding="ascii") as file:
            kilobytes = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        assert SANITIZED or kilobytes < 100_000
        for message in ("front", "changed", "answer", "continue", "nonsense", 5, None):
            browser.send_bytes(framed({"message": message, "id": "x", "page": [], "offer": 7}))
        browser.show("Still there")
        dock.offer("Still there")


def framed(value: Any) -> bytes:
    body = json.dumps(value).encode()
    return struct.pack("=I", len(body)) + body


def test_what_the_user_has_switched_off(machines: Machines) -> None:
    """A browser that is kept out, or whose adapter is switched off, is told so, and offers nothing until that is changed."""
    desk, lap = machines
    with host(desk) as browser:
        dock = Dock(lap)
        browser.show("Before")
        path = dock.offer("Before")
        name = dock.offers[path]["ApplicationId"]
        exclude(desk, name)
        browser.stands("excluded")
        dock.wait_until_gone(path)
        browser.show("Secret")
        exclude(desk)
        browser.stands("ready")
        choose(desk, "DisabledAdapters", GLib.Variant("as", ["browser"]))
        browser.stands("disabled")
        browser.show("Secret too")
        choose(desk, "DisabledAdapters", GLib.Variant("as", []))
        browser.stands("ready")
        desk.set_enabled(False)
        browser.stands("off")
        desk.set_enabled(True)
        browser.stands("ready")
        browser.show("After")
        dock.offer("After")
        desk.kill("handoffd")
        browser.stands("absent")
        desk.start_broker()
        browser.stands("ready")
        browser.show("After that")
        dock.offer("After that")
    assert "Secret" not in "".join(desk.log(program) + lap.log(program) for program in ("handoffd", "handoff-bridge"))


def test_offers(machines: Machines) -> None:
    """The add-on is told of pages of other devices, as text that is fit to be shown, and has one continued."""
    desk, lap = machines
    origin = Client(desk, "com.example.origin", (BROWSING, "com.example.other"), options=TEAM)
    with host(lap) as browser:
        origin.create("com.example.other", Title="No page").become_current()
        origin.offer("A \u202eпage", WebpageURL=PAGE)
        offers = wait(lambda: [one for one in browser.received if one["message"] == "offers" and one["offers"]], "an offer")
        handled(Dock(lap), "A \ufffdпage")
        [offer] = offers[-1]["offers"]
        assert (offer["title"], offer["device"]) == ("A \ufffdпage", "desk")
        browser.send("continue", offer="/nonsense")
        assert browser.asked("outcome")["error"]
        browser.send("continue", offer=offer["id"])
        asked = browser.asked("open")
        browser.send("answer", id=asked["id"], done=True)
        assert browser.asked("outcome", 2) == {"message": "outcome", "offer": offer["id"], "error": None}


def test_who_may_start_it(machine: Machine) -> None:
    """The host serves its add-on alone, and says so to whoever starts it otherwise."""
    for arguments in (["nothing"], ["other@example.org"], ["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"]):
        with host(machine, *arguments) as started:
            assert started.end() == 2
            assert "started by browsers" in started.log


def test_without_a_bus(machine: Machine) -> None:
    """Without a session bus the add-on is told that nothing is there, and the host waits for the end of the browser, so that
    it is not started again and again."""
    machine.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={machine.folder}/no-bus"
    with host(machine, *STARTED_FOR) as browser:
        browser.stands("absent")
        browser.show("Nothing")
        browser.process.stdin.close()
        assert browser.end() == 0
        browser.process.stdin = open("/dev/null", "rb")
