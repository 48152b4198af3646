# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real desktops: the search of GNOME Shell, its panel with the AppIndicator extension, and KRunner."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from surfaces import AGENT, start_agent
from clients import APPLICATION_ID, Client, Dock
from desktops import KRunnerProgram, install_data, missing, tell_bus
from gnome_shell import GnomeShell
from gnome_shell import missing as missing_shell
from support import Machine
from test_desktop_entries import install
from vendor import own_id

OURS = ("dbus-daemon", "handoffd", "handoff-bridge", "handoff-agent")
APPINDICATOR = "ubuntu-appindicators@ubuntu.com"
EXTENSION = f"/usr/share/gnome-shell/extensions/{APPINDICATOR}"
TITLE = "Bericht <b>2026</b> & mehr_dazu.odt"
RESULTS = "Main.overview._overview._controls._searchController._searchResults"
DISPLAY = f"{RESULTS}._providers.find(p => p.id === '{own_id('Settings.desktop')}').display"
INDICATOR = "Main.panel.statusArea[Object.keys(Main.panel.statusArea).find(k => k.includes('appindicator'))]"
EVENT = "imports.gi.Clutter.Event.new(imports.gi.Clutter.EventType.NOTHING)"
ITEMS = f"{INDICATOR}.menu._getMenuItems()"


@pytest.fixture
def desk(machines: tuple[Machine, Machine]) -> Iterator[Machine]:
    """The machine with the desktop, whose programs end in their own way."""
    desk = machines[0]
    install_data(desk)
    install(desk, APPLICATION_ID, Name="Writer", Icon="accessories-text-editor")
    yield desk
    for program in [name for name in desk.processes if name not in OURS]:
        desk.kill(program)


@pytest.fixture
def krunner(desk: Machine) -> Iterator[KRunnerProgram]:
    """KRunner on the first machine."""
    if reason := missing("krunner", "kbuildsycoca5", "Xvfb", "xdotool"):
        pytest.skip(reason)
    start_agent(desk)
    program = KRunnerProgram(desk)
    yield program
    program.close()


@pytest.fixture
def start_shell(desk: Machine) -> Iterator[Callable[..., GnomeShell]]:
    """Starts GNOME Shell on the first machine, with these extensions."""
    shells: list[GnomeShell] = []

    def start(*extensions: str) -> GnomeShell:
        if reason := missing_shell() or missing(*([EXTENSION] if extensions else [])):
            pytest.skip(reason)
        tell_bus(desk, XDG_SESSION_TYPE="wayland", XDG_CURRENT_DESKTOP="GNOME", LIBGL_ALWAYS_SOFTWARE="1",
                 GSETTINGS_BACKEND="keyfile")
        shells.append(GnomeShell(desk, *extensions))
        return shells[-1]

    yield start
    for shell in shells:
        shell.close()


def choose(gnome: GnomeShell, label: str) -> None:
    """Chooses the item with this label in the menu of the indicator, once there is one."""
    item = f"{ITEMS}.find(item => item.label?.text === {json.dumps(label)})"
    gnome.wait_until(f"(item => !!item && (item.emit('activate', {EVENT}), true))({item})", f"“{label}” in the menu")


@pytest.mark.desktop
@pytest.mark.always
def test_gnome_shell_search(desk: Machine, machines: tuple[Machine, Machine],
                            start_shell: Callable[..., GnomeShell]) -> None:
    """In the search of GNOME Shell an offer is found and shown as it is, and Enter continues it."""
    here, there = Client(desk), Client(machines[1])
    start_agent(desk)
    there.offer(TITLE)
    Dock(desk).offer(TITLE)
    gnome = start_shell()
    gnome.evaluate("Main.overview.show()")
    gnome.wait_until("Main.overview.visible && !Main.overview.animationInProgress", "the overview")
    gnome.evaluate("Main.overview.searchEntry.set_text('bericht mehr')")
    gnome.wait_until(f"{DISPLAY}?.visible && Object.keys({DISPLAY}._resultDisplays).length === 1", "the result")
    gnome.shoot("search")
    result = f"Object.values({DISPLAY}._resultDisplays)[0]"
    assert gnome.evaluate(f"{result}.metaInfo.name") == "Continue “Bericht <b>2026</b> & mehr_dazu.odt”"
    assert gnome.evaluate(f"{result}._descriptionLabel.text") == "from lap"
    gnome.evaluate(f"{RESULTS}.activateDefault()")
    assert here.wait_for("ContinueActivity").arguments.unpack()[0]["Title"] == TITLE


@pytest.mark.desktop
@pytest.mark.always
def test_gnome_shell_panel(desk: Machine, machines: tuple[Machine, Machine],
                           start_shell: Callable[..., GnomeShell]) -> None:
    """In the panel of GNOME with the AppIndicator extension the indicator is there while there is an offer, and its menu
    shows each change and continues."""
    here, there = Client(desk), Client(machines[1])
    start_agent(desk)
    gnome = start_shell(APPINDICATOR)
    activity = there.offer("First")
    gnome.wait_until(f"!!{INDICATOR} && {INDICATOR}.visible", "the indicator")
    activity.update(Title=TITLE)
    label = f"“{TITLE}” — lap"
    gnome.evaluate(f"{INDICATOR}.menu.open()")
    gnome.wait_until(f"{ITEMS}[0]?.label?.text === {json.dumps(label)}", "the offer in the menu")
    here.offer("Mine")
    gnome.wait_until(f"{ITEMS}.some(i => i.label?.text === 'Send to…')", "to whom to send")
    gnome.evaluate(f"{INDICATOR}.menu.open()")
    gnome.shoot("panel")
    choose(gnome, label)
    assert here.wait_for("ContinueActivity").arguments.unpack()[0]["Title"] == TITLE
    choose(gnome, "Handoff is on")
    gnome.wait_until(f"!{INDICATOR}.visible", "the indicator to go, since there is no offer")
    desk.set_enabled(True)
    gnome.wait_until(f"{INDICATOR}.visible", "the indicator to come back")
    gnome.evaluate(f"{INDICATOR}.menu.open()")
    activity.invalidate()
    gnome.wait_until(f"!{INDICATOR}.visible", "the indicator to go")


@pytest.mark.desktop
@pytest.mark.always
def test_krunner_program(krunner: KRunnerProgram, desk: Machine, machines: tuple[Machine, Machine]) -> None:
    """In KRunner an offer is found and shown as it is, and Enter continues it."""
    here, there = Client(desk), Client(machines[1])
    there.offer(TITLE)
    Dock(desk).offer(TITLE)
    krunner.type("bericht mehr")
    krunner.wait_until_asked("bericht mehr")
    krunner.shoot("krunner.png")
    krunner.press("Return")
    assert here.wait_for("ContinueActivity").arguments.unpack()[0]["Title"] == TITLE
    assert desk.session.owner(AGENT)
