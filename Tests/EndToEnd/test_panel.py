# SPDX-License-Identifier: LGPL-2.1-or-later
"""The indicator in the panel, as a panel sees it."""

from __future__ import annotations

import pytest
from gi.repository import GLib
from buses import ROOT, let_pass, wait
from agents import Pair
from surfaces import AGENT, ITEM, MENU, KRunner, PanelHost, ShellSearch, ask, start_agent
from clients import APPLICATION_ID, Client, Dock
from support import Machine, refused
from test_desktop_entries import install
from test_notices import SETTINGS, Service
from test_notices_of_everything import WINDOW_XML as EVERYTHING_XML
from test_search import HOSTILE
from vendor import own_path


def test_item_is_there_while_there_is_an_offer(machines: tuple[Machine, Machine]) -> None:
    """A panel gets an item with the first offer, which names the device, and is passive when there is none; a panel that
    comes later gets it too."""
    desk, lap = machines
    _here, there, host = Client(desk), Client(lap), PanelHost(desk)
    start_agent(desk)
    dock = Dock(desk)
    activity = there.offer("Report")
    host.wait_for_item()
    assert host.items == [desk.session.owner(AGENT) + ITEM]
    item = host.item()
    assert item["Status"] == "Active" and item["Title"] == "Handoff: lap" and item["IconName"]
    assert item["ToolTip"] == (item["IconName"], [], "Handoff: lap", "“Report” — lap")
    assert item["Menu"] == MENU and item["ItemIsMenu"] and item["Category"] == "ApplicationStatus"
    activity.invalidate()
    wait(lambda: host.item()["Status"] == "Passive", "the item to be passive")
    assert host.item()["Title"] == "Handoff" and "Nothing to continue" in host.menu()
    host.close()
    there.offer("Another")
    dock.offer("Another")
    later = PanelHost(desk)
    later.wait_for_item()
    assert later.item()["Status"] == "Active"


def test_application_in_panel_and_search(machines: tuple[Machine, Machine]) -> None:
    """The indicator has the icon of the application that would continue the offer, and the search finds it by its name."""
    desk, lap = machines
    install(desk, APPLICATION_ID, Name="Schreiber", Icon="accessories-text-editor")
    _here, host, search = Client(desk), PanelHost(desk), ShellSearch(desk)
    start_agent(desk)
    Client(lap).offer("Report")
    host.wait_for_item()
    wait(lambda: host.item()["IconName"] == "accessories-text-editor", "the icon of the application")
    assert host.entries()["“Report” — lap"][1]["icon-name"] == "accessories-text-editor"
    (meta,) = search.metas(search.find_one("schreib"))
    assert meta["gicon"] == "accessories-text-editor"


def test_continuing_from_the_menu(machines: tuple[Machine, Machine]) -> None:
    """An offer that is chosen in the menu is continued, with the activation token that the panel gave before."""
    desk, lap = machines
    here, there, host = Client(desk), Client(lap), PanelHost(desk)
    start_agent(desk)
    there.offer("snake_case")
    host.wait_for_item()
    number = host.wait_for_entry("“snake__case” — lap")
    ask(host, ITEM, "org.kde.StatusNotifierItem.ProvideXdgActivationToken", "s", "a-token")
    ask(host, MENU, "com.canonical.dbusmenu.EventGroup", "a(isvu)", [(number, "clicked", GLib.Variant("i", 0), 0)])
    activity, context = here.wait_for("ContinueActivity").arguments.unpack()
    assert activity["Title"] == "snake_case" and context["ActivationToken"] == "a-token"


def test_everything_from_the_menu(machines: tuple[Machine, Machine]) -> None:
    """Below what a device offers the menu leads to all that is open there, in the Handoff window, as long as it is connected."""
    desk, lap = machines
    _here, host = Client(desk), PanelHost(desk)
    window = Service(desk, SETTINGS, own_path("Settings"), EVERYTHING_XML)
    start_agent(desk)
    Client(lap).offer("Report")
    host.wait_for_item()
    number = host.wait_for_entry("Everything on lap…")
    assert list(host.menu())[:2] == ["“Report” — lap", "Everything on lap…"]
    ask(host, ITEM, "org.kde.StatusNotifierItem.ProvideXdgActivationToken", "s", "a-token")
    host.click(number)
    action, parameter, data = window.wait_for("ActivateAction")
    assert (action, parameter) == ("everything", [lap.device_id]) and data["activation-token"] == "a-token"
    lap.kill("handoff-bridge")
    wait(lambda: "Everything on lap…" not in host.menu(), "the device to go from the menu")


def test_late_clicks(machines: tuple[Machine, Machine]) -> None:
    """A click on an offer that has gone, or has become another, does nothing, whatever is offered by then."""
    desk, lap = machines
    here, there, host = Client(desk), Client(lap), PanelHost(desk)
    start_agent(desk)
    first = there.offer("First")
    host.wait_for_item()
    numbers = [host.wait_for_entry("“First” — lap")]
    first.update(Title="Changed")
    numbers.append(host.wait_for_entry("“Changed” — lap"))
    there.offer("Second")
    second = host.wait_for_entry("“Second” — lap")
    for number in numbers:
        with refused("InvalidArgs", containing=("GetLayout",)):
            host.click(number)
        assert second != number
    answer = ask(host, MENU, "com.canonical.dbusmenu.EventGroup", "a(isvu)",
                 [(number, "clicked", GLib.Variant("i", 0), 0) for number in (*numbers, 0)])
    assert answer == numbers
    # Neither do events that are no clicks.
    for event in ("hovered", "opened", "closed", "activate"):
        ask(host, MENU, "com.canonical.dbusmenu.Event", "isvu", second, event, GLib.Variant("s", ""), 0)
    host.click(second)
    assert here.wait_for("ContinueActivity").arguments.unpack()[0]["Title"] == "Second"
    assert here.members.count("ContinueActivity") == 1


def test_menu_questions(machines: tuple[Machine, Machine]) -> None:
    """A panel can ask for parts of the menu, and is refused with a reason what is not there."""
    desk, lap = machines
    _here, host = Client(desk), PanelHost(desk)
    start_agent(desk)
    Client(lap).offer("Report")
    host.wait_for_item()
    number = host.wait_for_entry("“Report” — lap")
    interface = "com.canonical.dbusmenu"
    revision, root = ask(host, MENU, f"{interface}.GetLayout", "iias", 0, 0, ["label"])
    assert revision > 0 and root == (0, {}, [])
    assert len(ask(host, MENU, f"{interface}.GetLayout", "iias", 0, 1, [])[1][2]) > 3
    assert ask(host, MENU, f"{interface}.GetGroupProperties", "aias", [number, 9999], ["label"]) == [
        (number, {"label": "“Report” — lap"})]
    # More names than an item can have properties are not looked at.
    assert ask(host, MENU, f"{interface}.GetGroupProperties", "aias", [number], ["x"] * 64 + ["label"]) == [(number, {})]
    assert ask(host, MENU, f"{interface}.GetProperty", "is", number, "label") == "“Report” — lap"
    assert ask(host, MENU, f"{interface}.AboutToShow", "i", 0) is False
    assert ask(host, MENU, f"{interface}.AboutToShowGroup", "ai", [0, 9999]) == ([], [9999])
    for member, signature, arguments in (("GetLayout", "iias", (9999, -1, [])), ("AboutToShow", "i", (9999,)),
                                         ("GetProperty", "is", (9999, "label")), ("GetProperty", "is", (0, "x")),
                                         ("AboutToShowGroup", "ai", ([9999],))):
        with refused("InvalidArgs"):
            ask(host, MENU, f"{interface}.{member}", signature, *arguments)


def test_switch_and_recipients_in_the_menu(machines: tuple[Machine, Machine]) -> None:
    """The menu has the user's switch, and the connected peers to whom what is current here can be sent."""
    desk, lap = machines
    here, there, host = Client(desk), Client(lap), PanelHost(desk)
    start_agent(desk)
    there.offer("Report")
    host.wait_for_item()
    assert "Send to…" not in host.menu()
    mine = here.offer("Mine")
    host.wait_for_entry("Send to…/lap")
    mine.resign_current()
    wait(lambda: "Send to…" not in host.menu(), "nothing to be sent")
    number, properties = host.entries()["Handoff is on"]
    assert properties["toggle-state"] == 1
    host.click(number)
    wait(lambda: host.entries()["Handoff is on"][1]["toggle-state"] == 0, "the switch to be off")
    assert desk.session.get(ROOT, "Manager.Enabled") is False
    host.click(host.menu()["Handoff is on"])
    wait(lambda: desk.session.get(ROOT, "Manager.Enabled"), "the switch to be on")
    host.wait_for_entry("“Report” — lap")


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_titles_in_the_panel(machines: tuple[Machine, Machine], kind: str) -> None:
    """A hostile title is a bounded line of text in quotation marks, and no markup, in item and menu."""
    desk, lap = machines
    _here, host = Client(desk), PanelHost(desk)
    start_agent(desk)
    Client(lap).offer(HOSTILE[kind])
    host.wait_for_item()
    tip = host.item()["ToolTip"]
    wait(lambda: any(label.startswith("“") for label in host.menu()), "the offer in the menu")
    label = next(label for label in host.menu() if label.startswith("“"))
    for text in (tip[3], label):
        title = text.removeprefix("“").removesuffix("” — lap")
        assert 1 < len(title) <= 120 and title != text
        assert not set(title) & set("“”\"\n\r\u2028\u202e\u2066\x1b")
    assert not set(tip[2] + tip[3]) & set("<>&")
    assert host.item()["Title"] == "Handoff: lap"


def test_nobody_overhears_the_panel(machines: tuple[Machine, Machine]) -> None:
    """What everybody on the bus is told of the panel has neither titles nor names; and many changes are one."""
    desk, lap = machines
    _here, there, host = Client(desk), Client(lap), PanelHost(desk)
    start_agent(desk)
    activity = there.offer("Secret")
    host.wait_for_item()
    for number in range(5):
        activity.update(Title=f"Secret {number}")
    host.wait_for_entry("“Secret 4” — lap")
    activity.invalidate()
    wait(lambda: ("NewStatus", ("Passive",)) in host.signals, "the panel to be told")
    assert {member for member, _ in host.signals} == {"LayoutUpdated", "NewTitle", "NewToolTip", "NewStatus"}
    for member, arguments in host.signals:
        assert all(isinstance(argument, int) or argument in ("Active", "Passive") for argument in arguments), member
    before = len(host.signals)
    # Several times as long as changes are gathered for (Panel.pause, 30 ms).
    let_pass(0.2)
    assert len(host.signals) == before


def test_nothing_while_locked(machine_list: list[Machine]) -> None:
    """While the session is locked nothing is found, the indicator shows nothing, and nothing that it had shown continues
    anything."""
    pair = Pair(machine_list)
    host, search, runner = PanelHost(pair.lap), ShellSearch(pair.lap), KRunner(pair.lap)
    pair.offer("Report")
    host.wait_for_item()
    number = host.wait_for_entry("“Report” — desk")
    result = search.find_one("report")
    pair.presence.lock()
    wait(lambda: host.item()["Status"] == "Passive", "the indicator to be hidden")
    assert host.item()["Title"] == "Handoff" and host.item()["ToolTip"][3] == ""
    assert "“Report” — desk" not in host.menu()
    assert search.find("report") == runner.match("report") == []
    assert search.metas(result)[0]["name"] == "This is no longer offered."
    with refused("InvalidArgs"):
        host.click(number)
    search.activate(result)
    runner.ask("Run", "ss", result, "")
    pair.presence.unlock()
    host.wait_for_entry("“Report” — desk")
    assert search.find("report") == [result]
    assert not pair.receiver.called("ContinueActivity")
    search.activate(result)
    pair.receiver.wait_for("ContinueActivity")
