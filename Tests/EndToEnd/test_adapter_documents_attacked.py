# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that lie about the documents that they show, and activities of peers that are not what they should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import BUS, let_pass, wait
from clients import CROSSING, Client, Dock
from fake_viewers import FakeManager, FakeOkular
from samples import tagged
from sandbox import Sandbox, can_be_made
from support import SANITIZED, Machine, private_memory
from viewers import BROWSING, READING, TEAM, Desktop, pdf

Desktops = tuple[Desktop, Desktop]
MIB = 1 << 20


@pytest.fixture
def desktops(machines: tuple[Machine, Machine]) -> Iterator[Desktops]:
    """Two paired machines without displays."""
    both = [Desktop(machine) for machine in machines]
    yield both[0], both[1]
    for desktop in both:
        desktop.close()


def receiver(desktop: Desktop) -> Client:
    """A program that would continue anything of the adapter, so that it is listed."""
    return Client(desktop.machine, types=(READING, BROWSING), options={"Team": GLib.Variant("s", TEAM)})


def fetched(desktops: Desktops, title: str) -> dict[str, Any]:
    """Continues what is offered by this title, and returns the `UserInfo` that has come along."""
    # It has been synchronised already.
    desktops[1].document(title)
    client, dock = receiver(desktops[1]), Dock(desktops[1].machine)
    dock.continue_offer(dock.offer(title))
    return client.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"]


@pytest.mark.parametrize("lie", ["key", "relative", "back", "long", "folder", "device", "missing", "address"])
def test_path_that_is_a_lie(desktops: Desktops, lie: str) -> None:
    """A file is not offered because a program says that a viewer shows it: neither a private key, nor a device, a folder,
    a path of ten megabytes, nor any that is not absolute. The next document is offered."""
    desk, lap = desktops
    key = desk.papers / "id_rsa"
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    (desk.papers / "key.pdf").symlink_to(key)
    desk.document("Thesis.pdf")
    document = {"key": str(desk.papers / "key.pdf"), "relative": "Thesis.pdf",
                "back": f"{desk.papers}/../{desk.papers.name}/Thesis.pdf", "long": "/" + "x" * 10 * MIB,
                "folder": str(desk.papers), "device": "/dev/zero", "missing": f"{desk.papers}/None.pdf",
                "address": (desk.papers / "Thesis.pdf").as_uri()}[lie]
    adapter = desk.start_adapter()
    receiver(lap)
    dock = Dock(lap.machine)
    viewer = FakeOkular(desk.machine, document)
    wait(lambda: viewer.asked["currentDocument"], "the viewer to be asked")
    let_pass(CROSSING)
    assert not dock.titles and adapter.poll() is None
    viewer.disown("org.kde.okular-1")
    viewer.document = str(desk.papers / "Thesis.pdf")
    viewer.own("org.kde.okular-1")
    dock.offer("Thesis.pdf")
    assert str(desk.papers) not in desk.machine.log("handoff-adapter")


def test_name_with_line_breaks(desktops: Desktops) -> None:
    """A document whose name has line breaks is offered without them in its title."""
    desk, lap = desktops
    desk.start_adapter()
    receiver(lap)
    dock = Dock(lap.machine)
    FakeOkular(desk.machine, str(desk.document("Thesis\n[ok].pdf")))
    assert "\n" not in dock.offers[dock.offer("Thesis\N{REPLACEMENT CHARACTER}[ok].pdf")]["Title"]


@pytest.mark.parametrize(("page", "told"), [(7, 7), (0, None), (100_001, None), ((1 << 32) - 1, None),
                                            (GLib.Variant("s", "never"), None)])
def test_page_out_of_range(desktops: Desktops, page: Any, told: int | None) -> None:
    """A page that no document has, or that a viewer never tells, is left out, and the document goes on all the same."""
    desk, _ = desktops
    desk.start_adapter()
    FakeOkular(desk.machine, str(desk.document("Thesis.pdf")), page)
    user_info = fetched(desktops, "Thesis.pdf")
    assert user_info == {"application": "org.kde.okular"} | ({"page": told} if told else {})


def test_page_is_read_only_when_it_is_needed(desktops: Desktops) -> None:
    """A viewer is asked for its page when what it shows is saved, and never before; while nothing happens, it is asked
    nothing."""
    desk, lap = desktops
    receiver(lap)
    adapter = desk.start_adapter()
    viewer, dock = FakeOkular(desk.machine, str(desk.document("Thesis.pdf")), 3), Dock(lap.machine)
    dock.offer("Thesis.pdf")
    # What follows from the offer is done by then.
    let_pass(0.5)

    def switches() -> int:
        status = Path(f"/proc/{adapter.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("voluntary_ctxt")))

    asked, before = viewer.asked.copy(), switches()
    # Longer than between two calls of WillSave that no continuation asks for (Deadline.autosave, 1 s), twice.
    let_pass(2.5)
    assert viewer.asked == asked and not asked["currentPage"] and switches() == before
    assert fetched(desktops, "Thesis.pdf")["page"] == 3


def test_another_document_in_the_window(desktops: Desktops) -> None:
    """When a window shows another document by the time that the one which was offered is continued, that one goes on, without
    the other's page; then the other is offered."""
    desk, lap = desktops
    desk.start_adapter()
    viewer = FakeOkular(desk.machine, str(desk.document("Thesis.pdf")), 3)
    lap.document("Thesis.pdf")
    client, dock = receiver(lap), Dock(lap.machine)
    path = dock.offer("Thesis.pdf")
    viewer.document = str(desk.document("Other.pdf"))
    dock.continue_offer(path)
    handed = client.wait_for("ContinueActivity").arguments.unpack()[0]
    assert handed["Title"] == "Thesis.pdf" and handed["UserInfo"] == {"application": "org.kde.okular"}
    dock.offer("Other.pdf")


def test_viewer_that_learns_handoff(desktops: Desktops) -> None:
    """A viewer that registers itself is left alone: the adapter offers nothing of it any more, and asks it nothing."""
    desk, lap = desktops
    adapter = desk.start_adapter()
    receiver(lap)
    viewer, dock = FakeOkular(desk.machine, str(desk.document("Thesis.pdf"))), Dock(lap.machine)
    # Without another application it would end then.
    FakeManager(desk.machine).own("org.gnome.Nautilus")
    path = dock.offer("Thesis.pdf")
    Client(desk.machine, "org.kde.okular", ("org.kde.okular.read",))
    dock.wait_until_gone(path)
    # The other machine may know it sooner than the adapter, which hears of it from the same broker.
    let_pass(0.3)
    asked = viewer.asked.copy()
    viewer.disown("org.kde.okular-1")
    viewer.own("org.kde.okular-1")
    let_pass(CROSSING)
    assert viewer.asked == asked and adapter.poll() is None and not dock.titles


def test_a_thousand_changes_a_second(desktops: Desktops) -> None:
    """However often viewers come, go, and say that they have loaded something, the adapter asks each of them ten times a
    second at most, keeps its memory, and offers what is shown in the end."""
    desk, lap = desktops
    receiver(lap)
    adapter = desk.start_adapter()
    path = str(desk.document("Thesis.pdf"))
    viewer, dock = FakeOkular(desk.machine, str(desk.papers / "None.pdf")), Dock(lap.machine)
    wait(lambda: viewer.asked["currentDocument"], "the viewer to be asked")
    manager = FakeManager(desk.machine)
    viewer.asked.clear()
    before, start = private_memory(adapter.pid), GLib.get_monotonic_time()
    for number in range(3000):
        name = f"org.kde.okular-{2 + number % 100}"
        (viewer.own if number // 100 % 2 == 0 else viewer.disown)(name)
        manager.show(**{f"_{number}": [desk.papers.as_uri(), f"file:///{number}"]})
        viewer.connection.emit_signal(None, "/org/gnome/evince/Window/0", "org.gnome.evince.Window", "DocumentLoaded",
                                      GLib.Variant("(s)", (f"file:///{number}.pdf",)))
    seconds = (GLib.get_monotonic_time() - start) / 1e6
    assert viewer.asked["currentDocument"] <= 10 * seconds + 2
    assert manager.asked["OpenWindowsWithLocations"] <= 10 * seconds + 2
    assert SANITIZED or private_memory(adapter.pid) - before < 4 * MIB
    manager.show()
    viewer.disown("org.kde.okular-1")
    viewer.document = path
    viewer.own("org.kde.okular-1")
    dock.offer("Thesis.pdf")
    assert adapter.poll() is None


def test_more_viewers_than_there_can_be(desktops: Desktops) -> None:
    """A program that takes the names of very many viewers hides a real one for no longer than it is there."""
    desk, lap = desktops
    receiver(lap)
    attacker = FakeOkular(desk.machine, str(desk.papers / "None.pdf"))
    for number in range(2, 300):
        attacker.own(f"org.kde.okular-{number}")
    desk.start_adapter()
    dock = Dock(lap.machine)
    wait(lambda: attacker.asked["currentDocument"], "the attacker to be asked")
    FakeOkular(desk.machine, str(desk.document("Thesis.pdf")), name="org.kde.okular-300")
    attacker.close()
    dock.offer("Thesis.pdf")


def test_viewer_that_nobody_knows(desktops: Desktops) -> None:
    """Who says that it has loaded a document, and is none of Evince's windows as Evince's daemon knows them, is not
    believed."""
    desk, lap = desktops
    desk.start_adapter()
    receiver(lap)
    dock, session = Dock(lap.machine), desk.machine.connect()
    session.connection.emit_signal(None, "/org/gnome/evince/Window/0", "org.gnome.evince.Window", "DocumentLoaded",
                                   GLib.Variant("(s)", (desk.document("Thesis.pdf").as_uri(),)))
    let_pass(CROSSING)
    assert not dock.titles


def test_viewer_in_a_sandbox(desktops: Desktops) -> None:
    """A viewer in a sandbox is believed if it is the viewer's own, and then of its document folder only."""
    desk, lap = desktops
    if reason := can_be_made(desk.machine):
        pytest.skip(reason)
    document = desk.document("Thesis.pdf")
    portal = Path(desk.environment["XDG_RUNTIME_DIR"], "doc")
    for folder in ("12ab", "by-app/org.kde.okular/12ab"):
        (portal / folder).mkdir(parents=True)
        (portal / folder / "Mine.pdf").write_bytes(pdf())
    desk.start_adapter()
    receiver(lap)
    dock = Dock(lap.machine)
    stranger = Sandbox(desk.machine, "com.example.game", "--own=org.kde.*")
    FakeOkular(stranger, str(portal / "12ab" / "Mine.pdf"), name="org.kde.okular-3")
    own = Sandbox(desk.machine, "org.kde.okular", "--own=org.kde.*")
    viewer = FakeOkular(own, str(document), name="org.kde.okular-4")
    wait(lambda: viewer.asked["currentDocument"], "the viewer to be asked")
    let_pass(CROSSING)
    assert not dock.titles
    viewer.disown("org.kde.okular-4")
    viewer.document = str(portal / "12ab" / "Mine.pdf")
    viewer.own("org.kde.okular-4")
    dock.offer("Mine.pdf")
    for sandbox in (stranger, own):
        sandbox.close()


@pytest.mark.parametrize("value", [
    GLib.Variant("i", -1), GLib.Variant("x", 1 << 31), GLib.Variant("s", "4; reboot"), GLib.Variant("d", 4.0)])
def test_page_of_a_peer(desktops: Desktops, value: GLib.Variant) -> None:
    """A page of a peer that is no page turns nothing, and reaches no command line."""
    desk, lap = desktops
    path, copy = desk.document("Thesis.pdf"), lap.document("Thesis.pdf")
    result = lap.machine.folder / "arguments"
    program(lap, "okular", f'printf "%s\\n" "$@" >{result}.new; mv {result}.new {result}')
    lap.start_adapter()
    viewer = FakeOkular(lap.machine, str(copy), 5)
    offer_reading(desk, path, page=value)
    dock = Dock(lap.machine)
    dock.continue_offer(dock.offer("Thesis.pdf"))
    wait(result.exists, "the viewer to be started")
    assert result.read_text().splitlines() == ["--", str(copy)] and viewer.page == 5


def offer_reading(desktop: Desktop, path: Path, application: str = "org.kde.okular", **user_info: GLib.Variant) -> Client:
    """A program of another device offers a document."""
    client = Client(desktop.machine, application, (READING,), options={"Team": GLib.Variant("s", TEAM)})
    client.offer(path.name, DocumentURL=path.as_uri(),
                 UserInfo={"application": GLib.Variant("s", application)} | user_info)
    return client


def program(desktop: Desktop, name: str, script: str) -> None:
    """Installs a program before all others."""
    folder = desktop.machine.folder / "programs"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o700)
    if str(folder) not in desktop.environment["PATH"]:
        desktop.environment["PATH"] = f"{folder}:{desktop.environment['PATH']}"


@pytest.mark.parametrize("name", ["-x.pdf", "+1.pdf", "a\nb --page 9.pdf", "$(reboot).pdf", "x.pdf#page=3"])
def test_name_that_looks_like_something_else(desktops: Desktops, name: str) -> None:
    """Whatever a document is called, its viewer gets it as one absolute path after the end of all options."""
    desk, lap = desktops
    path, copy = desk.document(name), lap.document(name)
    result = lap.machine.folder / "arguments"
    program(lap, "okular", f'printf "%s\\0" "$@" >{result}.new; mv {result}.new {result}')
    lap.start_adapter()
    offer_reading(desk, path, page=GLib.Variant("x", 4))
    dock = Dock(lap.machine)
    dock.continue_offer(wait(lambda: list(dock.offers), "an offer")[0])
    wait(result.exists, "the viewer to be started")
    assert result.read_text().split("\0")[:-1] == ["--page", "4", "--", str(copy)]


def test_what_is_no_document(desktops: Desktops) -> None:
    """What is no document with pages is opened in no viewer, whatever its name and the viewer that is asked for: a script
    stays closed, and the user is told why."""
    desk, lap = desktops
    result = lap.machine.folder / "started"
    program(lap, "okular", f"touch {result}")
    lap.start_adapter()
    for desktop in desktops:
        desktop.document("Thesis.pdf", b"#!/bin/sh\nreboot\n")
    offer_reading(desk, desk.papers / "Thesis.pdf")
    dock = Dock(lap.machine)
    dock.continue_offer(dock.offer("Thesis.pdf"))
    _, error, message = dock.outcome()
    assert error.endswith("NoApplication") and "script" in message and not result.exists()


def test_activity_without_what_it_needs(desktops: Desktops) -> None:
    """Without a document, or with a folder that is in no shared one, continuing fails and says what to do."""
    desk, lap = desktops
    lap.start_adapter()
    manager, dock = FakeManager(lap.machine), Dock(lap.machine)
    for number, (kind, user_info, hint) in enumerate([
            (READING, {}, "was not brought over"), (BROWSING, {}, "Add the shared folder"),
            (BROWSING, {"folder": tagged("url", GLib.Variant("s", "file:///etc"))}, "Add the shared folder"),
            (BROWSING, {"folder": tagged("url", GLib.Variant("s", "smb://example.com/a"))}, "Add the shared folder"),
            (BROWSING, {"folder": tagged("url", GLib.Variant("s", (lap.papers / "None").as_uri()))}, "no such folder"),
    ]):
        client = Client(desk.machine, "org.gnome.Nautilus", (kind,), options={"Team": GLib.Variant("s", TEAM)})
        client.offer(f"Nothing {number}", UserInfo=user_info)
        dock.continue_offer(dock.offer(f"Nothing {number}"))
        _, error, message = wait(lambda: dock.finished()[number:], "the outcome")[0]
        assert error and hint in message, message
        client.close()
    assert not manager.shown


def test_page_at_each_continuation(desktops: Desktops) -> None:
    """A document that is continued a second time goes on at the page that it is at then."""
    desk, lap = desktops
    desk.start_adapter()
    viewer = FakeOkular(desk.machine, str(desk.document("Thesis.pdf")), 3)
    lap.document("Thesis.pdf")
    client, dock = receiver(lap), Dock(lap.machine)
    path = dock.offer("Thesis.pdf")
    for number, page in enumerate((3, 8, 5), 1):
        viewer.page = page
        dock.continue_offer(path)
        handed = client.wait_for("ContinueActivity", number).arguments.unpack()[0]
        assert handed["UserInfo"]["page"] == page
        wait(lambda: len(dock.finished()) == number, "the outcome")
