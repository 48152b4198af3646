# SPDX-License-Identifier: LGPL-2.1-or-later
"""Devices that are linked through ssh, by a key that can do nothing else."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest
import ssh
from gi.repository import GLib
from buses import ROOT, wait
from clients import Client, Dock
from finding import hosted, make_peers
from rig import Network
from streams import Background, Continuation, receive, send
from support import Machine, device_path, wait_for_link
from vpn import Tunnel

pytestmark = pytest.mark.skipif(bool(ssh.missing()), reason=ssh.missing())


def way(machine: Machine, other: Machine) -> tuple[str, str]:
    """By which way another device is linked, and how that is put."""
    path = device_path(other.device_id)
    return machine.session.get(path, "Device.Way"), machine.session.get(path, "Device.ConnectedAddress")


@pytest.fixture
def carried(apart: tuple[Machine, Machine]) -> tuple[Machine, Machine]:
    """Two machines that trust each other, with no way between them but ssh."""
    desk, lap = apart
    server = ssh.Server(lap)
    desk.start("handoff", "carry", "lap", "--", *server.command)
    wait_for_link(desk, lap)
    return desk, lap


def test_through_ssh(carried: tuple[Machine, Machine]) -> None:
    """Through ssh, with a key that can do nothing but `handoff carry --accept`, an activity and its streams cross in both
    directions."""
    desk, lap = carried
    assert way(desk, lap) == ("carried", "by ssh")
    assert way(lap, desk) == ("carried", "by a carrier")
    for verb in ("status", "devices"):
        assert "connected by ssh" in desk.run("handoff", verb).stdout
    for here, there in ((desk, lap), (lap, desk)):
        continuation = Continuation(here, there, title=f"of {here.name}")
        end, other = continuation.open()
        data = os.urandom(4 << 20)
        writing = Background(lambda: (other.sendall(data), other.close()))
        received = b"".join(iter(lambda: end.recv(1 << 16), b""))
        writing.result()
        assert received == data
        end.close()
        continuation.release()


def test_a_direct_link_takes_its_place(carried: tuple[Machine, Machine]) -> None:
    """When there is a direct way, a direct link takes the place of one through ssh, and a stream that is under way goes on."""
    desk, lap = carried
    here, there = Continuation(desk, lap).open()
    size = 64 << 20
    writing = Background(lambda: send(there, size))
    wait(lambda: writing.is_over or here.recv(1, socket.MSG_PEEK), "the stream to begin")
    desk.dial(lap.port)
    wait(lambda: way(desk, lap)[0] == way(lap, desk)[0] == "same-network", "the direct link")
    assert not writing.is_over
    reading = Background(lambda: receive(here))
    assert reading.result() == (size, writing.result())


@pytest.mark.long
def test_network_comes_back(network: Network, machine_list: list[Machine]) -> None:
    """When the network that two devices share goes, the link goes through ssh, by another; a gigabyte that is under way when the
    network is back arrives whole, and what is continued then does, too."""
    desk, lap = hosted(network, machine_list, "--verbose")
    # What finds places is not what is tested.
    for one in (desk, lap):
        one.session.set(ROOT, "Preferences.ShareAddresses", GLib.Variant("b", False))
    tunnel = Tunnel(network["desk"], network["lap"])
    try:
        make_peers(desk, lap)
        server = ssh.Server(lap, tunnel.addresses["lap"], network["lap"])
        desk.start("handoff", "carry", "--label", "ssh", "lap", "--", *ssh.inside(network["desk"]), *server.command)
        desk.place.link_down()
        begin = time.monotonic()
        wait(lambda: way(desk, lap) == ("carried", "by ssh") and way(lap, desk)[0] == "carried", "the link through ssh")
        print(f"The link went through ssh after {time.monotonic() - begin:.1f} s.")
        here, there = Continuation(desk, lap).open()
        size = 1 << 30
        writing = Background(lambda: send(there, size))
        wait(lambda: writing.is_over or here.recv(1, socket.MSG_PEEK), "the stream to begin")
        desk.place.link_up()
        dock = Dock(desk)
        Client(lap, "com.example.Other").offer("Another letter")
        Client(desk, "com.example.Other")
        dock.continue_offer(dock.offer("Another letter"))
        assert dock.outcome()[1:] == ("", "")
        wait(lambda: way(desk, lap)[0] == way(lap, desk)[0] == "same-network", "the direct link")
        assert not writing.is_over
        reading = Background(lambda: receive(here))
        assert reading.result(300) == (size, writing.result())
    finally:
        tunnel.close()


def test_end_of_ssh(carried: tuple[Machine, Machine]) -> None:
    """When ssh ends, however that comes, the link does, and comes back by another; none of them is left when the carrier is
    killed."""
    desk, lap = carried
    folder = f"{lap.folder}/ssh/key".encode()

    def running() -> list[int]:
        """The processes of ssh."""
        found = []
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                words = (directory / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"ssh") and folder in words:
                found.append(int(directory.name))
        return found

    first = running()
    for process in first:
        os.kill(process, signal.SIGKILL)
    wait(lambda: running() and not set(first) & set(running()), "another ssh")
    wait_for_link(desk, lap)
    desk.kill("handoff", signal.SIGKILL)
    wait(lambda: not running(), "the end of every ssh")
    wait(lambda: not desk.connected_to(lap.device_id) and not lap.connected_to(desk.device_id), "the end of the link")
