# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sending what is current from the menu in the panel."""

from __future__ import annotations

from buses import ROOT, wait
from clients import APPLICATION_ID, Client, Dock
from gi.repository import GLib
from link import Device, Link
from notifications import PlainServer
from sending import send, send_error, wait_until_invited
from support import Machine
from surfaces import PanelHost, start_agent


def read(link: Link, member: str) -> bool:
    """Whether the machine has called this member over the link."""
    return bool(link.calls(member))


def test_sent_from_the_panel(machines: tuple[Machine, Machine]) -> None:
    """What is chosen there arrives as sent; it is not offered when its application is excluded."""
    desk, lap = machines
    here, host, dock, _receiver = Client(desk), PanelHost(desk), Dock(lap), Client(lap)
    start_agent(desk)
    here.offer("A letter")
    dock.offer("A letter")
    host.click(host.wait_for_entry("Send to…/lap"))
    wait_until_invited(dock, "A letter")
    desk.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", [APPLICATION_ID]))
    wait(lambda: "Send to…" not in host.menu(), "nothing to be sent")


def test_sending_from_the_panel_fails(machine: Machine) -> None:
    """Why a device did not take what was sent to it there is shown as a notification, and nothing of what others sent."""
    Client(machine).offer("A letter")
    device = Device()
    link = device.paired_link_to(machine)
    link.errors["Invite"] = ("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")
    wait(lambda: read(link, "Offer"), "the offer")
    server, host = PlainServer(machine), PanelHost(machine)
    start_agent(machine)
    number = host.wait_for_entry("Send to…/other")
    send(machine, device.id)
    wait(lambda: read(link, "Invite") and send_error(machine, device.id), "SendError")
    host.click(number)
    wait(lambda: len(link.calls("Invite")) == 2, "the second call")
    shown = server.wait_for("Nothing was sent")
    first, name = shown.body.splitlines()
    assert first == "The Handoff of the other device is too old for that. Update it there." and name == "other"
    assert len(server.record) == 1
