# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two machines that are being paired while others, or they themselves, come over further connections; two peers do not
notice (test_hostile_neighbours says what that means)."""

from __future__ import annotations

import re
import threading
from contextlib import suppress

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from bystanders import Bystanders, connecting
from link import Device
from pairing import call, discoverable, shown, state, YES
from proxy import Direction, Proxy
from support import Machine, device_path, refused, start_machine


# Where the one is that is being paired: others are let in from there alone.
SAME_HOST = "127.0.0.1"


@pytest.fixture
def tab(machine_list: list[Machine], bystanders: Bystanders) -> Machine:
    """A third machine, which nobody knows."""
    return start_machine(machine_list, "tab")


def to_comparison(desk: Machine, tab: Machine) -> str:
    """Has the two compare a code, which is given back."""
    discoverable(desk)
    tab.dial(desk.port)
    call(tab, desk.device_id, "Pair")
    for one, other in ((desk, tab), (tab, desk)):
        wait(lambda: state(one, other.device_id) == "comparing", f"the code on {one.name}")
    # Now that the user of desk wants it too, others may come, but are told no name.
    call(desk, tab.device_id, "Pair")
    discoverable(desk, False)
    return shown(desk, tab.device_id)["PairingCode"]


def agree(desk: Machine, tab: Machine, code: str) -> None:
    """Both are still comparing this code; when both users say yes they are paired."""
    for one, other in ((desk, tab), (tab, desk)):
        about = shown(one, other.device_id)
        assert (about.get("PairingState"), about.get("PairingCode")) == ("comparing", code)
    for one, other in ((desk, tab), (tab, desk)):
        call(one, other.device_id, "ConfirmPairing", YES)
    wait(lambda: desk.connected_to(tab.device_id) and tab.connected_to(desk.device_id), "the pairing")


@pytest.mark.parametrize("number", [1, 20])
def test_others_come_during_pairing(bystanders: Bystanders, tab: Machine, number: int) -> None:
    """Other connections during a dialogue, by the name of who is being paired and from its address, cancel nothing and
    learn nothing, be they few or many; from elsewhere they are not let in; and the dialogue completes."""
    desk = bystanders.desk
    with bystanders.undisturbed() as times:
        code = to_comparison(desk, tab)
        with pytest.raises(OSError):
            Device().link_to(desk)
        times.take_under_attack()
        for _time in range(number):
            link = Device().link_to(desk, SAME_HOST)
            link.hello(paired=True, Name=GLib.Variant("s", "tab"))
            link.call("Pairing.Cancel", GLib.Variant("(s)", ("No.",)))
            with refused("PairingFailed"):
                link.call("Pairing.Confirm")
            link.wait_until_closed()
            (hello,) = link.calls("Hello")
            assert hello.get_body().unpack() == (1, {"Paired": False, "Secret": []})
            assert not [text for message in link.received if message.get_body()
                        for text in re.findall(r"\d{3} ?\d{3}", message.get_body().print_(False))]
    agree(desk, tab, code)


def test_crowd_during_pairing(bystanders: Bystanders, tab: Machine) -> None:
    """More strangers at once than may be there do not drive out the one that is being paired."""
    desk = bystanders.desk
    with bystanders.undisturbed() as times:
        code = to_comparison(desk, tab)
        crowd = []
        for _number in range(12):
            # Some may be turned away.
            with suppress(AssertionError, OSError):
                link = Device().link_to(desk, SAME_HOST)
                crowd.append(link)
                link.hello(paired=False)
        assert len(crowd) >= 8
        times.take_under_attack()
    agree(desk, tab, code)


@pytest.mark.parametrize("how", ["over one link", "over two", "as soon as they can"])
def test_both_begin_at_once(bystanders: Bystanders, tab: Machine, how: str) -> None:
    """Two machines whose users begin at the same time, whoever dials, compare one code, and are paired by it."""
    desk = bystanders.desk
    ends = ((desk, tab), (tab, desk))
    with bystanders.undisturbed() as times:
        discoverable(desk)
        discoverable(tab)
        if how == "over one link":
            tab.dial(desk.port)
        else:
            dials = [connecting(one, other.port) for one, other in ends]
            if how == "over two":
                for finish in dials:
                    finish()
        for one, other in ends:
            wait(lambda: shown(one, other.device_id).get("Connected"), f"{other.name} on {one.name}")
        for finish in [one.session.begin(device_path(other.device_id), "Device.Pair") for one, other in ends]:
            finish()
        for one, other in ends:
            wait(lambda: state(one, other.device_id) == "comparing", f"the code on {one.name}")
        times.take_under_attack()
        code = shown(desk, tab.device_id)["PairingCode"]
    agree(desk, tab, code)


class Held(Proxy):
    """A proxy that passes nothing on until it is let go."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.let_go = threading.Event()

    def _pass(self, direction: Direction, record: bytes) -> bool:
        self.let_go.wait(10)
        return super()._pass(direction, record)


def test_second_link_during_pairing(bystanders: Bystanders, tab: Machine) -> None:
    """Where both have dialled, and the link that is to stay comes about while a code is compared over the other, the
    two still come to one code, and are paired by it."""
    desk = bystanders.desk
    # The link stays that was dialled by the smaller id.
    first, second = sorted((desk, tab), key=lambda machine: machine.device_id, reverse=True)
    proxy = Held(first.port)
    try:
        with bystanders.undisturbed() as times:
            discoverable(desk)
            discoverable(tab)
            late = connecting(second, proxy.port)
            first.dial(second.port)
            call(first, second.device_id, "Pair")
            for one, other in ((first, second), (second, first)):
                wait(lambda: state(one, other.device_id) == "comparing", f"the code on {one.name}")
            proxy.let_go.set()
            late()
            # As long as a link takes to be made and to replace the other one.
            let_pass(0.3)
            for one, other in ((first, second), (second, first)):
                wait(lambda: state(one, other.device_id) == "comparing", f"the code on {one.name}, again", 5)
            times.take_under_attack()
            code = shown(desk, tab.device_id)["PairingCode"]
        agree(desk, tab, code)
    finally:
        proxy.let_go.set()
        proxy.close()
