# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents that viewers show go on on another machine, with the real programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from choices import exclude, restarted
from clients import Dock
from screen import Screen
from support import PROGRAMS, Machine
from test_adapters import disable
from test_desktop_entries import have_bus_start, install
from viewers import ADAPTER, READING, VIEWERS, Desktop, installed, pdf

Desktops = tuple[Desktop, Desktop]
pytestmark = pytest.mark.desktop


@pytest.fixture
def desktops(machines: tuple[Machine, Machine], tmp_path: Path) -> Iterator[Desktops]:
    """Two paired machines with displays."""
    if what := installed("Xvfb", *VIEWERS):
        pytest.skip(f"{what}: meson-helpers/install-packages desktop")
    folders = [tmp_path / machine.name for machine in machines]
    for folder in folders:
        folder.mkdir()
    both = [Desktop(machine, Screen(folder)) for machine, folder in zip(machines, folders)]
    yield both[0], both[1]
    for desktop in both:
        desktop.close()


def continued(desktops: Desktops, title: str) -> tuple[str, str, str]:
    """Continues what is offered by this title, and returns what came of it."""
    dock = Dock(desktops[1].machine)
    dock.continue_offer(dock.offer(title))
    return dock.outcome()


@pytest.mark.always
@pytest.mark.parametrize("program", VIEWERS)
def test_page_goes_on(desktops: Desktops, program: str) -> None:
    """What is read on one machine goes on in the same viewer of the other, at the page that was reached when it was
    continued, whatever page it was at when it was offered."""
    desk, lap = desktops
    here, there = VIEWERS[program](desk), VIEWERS[program](lap)
    path, copy = desk.document("Thesis.pdf"), lap.document("Thesis.pdf")
    desk.start_adapter()
    lap.start_adapter()
    here.open(path, 2)
    dock = Dock(lap.machine)
    offer = dock.offer("Thesis.pdf")
    assert dock.offers[offer]["ActivityType"] == READING and dock.offers[offer]["ApplicationId"] == here.id
    here.turn(4)
    here.shown(path, 4)
    dock.continue_offer(offer)
    assert dock.outcome() == (ADAPTER, "", "")
    there.shown(copy, 4)


@pytest.mark.parametrize("program", VIEWERS)
def test_broker_that_is_killed(desktops: Desktops, program: str) -> None:
    """What a viewer shows is offered again within five seconds by the next broker, when the one before was killed, and goes on
    at the page that was reached meanwhile."""
    desk, lap = desktops
    here, there = VIEWERS[program](desk), VIEWERS[program](lap)
    path, copy = desk.document("Thesis.pdf"), lap.document("Thesis.pdf")
    desk.start_adapter()
    lap.start_adapter()
    here.open(path, 2)
    dock = Dock(lap.machine)
    offer = dock.offer("Thesis.pdf")
    desk.machine.kill("handoffd")
    dock.wait_until_gone(offer)
    here.turn(4)
    here.shown(path, 4)
    desk.machine.start_broker()
    offer = dock.offer("Thesis.pdf", 5)
    dock.continue_offer(offer)
    assert dock.outcome() == (ADAPTER, "", "")
    there.shown(copy, 4)


def test_window_in_front(desktops: Desktops) -> None:
    """What is in front is what can be continued: of two viewers the one whose window has the focus, nothing while another
    program's has, and without anybody who tells, whatever has changed last."""
    desk, lap = desktops
    okular, zathura = VIEWERS["okular"](desk), VIEWERS["zathura"](desk)
    desk.start_adapter()
    lap.start_adapter()
    dock, agent = Dock(lap.machine), desk.agent()
    first = okular.open(desk.document("First.pdf"), 1)
    dock.offer("First.pdf")
    second = zathura.open(desk.document("Second.pdf"), 1)
    dock.offer("Second.pdf")
    desk.focus(agent, ApplicationId=GLib.Variant("s", okular.id), ProcessId=GLib.Variant("i", first.pid))
    dock.offer("First.pdf")
    desk.focus(agent)
    wait(lambda: not dock.titles, "nothing to be offered")
    desk.focus(agent, ProcessId=GLib.Variant("i", second.pid))
    dock.offer("Second.pdf")
    for forget in (lambda: desk.focus(agent, Known=GLib.Variant("b", False)), agent.close):
        desk.focus(agent, ApplicationId=GLib.Variant("s", okular.id))
        dock.offer("First.pdf")
        forget()
        dock.offer("Second.pdf")


def test_evince_in_front(desktops: Desktops) -> None:
    """Of two windows of Evince, which are processes without names, the one in front is known by its connection."""
    desk, lap = desktops
    evince = VIEWERS["evince"](desk)
    desk.start_adapter()
    lap.start_adapter()
    dock, agent = Dock(lap.machine), desk.agent()
    paths = [desk.document(name) for name in ("First.pdf", "Second.pdf")]
    for path in paths:
        evince.open(path, 1)
        dock.offer(path.name)
    for path in paths * 2:
        desk.focus(agent, ApplicationId=GLib.Variant("s", evince.id), BusName=GLib.Variant("s", evince.owner(path)))
        dock.offer(path.name)


@pytest.mark.parametrize("program", VIEWERS)
def test_viewer_that_was_there_before(desktops: Desktops, program: str) -> None:
    """A document that was open before the adapter began is offered too; when its window is closed it is offered no longer,
    and the adapter, which nobody needs any more, ends in order."""
    desk, lap = desktops
    viewer = VIEWERS[program](desk).open(desk.document("Thesis.pdf"), 3)
    lap.start_adapter()
    adapter, dock = desk.start_adapter(), Dock(lap.machine)
    path = dock.offer("Thesis.pdf")
    viewer.terminate()
    dock.wait_until_gone(path)
    wait(lambda: adapter.poll() is not None, "the end of the adapter")
    assert adapter.returncode == 0


@pytest.mark.parametrize("program", VIEWERS)
def test_window_that_shows_it_already(desktops: Desktops, program: str) -> None:
    """A window that shows the document already is turned to the page, and no other one is opened."""
    desk, lap = desktops
    here, there = VIEWERS[program](desk), VIEWERS[program](lap)
    # The copy is no older than the document, or a newer one would be waited for.
    path, copy = desk.document("Thesis.pdf"), lap.document("Thesis.pdf")
    there.open(copy, 2)
    desk.start_adapter()
    lap.start_adapter()
    here.open(path, 7)
    assert continued(desktops, "Thesis.pdf") == (ADAPTER, "", "")
    there.shown(copy, 7)
    # As long as another window takes to turn its page.
    let_pass(0.5)
    assert there.pages(copy) == [7]


@pytest.mark.parametrize("program", VIEWERS)
@pytest.mark.parametrize("name", ["-x.pdf", "+1.pdf", "a\nb.pdf", "50% #page=3.pdf"])
def test_odd_names(desktops: Desktops, program: str, name: str) -> None:
    """Each viewer opens, at the page, a document whose name looks like something else."""
    desk, lap = desktops
    here, there = VIEWERS[program](desk), VIEWERS[program](lap)
    path, copy = desk.document(name), lap.document(name)
    desk.start_adapter()
    lap.start_adapter()
    here.open(path, 6)
    dock = Dock(lap.machine)
    dock.continue_offer(wait(lambda: list(dock.offers), "an offer")[0])
    assert dock.outcome() == (ADAPTER, "", "")
    there.shown(copy, 6)


def test_document_that_is_brought_over(desktops: Desktops) -> None:
    """A document that is in no shared folder is brought over, and goes on at its page."""
    desk, lap = desktops
    path = desk.machine.folder / "Thesis.pdf"
    path.write_bytes(pdf())
    desk.start_adapter()
    lap.start_adapter()
    VIEWERS["zathura"](desk).open(path, 5)
    assert continued(desktops, "Thesis.pdf") == (ADAPTER, "", "")
    there = VIEWERS["zathura"](lap)
    (copy,) = wait(lambda: list(lap.machine.folder.rglob("Thesis.pdf")), "the document")
    there.shown(copy, 5)


def test_adapter_that_the_bus_starts(desktops: Desktops) -> None:
    """Where nothing runs, the bus starts the adapter for what is continued, and the viewer opens the page."""
    desk, lap = desktops
    path, copy = desk.document("Thesis.pdf"), lap.document("Thesis.pdf")
    install(lap.machine, ADAPTER, ActivityTypes=f"{READING};", DBusActivatable="true", Team=ADAPTER,
            **{"X-Handoff-Adapter": "documents"})
    variables = " ".join(f"{name}={value}" for name, value in lap.environment.items())
    have_bus_start(lap.machine, ADAPTER, f"/usr/bin/env {variables} {PROGRAMS}/handoff-adapter documents")
    desk.start_adapter()
    VIEWERS["zathura"](desk).open(path, 4)
    assert continued(desktops, "Thesis.pdf") == (ADAPTER, "", "")
    VIEWERS["zathura"](lap).shown(copy, 4)


def test_viewer_that_is_excluded(desktops: Desktops) -> None:
    """Of a viewer that the user has excluded nothing is offered, and nothing of it is in any log; a document of it goes on
    in the default application for its type."""
    desk, lap = desktops
    path, copy = desk.document("Secret.pdf"), lap.document("Secret.pdf")
    # It knows the types of files of this computer from now on.
    restarted(lap.machine)
    exclude(desk.machine, "org.pwmt.zathura")
    desk.start_adapter()
    lap.start_adapter()
    dock = Dock(lap.machine)
    VIEWERS["zathura"](desk).open(path, 4)
    # It would be offered before what is opened afterwards.
    VIEWERS["okular"](desk).open(desk.document("Public.pdf"), 1)
    dock.offer("Public.pdf")
    assert not any("Secret" in event.arguments.print_(False) for event in dock.events)
    assert "Secret" not in desk.machine.log("handoff-adapter") + desk.machine.log("handoffd")
    exclude(desk.machine)
    offer = dock.offer("Secret.pdf")
    exclude(lap.machine, "org.pwmt.zathura")
    (Path(lap.environment["XDG_CONFIG_HOME"]) / "mimeapps.list").write_text(
        "[Default Applications]\napplication/pdf=org.gnome.Evince.desktop\n")
    dock.continue_offer(offer)
    assert dock.outcome()[1:] == ("", "")
    wait(lambda: VIEWERS["evince"](lap).owner(copy), "the document in the default application")
    assert not VIEWERS["zathura"](lap).pages(copy)


def test_adapter_that_is_switched_off(desktops: Desktops) -> None:
    """An adapter that the user switches off takes back what it has offered, and ends in order."""
    desk, lap = desktops
    adapter, dock = desk.start_adapter(), Dock(lap.machine)
    lap.start_adapter()
    VIEWERS["zathura"](desk).open(desk.document("Thesis.pdf"), 4)
    path = dock.offer("Thesis.pdf")
    disable(desk.machine, "documents")
    dock.wait_until_gone(path)
    wait(lambda: adapter.poll() is not None, "the end of the adapter")
    assert adapter.returncode == 0
