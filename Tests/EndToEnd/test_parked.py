# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine whose lid is closed: what was offered is continued elsewhere without it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gi.repository import GLib
from buses import ROOT, let_pass, wait
from clients import Client, Dock, handed_over, user_info
from finding import hosted, make_peers
from link import Device
from login_manager import Lap, LoginManager
from rig import Network
from support import Machine, pair, start_machine, wait_for_link


def test_continued_while_its_machine_sleeps(make_lap: Lap, machine_list: list[Machine]) -> None:
    """What was offered when the lid was closed is continued with its last state; its application is told once its machine
    has woken up, and it is offered again only when it changes."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, there, dock = Client(lap), Client(desk), Dock(desk)
    activity = here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)}, SupportsContinuationStreams=True)
    path = dock.offer("Letter")
    assert not dock.parked
    wait(lambda: logind.delays, "the delay of sleep")
    assert logind.sleep() < 1
    wait(lambda: not desk.connected_to(lap.device_id), "the end of the link")
    wait(lambda: dock.parked == ["Letter"], "what was left")
    dock.continue_offer(path)
    arrived = there.wait_for("ContinueActivity")
    assert user_info(arrived)["line"].unpack() == 7
    # There is nobody to open a stream to.
    assert not handed_over(arrived).get("SupportsContinuationStreams", GLib.Variant("b", False)).unpack()
    assert dock.outcome()[1] == ""
    dock.wait_until_gone(path)
    assert not here.called("WasContinued")
    logind.prepare_for_sleep(False)
    wait_for_link(desk, lap)
    here.wait_for("WasContinued")
    # As long as its machine did not know, it was not shown again; now it is not offered.
    let_pass(0.5)
    assert not dock.offers
    assert len(here.called("WasContinued")) == 1
    activity.update(UserInfo=GLib.Variant("a{sv}", {"line": GLib.Variant("u", 8)}))
    dock.offer("Letter")
    assert not dock.parked


@pytest.mark.parametrize("ends", [False, True])
def test_offered_again_after_sleep(make_lap: Lap, machine_list: list[Machine], ends: bool) -> None:
    """What nobody has continued is offered as before when its machine has woken up; what has ended in sleep is gone."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, _there, dock = Client(lap), Client(desk), Dock(desk)
    activity = here.offer("Letter")
    path = dock.offer("Letter")
    wait(lambda: logind.delays, "the delay of sleep")
    logind.sleep()
    wait(lambda: dock.parked == ["Letter"], "what was left")
    if ends:
        activity.invalidate()
    logind.prepare_for_sleep(False)
    if ends:
        dock.wait_until_gone(path)
    else:
        wait(lambda: path in dock.offers and not dock.parked, "the offer of a machine that is awake")
        wait(lambda: logind.delays, "the delay of the next sleep")


def test_delays_sleep_only_while_there_is_something_to_leave(make_lap: Lap, machine_list: list[Machine]) -> None:
    """Sleep is delayed while something is offered, a peer is linked and the user wants it, and at no other time."""
    lap, logind = make_lap()
    here = Client(lap)
    activity = here.offer("Letter")
    let_pass(0.3)
    assert not logind.asked
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    wait(lambda: logind.delays == [("sleep", "Handoff", "Activities are left with the user's other devices.", "delay")],
         "the delay of sleep")
    activity.resign_current()
    wait(lambda: not logind.delays, "the end of the delay, since nothing is offered")
    activity.become_current()
    wait(lambda: len(logind.delays) == 1, "the delay of sleep")
    lap.session.set(ROOT, "Preferences.Park", GLib.Variant("b", False))
    wait(lambda: not logind.delays, "the end of the delay, since the user does not want it")
    _there, dock = Client(desk), Dock(desk)
    path = dock.offer("Letter")
    logind.prepare_for_sleep(True)
    dock.wait_until_gone(path)
    logind.prepare_for_sleep(False)
    dock.offer("Letter")
    lap.session.set(ROOT, "Preferences.Park", GLib.Variant("b", True))
    wait(lambda: len(logind.delays) == 1, "the delay of sleep")
    desk.set_enabled(False)
    wait(lambda: not logind.delays, "the end of the delay, since nobody is linked")


def test_left_before_the_network_goes(network: Network, machine_list: list[Machine]) -> None:
    """What is left gets through although the network is cut 50 ms after the machine was told that it is about to sleep, and it
    stays when the link dies of that."""
    desk, lap = hosted(network, machine_list)
    make_peers(desk, lap)
    logind = LoginManager(lap.place.connect())
    here, there, dock = Client(lap), Client(desk), Dock(desk)
    here.save(UserInfo=GLib.Variant("a{sv}", {"line": GLib.Variant("u", 8)}), Passing=GLib.Variant("b", True))
    here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7), "bulk": GLib.Variant("s", "x" * 100_000)})
    path = dock.offer("Letter")
    wait(lambda: logind.delays, "the delay of sleep")
    logind.prepare_for_sleep(True)
    let_pass(0.05)
    lap.place.cut()
    wait(lambda: dock.parked == ["Letter"], "what was left")
    wait(lambda: not logind.delays, "nobody to delay sleep")
    dock.continue_offer(path)
    # What holds for the moment only was asked for once more.
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 8
    lap.place.mend()
    logind.prepare_for_sleep(False)
    here.wait_for("WasContinued")


def test_lid_closed_under_a_continuation(make_lap: Lap, machine_list: list[Machine]) -> None:
    """What is being fetched when the lid is closed is continued with what was left."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, there, dock = Client(lap), Client(desk), Dock(desk)
    activity = here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)})
    path = dock.offer("Letter")
    wait(lambda: logind.delays, "the delay of sleep")
    here.hang("WillSave")
    activity.update(NeedsSave=GLib.Variant("b", True))
    here.wait_for("WillSave")
    dock.continue_offer(path)
    wait(lambda: dock.offers[path]["State"] == "continuing", "the continuation to begin")
    logind.sleep()
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 7
    assert dock.outcome()[1] == ""


def test_next_broker_has_it_too(make_lap: Lap, machine_list: list[Machine]) -> None:
    """What was left outlives the broker that it was left with, and another program than the one that ran then continues it; what
    was continued is not offered by the broker after that."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, dock = Client(lap), Dock(desk)
    here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)})
    wait(lambda: logind.delays, "the delay of sleep")
    logind.sleep()
    wait(lambda: not desk.connected_to(lap.device_id), "the end of the link")
    desk.kill("handoffd")
    desk.start_broker()
    there = Client(desk)
    wait(lambda: (dock.follow() or True) and dock.parked == ["Letter"], "what was left")
    dock.continue_offer(dock.offer("Letter"))
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 7
    # What was continued is not here for the broker after that.
    wait(lambda: not dock.offers, "what goes on here to go")
    wait(lambda: "had left here, was continued" in desk.log("handoff-bridge"), "the bridge to know it")
    desk.kill("handoffd")
    desk.start_broker()
    Client(desk)
    let_pass(1)
    dock.follow()
    assert not dock.offers


def test_both_sleep(make_lap: Lap) -> None:
    """What was left is still there when the machine that has it has slept too."""
    (lap, logind), (desk, desks_logind) = make_lap(), make_lap("desk")
    pair(desk, lap)
    here, there, dock = Client(lap), Client(desk), Dock(desk)
    here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)})
    path = dock.offer("Letter")
    wait(lambda: logind.delays, "the delay of sleep")
    logind.sleep()
    wait(lambda: dock.parked == ["Letter"], "what was left")
    for start in (True, False):
        desks_logind.prepare_for_sleep(start)
    wait(lambda: "The machine has woken up" in desk.log("handoff-bridge"), "the desktop to wake up")
    dock.continue_offer(path)
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 7


@pytest.mark.parametrize("name", ["handoff-bridge", "handoffd"])
@pytest.mark.parametrize("where", ["here", "there"])
def test_daemons_killed(make_lap: Lap, machine_list: list[Machine], name: str, where: str) -> None:
    """Whichever daemon ends while a machine sleeps, what was left is continued or offered again once it has woken up, and never
    lost."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, dock, _there = Client(lap), Dock(desk), Client(desk)
    here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)})
    here.follow_broker(lambda: here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)}))
    dock.offer("Letter")
    wait(lambda: logind.delays, "the delay of sleep")
    logind.sleep()
    wait(lambda: dock.parked == ["Letter"], "what was left")
    killed = lap if where == "here" else desk
    killed.kill(name)
    (killed.start_broker if name == "handoffd" else killed.start_bridge)("--verbose")
    there = Client(desk)
    logind.prepare_for_sleep(False)
    wait_for_link(desk, lap)

    def offered() -> str | None:
        dock.follow()
        return next((path for path, offer in dock.offers.items() if not offer["Parked"]), None)

    dock.continue_offer(wait(offered, "the offer of a machine that is awake"))
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 7
    here.wait_for("WasContinued")


def test_refused_delay(make_lap: Lap, machine_list: list[Machine]) -> None:
    """Where sleep may not be delayed, what is offered is left all the same, as far as there is time."""
    lap, logind = make_lap(refuses=True)
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, _there, dock = Client(lap), Client(desk), Dock(desk)
    here.offer("Letter")
    dock.offer("Letter")
    logind.prepare_for_sleep(True)
    wait(lambda: dock.parked == ["Letter"], "what was left")
    assert lap.log("handoff-bridge").count("The machine does not wait before it sleeps") == 1


def test_documents_stay(make_lap: Lap, machine_list: list[Machine], tmp_path: Path) -> None:
    """A document that is in no shared folder cannot come from a machine that sleeps, so that nothing of it is left."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear")
    here, _there, dock = Client(lap), Client(desk), Dock(desk)
    here.offer("Letter", DocumentURL=letter.as_uri())
    path = dock.offer("Letter")
    wait(lambda: logind.delays, "the delay of sleep")
    logind.sleep()
    dock.wait_until_gone(path)
    logind.prepare_for_sleep(False)
    dock.offer("Letter")
    lap.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Letters": str(tmp_path)}))
    logind.sleep()
    wait(lambda: dock.parked == ["Letter"], "what was left")


def test_peers_that_do_not_read(make_lap: Lap) -> None:
    """Eight peers that read nothing delay sleep by no more than a second."""
    lap, logind = make_lap()
    here = Client(lap)
    here.offer("Letter", UserInfo={"bulk": GLib.Variant("s", "x" * 120_000)})
    links = [Device().paired_link_to(lap) for _ in range(8)]
    wait(lambda: logind.delays, "the delay of sleep")
    # From here on nobody reads, since nothing of this runs the loop of these links.
    begin = time.monotonic()
    logind.prepare_for_sleep(True)
    while logind.delays:
        time.sleep(0.01)
        assert time.monotonic() - begin < 1.5
    assert all(not link.closed for link in links)
