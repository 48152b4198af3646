# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network whose hosts are network namespaces, each with Avahi and a system bus, and which fails when told to.

    network = Network("desk", "lap")
    if network.missing:
        pytest.skip(network.missing)
    network.start_avahi()
    desk, lap = (start_hosted(machine_list, host) for host in network.hosts.values())
    network["lap"].impair(delay=50, loss=0.1)
    network["lap"].cut()
    network.remove()
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import namespaces
from buses import BRIDGE, BRIDGE_ROOT, wait
from fabric import Impairment
from host import PREFIX, Host
from support import Machine, trust_each_other, wait_for_link
from switch import Switch

PROGRAMS = ("ip", "avahi-daemon", "dbus-daemon", "setpriv")


class Network:
    """Hosts, by their names, and the switch between them."""

    def __init__(self, *names: str) -> None:
        self.hosts: dict[str, Host] = {}
        self._switch: Switch | None = None
        # Why there is none; empty if there is one.
        self.missing = ""
        try:
            self._set_up(names)
        except OSError as error:
            self.missing = str(error)
            self.remove()
        except BaseException:
            self.remove()
            raise

    def _set_up(self, names: tuple[str, ...]) -> None:
        for program in PROGRAMS:
            if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
                raise OSError(f"there is no {program}")
        remove_abandoned()
        self._switch = Switch()
        for name in names:
            self.add(name)

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def add(self, name: str) -> Host:
        """Adds a host to the network."""
        assert self._switch and name not in self.hosts
        host = Host(self._switch, name, len(self.hosts) + 1)
        self.hosts[name] = host
        host.set_up()
        return host

    def start_avahi(self) -> None:
        """Starts Avahi on all hosts at the same time."""
        for host in self.hosts.values():
            host.start_avahi(waits=False)
        for host in self.hosts.values():
            host.wait_for_avahi()

    def impair(self, source: Host | None, target: Host | None, **impairment: float) -> None:
        """Sets what happens to what is sent from one host to another; None stands for any."""
        assert self._switch
        self._switch.impair(source and source.name, target and target.name, Impairment(**impairment))

    def remove(self) -> None:
        """Ends all that runs on the hosts, and removes them. Machines on them are to be stopped before."""
        for host in self.hosts.values():
            host.remove()
        self.hosts.clear()
        if self._switch:
            self._switch.close()
            self._switch = None


def remove_abandoned() -> None:
    """Removes the namespaces of processes that were killed before they could do so."""
    folder = Path(namespaces.NAMED)
    for name in [path.name for path in folder.glob(f"{PREFIX}*-*")] if folder.exists() else []:
        owner = name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            namespaces.ip("netns", "del", name)


class HostedMachine(Machine):
    """A machine on a host: its bridge is in the network, has Avahi, and chooses its own port."""

    def __init__(self, name: str, place: Host) -> None:
        super().__init__(name)
        self.place = place
        self.host = place.namespace
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = place.system_bus

    def start_bridge(self, *options: str) -> None:
        """Starts the bridge with discovery. Its port is then the one of that moment: bridges change it."""
        self.host_address = self.place.address
        self.start("handoff-bridge", *options)
        self.wait_for(BRIDGE, "handoff-bridge")
        self.port = wait(lambda: self.session.get(BRIDGE_ROOT, "Bridge.Port"), "a port")


def start_hosted(machines: list[Machine], place: Host, *options: str) -> HostedMachine:
    """A machine on a host, named as it is, with both daemons, added to those of the test, which ends it."""
    machine = HostedMachine(place.name, place)
    machines.append(machine)
    machine.start_broker(*options)
    machine.start_bridge(*options)
    return machine


def start_cabled(machines: list[Machine], cable: namespaces.Cable) -> tuple[Machine, Machine]:
    """Two paired and connected machines, one at each end of a cable, added to those of the test, which ends them."""
    for name, host, address in zip(("desk", "lap"), cable.hosts, cable.addresses):
        machine = Machine(name)
        machines.append(machine)
        machine.host, machine.host_address = host, address
        machine.start_broker()
        machine.start_bridge()
    desk, lap = machines
    trust_each_other(desk, lap)
    lap.dial(desk.port, desk.host_address)
    wait_for_link(desk, lap)
    return desk, lap
