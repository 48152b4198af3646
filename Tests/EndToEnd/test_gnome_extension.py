# SPDX-License-Identifier: LGPL-2.1-or-later
"""The extension in a real GNOME Shell: the indicator and its menu, and that nothing stays of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BUS, let_pass, wait
from clients import APPLICATION_ID, Client
from fake_agent import FakeAgent
from gnome_shell import NAME, GnomeShell, install_extension, missing
from support import Machine
from vendor import ADD_ON, own_id

pytestmark = pytest.mark.desktop

INDICATOR = "Main.panel.statusArea.handoff"
STATE = f"Main.extensionManager.lookup('{ADD_ON}').stateObj"
OFFERS = f"{INDICATOR}._offerSection._getMenuItems()"


def install_application(machine: Machine, application_id: str = APPLICATION_ID, command: str = "true") -> None:
    """Puts an application with an icon where the Shell and the broker look for it."""
    folder = Path(machine.environment["XDG_DATA_HOME"], "applications")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{application_id}.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName=Editor\nExec={command}\nIcon=accessories-text-editor\n"
        # A program that shows no window would count as being started for a while.
        f"StartupNotify={'true' if command == 'true' else 'false'}\n")


@pytest.fixture
def shell(machines: tuple[Machine, Machine]) -> Iterator[GnomeShell]:
    """The Shell of the second machine."""
    if what := missing():
        pytest.skip(what)
    install_application(machines[1])
    install_extension(machines[1])
    shell = GnomeShell(machines[1], ADD_ON)
    yield shell
    shell.close()


def has_indicator(shell: GnomeShell) -> bool:
    return shell.evaluate(f"!!{INDICATOR} && {INDICATOR}.mapped")


def wait_for_indicator(shell: GnomeShell) -> None:
    wait(lambda: has_indicator(shell), "the indicator")


def titles(shell: GnomeShell) -> list[str]:
    """What the menu's items for offers show as titles."""
    return shell.evaluate(f"{INDICATOR} ? {OFFERS}.map(item => item._title.text) : []")


def open_menu(shell: GnomeShell) -> None:
    shell.evaluate(f"{INDICATOR}.menu.open()")
    wait(lambda: shell.evaluate(f"{INDICATOR}.menu.box.get_transformed_size()[1] > 50"), "the menu")


def is_token(shell: GnomeShell, token: str) -> bool:
    """Whether the Shell knows this token as one of an application that is being started."""
    return token and shell.evaluate("imports.gi.Shell.WindowTracker.get_default().get_startup_sequences()"
                                    f".some(sequence => sequence.get_id() === {token!r})")


def complaints(shell: GnomeShell) -> list[str]:
    """What the Shell has said of the extension."""
    return [line for line in shell.log.splitlines()
            if "handoff@" in line or "JS ERROR" in line or "stack trace" in line.lower()]


@pytest.mark.always
def test_continuing_from_the_menu(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """While there is an offer the top bar shows its application's icon and its device. Pressing it in the menu continues it
    here with an activation token, and the origin is told."""
    desk, lap = machines
    origin, target = Client(desk), Client(lap)
    assert not has_indicator(shell)
    activity = origin.offer("A letter")
    wait_for_indicator(shell)
    assert shell.evaluate(f"{INDICATOR}._device.text") == "desk"
    assert "accessories-text-editor" in shell.evaluate(f"{INDICATOR}._icon.gicon.to_string()")
    wait(lambda: titles(shell) == ["A letter"], "the title")
    open_menu(shell)
    assert shell.shoot("menu").stat().st_size > 1000
    shell.evaluate(f"{OFFERS}[0].activate(null)")
    context = target.wait_for("ContinueActivity").arguments.unpack()[1]
    assert is_token(shell, context["ActivationToken"])
    origin.wait_for("WasContinued")
    assert not shell.evaluate(f"{INDICATOR}.menu.isOpen")
    activity.resign_current()
    wait(lambda: not shell.evaluate(f"!!{INDICATOR}"), "the indicator to go")
    assert not complaints(shell)


def test_continuing_fails(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """While an offer is being continued its item says so and cannot be pressed again. If that fails, a notification says why,
    as plain text, and it can be tried again."""
    desk, lap = machines
    target = Client(lap)
    target.hang("ContinueActivity")
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    # What the Shell itself has to say is not to be before it.
    shell.evaluate("Main.messageTray.getSources().forEach(source => source.destroy())")
    open_menu(shell)
    shell.evaluate(f"{OFFERS}[0].activate(null)")
    token = target.wait_for("ContinueActivity").arguments.unpack()[1]["ActivationToken"]
    assert is_token(shell, token)
    state = f"[{OFFERS}[0]._state.visible, {OFFERS}[0].sensitive]"
    wait(lambda: shell.evaluate(state) == [True, False], "the item to say so")
    for invocation in target.unanswered:
        invocation.return_dbus_error("com.example.Error", "The <b>disk</b> & all\nare full")
    wait(lambda: shell.evaluate(state) == [False, True], "the item to be as before")
    notice = ("Main.messageTray.getSources().flatMap(source => source.notifications)"
              ".find(notification => notification.title === 'Could not continue')")
    wait(lambda: shell.evaluate(f"!!{notice}"), "the notification")
    text, is_markup = shell.evaluate(f"[{notice}.bannerBodyText, !!{notice}.bannerBodyMarkup]")
    assert "The <b>disk</b> & all" in text and "\n" not in text
    assert not is_markup
    assert not is_token(shell, token), "nothing is being started any more"
    # As long as the notification takes to come in, during which something could be complained of.
    let_pass(0.3)
    shell.shoot("failure")
    assert not complaints(shell)


def test_indicator_follows_offers(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """The indicator shows another title as soon as the offer has it, and comes again with a broker that was started anew."""
    desk, lap = machines
    Client(lap)
    activity = Client(desk).offer("One")
    wait(lambda: titles(shell) == ["One"], "the first title")
    open_menu(shell)
    activity.update(Title="Two")
    wait(lambda: titles(shell) == ["Two"], "the second title")
    assert shell.evaluate(f"{INDICATOR}.menu.isOpen"), "a menu that is open stays so"
    lap.kill("handoffd")
    wait(lambda: not shell.evaluate(f"!!{INDICATOR}"), "the indicator to go")
    lap.start_broker()
    Client(lap)
    wait(lambda: titles(shell) == ["Two"], "the offer to be back")
    assert not complaints(shell)


def test_switch_in_the_menu(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """The switch in the menu is that of the user: it switches Handoff off, and the indicator goes with the offers."""
    desk, lap = machines
    Client(lap)
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    open_menu(shell)
    assert shell.evaluate(f"{INDICATOR}._switch.state") is True
    shell.evaluate(f"{INDICATOR}._switch.toggle()")
    wait(lambda: not lap.session.get("/org/example/Handoff", "Manager.Enabled"), "the switch")
    wait(lambda: not shell.evaluate(f"!!{INDICATOR}"), "the indicator to go")
    lap.set_enabled(True)
    wait_for_indicator(shell)
    assert shell.evaluate(f"{INDICATOR}._switch.state") is True


def test_window_from_the_menu(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """The menu opens the Handoff window, if that is installed; with more offers than fit there, their number does so too."""
    desk, lap = machines
    Client(lap)
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    open_menu(shell)
    assert shell.evaluate(f"{INDICATOR}._window.visible") is False
    shell.evaluate(f"{INDICATOR}.menu.close()")
    opened = lap.folder / "opened"
    install_application(lap, own_id("Settings"), f"touch {opened}")
    # The Shell reads desktop entries a while after they have changed.
    wait(lambda: shell.evaluate("!!imports.gi.Shell.AppSystem.get_default().lookup_app("
                                f"'{own_id('Settings.desktop')}')"), "the desktop entry")
    open_menu(shell)
    assert shell.evaluate(f"{INDICATOR}._window.visible") is True
    shell.evaluate(f"{INDICATOR}._window.activate(null)")
    wait(opened.exists, "the window")
    many = {"offers": [{"path": f"/{number}", "title": f"{number}", "device": "desk", "application": "", "origin": ""}
                       for number in range(6)], "more": 3, "listable": [], "devices": [], "pasting": {"sources": []}, "isEnabled": True}
    opened.unlink()
    shell.evaluate(f"{INDICATOR}.show_report({json.dumps(many)})")
    assert shell.evaluate(f"[{INDICATOR}._more.visible, {INDICATOR}._more.label.text]") == [True, "3 more…"]
    assert titles(shell) == ["0", "1", "2", "3", "4", "5"]
    many["offers"].reverse()
    shell.evaluate(f"{INDICATOR}.show_report({json.dumps(many)})")
    assert titles(shell) == ["5", "4", "3", "2", "1", "0"]
    shell.evaluate(f"{INDICATOR}._more.activate(null)")
    wait(opened.exists, "the window")


def test_devices_in_the_menu(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """The menu lists the devices that are connected, to send to, while something is current here; a refusal is shown as a
    notification, as plain text."""
    desk, lap = machines
    here = Client(lap)
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    items = f"{INDICATOR}._send.menu._getMenuItems()"
    assert not shell.evaluate(f"{INDICATOR}._send.visible")
    mine = here.offer("Mine")
    wait(lambda: shell.evaluate(f"{items}.map(item => item.label.text)") == ["desk"], "the device")
    assert shell.evaluate(f"{INDICATOR}._send.visible")
    # Nothing is current here any more when it arrives, so there is nothing to send.
    device = shell.evaluate(f"{INDICATOR}._session.report.devices[0]")
    mine.resign_current()
    wait(lambda: not shell.evaluate(f"{INDICATOR}._send.visible"), "nothing to be sent")
    shell.evaluate(f"{INDICATOR}._session.send({json.dumps(device)})")
    wait(lambda: shell.evaluate("Main.messageTray.getSources().some(s => s.notifications.some("
                                "n => n.title === 'Could not send'))"), "the refusal to be shown")
    here.offer("Another")
    wait(lambda: shell.evaluate(f"{INDICATOR}._send.visible"), "the device again")
    desk.kill("handoff-bridge")
    wait(lambda: not shell.evaluate(f"{INDICATOR} && {INDICATOR}._send.visible"), "the device to go")


HOSTILE = {
    "markup": "<b>Bold</b> & <span size='100000'>x</span> &lt;",
    "quotes": "“” \" ' ‘ Continue “Bank” from your phone?",
    "endless": "W" * 4096,
    "right to left": "\u202etxt.exe \u2066\u061c\u200fabc",
    "lines": "one\ntwo\r\n\tthree\u2028four",
    "marks": "Z" + "\u0336\u0334\u0489" * 80 + "algo",
    "format": "%s %d %n ${title} {title}",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_titles(machines: tuple[Machine, Machine], shell: GnomeShell, kind: str) -> None:
    """Whatever an offer calls itself, it is one line of plain text, no wider or higher than others, in a place of its own."""
    desk, lap = machines
    Client(lap)
    activity = Client(desk).offer("Harmless")
    wait(lambda: titles(shell) == ["Harmless"], "the offer")
    open_menu(shell)
    height = shell.evaluate(f"{OFFERS}[0].get_height()")
    activity.update(Title=HOSTILE[kind])
    wait(lambda: titles(shell) not in ([], ["Harmless"]), "the title")
    let_pass(0.2)  # As long as a line takes to be laid out and drawn.
    shell.shoot(f"title-{kind}".replace(" ", "-"))
    [title] = titles(shell)
    assert 0 < len(title) <= 120
    assert not any(ord(letter) < 32 or letter in "\u202e\u2066\u061c\u200f\u2028\u0085" for letter in title)
    if kind in ("markup", "format"):
        assert title == HOSTILE[kind], "it is not read as anything"
    label = f"{OFFERS}[0]._title"
    assert shell.evaluate(f"[{label}.clutter_text.use_markup, {label}.clutter_text.single_line_mode,"
                          f" {label}.clip_to_allocation]") == [False, True, True]
    # A letter of another script may be a little higher; a second line would be much.
    assert shell.evaluate(f"{OFFERS}[0].get_height()") <= height * 1.4
    assert shell.evaluate(f"{INDICATOR}.menu.box.get_width()") <= 640
    assert not complaints(shell)


def test_hostile_device_name(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """A device with a long name made of markup takes no more room in the top bar than a name may."""
    desk, lap = machines
    Client(lap)
    desk.session.set("/org/example/Handoff", "Preferences.DeviceName", GLib.Variant("s", "<b>" + "W" * 61))
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    label = f"{INDICATOR}._device"
    wait(lambda: shell.evaluate(f"{label}.text").startswith("<b>WWW"), "the name")
    shell.shoot("device-name")
    assert shell.evaluate(f"{label}.clutter_text.use_markup") is False
    assert shell.evaluate(f"{INDICATOR}.get_width()") <= 300


# What there is in the Shell that an extension could leave behind.
COUNTS = """({
    actors: (function count(actor) { return actor.get_children().reduce((sum, child) => sum + count(child), 1); })(
        Main.panel),
    areas: Object.keys(Main.panel.statusArea).length,
    chrome: Main.layoutManager.uiGroup.get_n_children(),
    sources: Main.messageTray.getSources().length,
    menus: Main.panel.menuManager._menus.length, shortcuts: Object.keys(Main.wm._allowedKeybindings).length,
})"""


def rules(shell: GnomeShell) -> int:
    """How many match rules the Shell has on the bus."""
    return shell.session.call(
        "/org/freedesktop/DBus", f"{BUS}.Debug.Stats.GetConnectionStats",
        GLib.Variant("(s)", (shell.session.owner(NAME),)), destination=BUS).unpack()[0]["MatchRules"]


def set_enabled(shell: GnomeShell, enabled: bool) -> None:
    shell.evaluate(f"Main.extensionManager.{'enable' if enabled else 'disable'}Extension('{ADD_ON}')")
    state = 1 if enabled else 2
    wait(lambda: shell.evaluate(f"Main.extensionManager.lookup('{ADD_ON}').state") == state, f"the state {state}")


def test_disabling_leaves_nothing(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """Enabled and disabled fifty times, with an offer and at once, the extension leaves no actor, no menu, no signal, no
    timer and no match rule."""
    desk, lap = machines
    Client(lap)
    Client(desk).offer("A letter")
    FakeAgent(lap)
    wait_for_indicator(shell)
    set_enabled(shell, False)
    # As long as what was asked of the bus takes to be answered, and the Shell to free what is left.
    let_pass(0.3)
    before, rules_before = shell.evaluate(COUNTS), rules(shell)
    handlers = "imports.gi.GObject.signal_handler_is_connected"
    for round_ in range(50):
        set_enabled(shell, True)
        if round_ % 2:
            # Every other time with all that there is, else in the middle of finding it.
            wait_for_indicator(shell)
        left = shell.evaluate(
            f"(() => {{ const e = {STATE}, s = e._session, f = e._focus;"
            " const sources = [s._gathering, f._settling].filter(id => id), handler = f._focusChange;"
            " e.disable();"
            " const left = sources.filter(id => imports.gi.GLib.MainContext.default().find_source_by_id(id)).length"
            f" + ({handlers}(global.display, handler) ? 1 : 0); e.enable(); return left; }})()")
        assert left == 0
        set_enabled(shell, False)
    let_pass(0.3)  # As before.
    assert shell.evaluate(COUNTS) == before
    assert rules(shell) == rules_before
    assert shell.evaluate(f"Object.values({STATE}).every(value => value === null)")
    assert not complaints(shell)


def test_locked_screen_shows_nothing(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """While the screen is locked there is no indicator, and the agent is told that the Shell says nothing any more. Both
    are back afterwards."""
    desk, lap = machines
    Client(lap)
    agent = FakeAgent(lap)
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    wait(lambda: agent.told("Attach"), "Attach")
    shell.evaluate("Main.sessionMode.pushMode('unlock-dialog')")
    wait(lambda: not shell.evaluate(f"!!{INDICATOR}"), "the indicator to go")
    wait(lambda: agent.told("Detach"), "Detach")
    heard = len(agent.calls)
    # As long as the Shell takes to tell what it has decided in a turn of its own.
    let_pass(0.5)
    assert len(agent.calls) == heard
    shell.evaluate("Main.sessionMode.popMode('unlock-dialog')")
    wait_for_indicator(shell)
    wait(lambda: len(agent.told("Attach")) == 2, "Attach")
