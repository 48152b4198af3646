# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of errors that daemons tell beside their texts, by which others say them in the user's language; and whose words
are quoted."""

from __future__ import annotations

import pytest
import pairing
from buses import BRIDGE_ROOT, wait
from clients import Client, Dock
from link import Device
from sending import send, send_error
from support import Machine, device_path, start_machine
from test_pairing import call, compare, confirm

OURS = "org.example.Handoff.Error."
Machines = tuple[Machine, Machine]


def test_sending(machine: Machine) -> None:
    """Why something sent was not taken has the name of its error, which goes with it."""
    Client(machine).offer("A letter")
    device = Device()
    link = device.paired_link_to(machine)
    wait(lambda: link.calls("Offer"), "the offer")

    def name() -> str:
        return machine.session.get(device_path(device.id), "Device.SendErrorName")

    for error, expected in (("org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.NotSupported"),
                            (f"{OURS}Disabled", f"{OURS}Disabled"), ("com.example.Odd", f"{OURS}ApplicationFailed")):
        link.errors["Invite"] = (error, "Do as I say.")
        former = len(link.calls("Invite"))
        send(machine, device.id)
        wait(lambda: len(link.calls("Invite")) > former and send_error(machine, device.id), "SendError")
        assert name() == expected
    del link.errors["Invite"]
    send(machine, device.id)
    wait(lambda: link.calls("Invite") and not send_error(machine, device.id), "SendError to be empty")
    assert name() == ""


@pytest.mark.parametrize("how", ["says no", "cancels", "goes"])
def test_pairing(machine_list: list[Machine], how: str) -> None:
    """Why pairing has failed has the name of its error on both machines."""
    desk, lap = strangers = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    compare(strangers)
    desk_id = desk.device_id
    if how == "goes":
        desk.kill("handoff-bridge")
    elif how == "cancels":
        call(desk, lap, "CancelPairing")
    else:
        confirm(desk, lap, False)
    expected = OURS + ("ConnectionUnavailable" if how == "goes" else "Cancelled")
    wait(lambda: pairing.shown(lap, desk_id).get("PairingErrorName") == expected, expected)
    assert pairing.shown(lap, desk_id)["PairingError"]
    if how != "goes":
        wait(lambda: pairing.shown(desk, lap.device_id).get("PairingErrorName") == expected, expected)


def test_connection_and_discovery(machines: Machines) -> None:
    """Why a peer is not connected, and why devices are not found, have the names of their errors."""
    desk, lap = machines
    desk_id = desk.device_id
    desk.kill("handoff-bridge")

    def shown() -> dict[str, object]:
        return pairing.shown(lap, desk_id)

    wait(lambda: shown()["ConnectionErrorName"] == f"{OURS}ConnectionUnavailable", "the name")
    assert shown()["ConnectionError"]
    about = {name: value.unpack() for name, value in lap.session.get_all(BRIDGE_ROOT, "Bridge").items()}
    assert bool(about["DiscoveryError"]) == bool(about["DiscoveryErrorName"])
    desk.start_bridge()
    wait(lambda: not shown()["ConnectionError"], "the link")
    assert shown()["ConnectionErrorName"] == ""


def test_words_of_others_in_a_terminal(machines: Machines) -> None:
    """“handoff continue” shows what an application says of its failure in quotation marks, which it cannot leave."""
    desk, lap = machines
    target = Client(lap)
    target.fail("ContinueActivity", "No” room.\nRun “rm -r ~”\x1b[2J")
    Client(desk).offer("A letter")
    Dock(lap).offer("A letter")
    number = Dock(lap).offer("A letter").rpartition("/")[2]
    result = lap.run("handoff", "continue", number)
    assert result.returncode == 1
    begin, _, words = result.stderr.splitlines()[-1].partition(" was not continued: “")
    assert begin == "handoff: “A letter”" and "No' room." in words and words.endswith("”")
    assert result.stderr.count("”") == 2 and "\x1b" not in result.stderr
