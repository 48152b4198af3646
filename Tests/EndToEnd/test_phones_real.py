# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is current goes to a telephone that the real KDE Connect or GSConnect of a machine reaches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from buses import wait
from clients import Client
from editors import started
from phones import LARGE, PATIENCE, RealPhones
from support import Machine, start_machine
from test_command import done
from test_desktop_entries import have_bus_start, install
from test_phones import ADAPTER, begin, listed

pytestmark = pytest.mark.desktop
PAGE = "https://example.org/page?a=b%26c"


@pytest.fixture
def phones(request: pytest.FixtureRequest, machine_list: list[Machine]) -> Iterator[RealPhones]:
    """A machine that has a phone, and the adapter."""
    machine = start_machine(machine_list, "desk")
    phones = RealPhones(machine, kind=getattr(request, "param", "kdeconnect"))
    if phones.missing:
        pytest.skip(phones.missing)
    try:
        phones.start()
        have_bus_start(machine, ADAPTER, started(machine, "phone"))
        for entry in ("org.kde.kdeconnect.app", "org.gnome.Shell.Extensions.GSConnect"):
            install(machine, entry, Implements="")
        begin(machine)
        yield phones
    finally:
        phones.close()


@pytest.mark.parametrize("phones", ("kdeconnect", "gsconnect"), indirect=True)
def test_page(phones: RealPhones) -> None:
    """A page goes to the browser of a telephone that the real KDE Connect, or GSConnect, has paired."""
    desk = phones.machine
    Client(desk).create(Title="A page", WebpageURL=PAGE).become_current()
    wait(lambda: listed(desk) == ["Phone"], "the telephone", PATIENCE)
    done(desk.run("handoff", "send", "phone"))
    wait(lambda: phones.opened, "the page on the phone", PATIENCE)
    assert phones.opened == [PAGE]


def test_document(phones: RealPhones) -> None:
    """A document goes to the downloads of a telephone that the real KDE Connect has paired."""
    desk = phones.machine
    document = desk.folder / "A letter #1.txt"
    document.write_bytes(b"Dear all" * (LARGE // 8))
    Client(desk).create(Title="A letter", DocumentURL=document.as_uri()).become_current()
    wait(lambda: listed(desk) == ["Phone"], "the telephone", PATIENCE)
    done(desk.run("handoff", "send", "phone"))
    wait(lambda: phones.documents == {document.name: document.read_bytes()}, "the document on the phone", PATIENCE)


def test_leaving(phones: RealPhones) -> None:
    """A telephone that leaves the network is not shown until it is back."""
    desk = phones.machine
    Client(desk).create(Title="A page", WebpageURL=PAGE).become_current()
    wait(lambda: listed(desk) == ["Phone"], "the telephone", PATIENCE)
    phones.leave()
    wait(lambda: listed(desk) == [], "no telephone", PATIENCE)
    phones.come_back()
    wait(lambda: listed(desk) == ["Phone"], "the telephone again", PATIENCE)
