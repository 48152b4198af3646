# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private network of Tor, whose relays are hosts of a network of namespaces, and machines whose programs are all on one.

    onions = Onions(network)
    onions.start()
    desktop = start_inside(machine_list, network["desktop"])
    onions.start_tor(desktop, file)
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from buses import wait
from host import Host
from rig import HostedMachine, Network
from support import Machine

PROGRAMS = ("tor", "tor-gencert")
AUTHORITIES, RELAYS = 3, 4
OR_PORT, DIR_PORT = 5000, 7000
# What a tor needs in order to be content with relays that are few, new and next to each other.
TESTING = ("TestingTorNetwork 1", "AssumeReachable 1", "PathsNeededToBuildCircuits 0.25", "Log notice stdout")
# An agreement of the authorities within seconds, and another each twenty seconds, in which every relay may be all there is.
VOTING = ("AuthoritativeDirectory 1", "V3AuthoritativeDirectory 1", "ContactInfo nobody@example.org",
          "TestingV3AuthInitialVotingInterval 5", "TestingV3AuthInitialVoteDelay 2", "TestingV3AuthInitialDistDelay 2",
          "V3AuthVotingInterval 20", "V3AuthVoteDelay 4", "V3AuthDistDelay 4",
          "TestingDirAuthVoteGuard *", "TestingDirAuthVoteHSDir *", "TestingDirAuthVoteExit *")
# Seconds until a new network has agreed, which may take some rounds of it, and until a tor has found its way in it.
PATIENCE = 180


def missing() -> str:
    """Why there can be no such network here; empty if there can."""
    return next((f"there is no {program}, of Debian's tor" for program in PROGRAMS
                 if not shutil.which(program, path="/usr/sbin:/usr/bin")), "")


class Onions:
    """A network of Tor on hosts of its own, which are added to a network."""

    def __init__(self, network: Network) -> None:
        self.hosts = [network.add(f"relay{number}") for number in range(AUTHORITIES + RELAYS)]
        authorities = self.hosts[:AUTHORITIES]
        # What each tor of this network has to know of it.
        self.lines = [*TESTING, *map(_new_authority, authorities)]
        for host in self.hosts:
            lines = [f"DataDirectory {host.folder}/tor", f"Nickname {host.name}", f"Address {host.address}",
                     f"ORPort {OR_PORT}", "SocksPort 0", "ExitPolicy reject *:*", *self.lines]
            if host in authorities:
                lines += [f"DirPort {DIR_PORT}", *VOTING]
            (host.folder / "torrc").write_text("\n".join([*lines, ""]))

    def start(self) -> None:
        """Starts the relays, and waits until each of them has found its way."""
        for host in self.hosts:
            host.start("tor", "-f", str(host.folder / "torrc"))
        for host in self.hosts:
            wait(lambda: has_bootstrapped(host.log("tor")), f"{host.name} to be in the network", PATIENCE)

    def start_tor(self, machine: Machine, file: Path) -> None:
        """Starts the tor of a user, with this file and what the network needs, and waits until it has found its way."""
        before = len(machine.log("tor"))
        network = file.with_suffix(".network")
        network.write_text("\n".join([*self.lines, ""]))
        machine.start("tor", "-f", str(file), "--defaults-torrc", str(network))
        process = machine.processes["tor"]
        wait(lambda: has_bootstrapped(machine.log("tor")[before:]) or process.poll() is not None,
             f"the tor of {machine.name} to be in the network", PATIENCE)
        assert process.poll() is None, f"tor has ended:\n{machine.log('tor')[before:]}"


def has_bootstrapped(log: str) -> bool:
    return "Bootstrapped 100%" in log


def _new_authority(host: Host) -> str:
    """Makes the keys of an authority, and returns the line by which others know it."""
    folder = host.folder / "tor"
    keys = folder / "keys"
    for each in (folder, keys):
        each.mkdir(mode=0o700)
    address = f"{host.address}:{DIR_PORT}"
    subprocess.run(["tor-gencert", "--create-identity-key", "--passphrase-fd", "0", "-m", "12", "-a", address],
                   cwd=keys, input=b"none\n", check=True, capture_output=True)
    certificate = (keys / "authority_certificate").read_text()
    identity = re.search(r"^fingerprint ([0-9A-F]{40})$", certificate, re.MULTILINE)
    assert identity, certificate
    empty = host.folder / "empty"
    empty.touch()
    listed = subprocess.run(
        ["tor", "--list-fingerprint", "--quiet", "-f", empty, "--DataDirectory", folder, "--ORPort", str(OR_PORT),
         "--Nickname", host.name, "--DirAuthority", f"x 127.0.0.1:1 {'F' * 40}"],
        check=True, capture_output=True, text=True)
    fingerprint = listed.stdout.strip().removeprefix(host.name).strip()
    return f"DirAuthority {host.name} orport={OR_PORT} v3ident={identity[1]} {address} {fingerprint}"


class Inside(HostedMachine):
    """A machine all of whose programs are on its host."""

    def prefix(self, program: str) -> list[str]:
        return [] if program == "dbus-daemon" else ["ip", "netns", "exec", self.host]


def start_inside(machines: list[Machine], place: Host) -> Inside:
    """A machine on a host, named as it is, with both daemons, added to those of the test, which ends it."""
    machine = Inside(place.name, place)
    machines.append(machine)
    machine.start_broker()
    machine.start_bridge()
    return machine
