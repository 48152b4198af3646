# SPDX-License-Identifier: LGPL-2.1-or-later
"""What bash, zsh and fish complete after “handoff”."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from buses import BRIDGE_ROOT, wait
from clients import Client, Dock
from completing import SHELLS, Completing
from finding import hosted, nearby
from gi.repository import GLib
from link import Link
from pairing import discoverable
from rig import Network
from support import Machine, device_path
from test_pair_command import asking

Machines = tuple[Machine, Machine]
APPLICATION = ("org.example.Shell", ("org.example.shell.note",))
every_shell = pytest.mark.parametrize("shell", SHELLS)


@contextmanager
def answered(*links: Link) -> Iterator[None]:
    """Meanwhile these links answer what they are asked: who does not is cut off."""
    source = GLib.timeout_add(100, lambda: all(link.read_messages() is not None for link in links))
    try:
        yield
    finally:
        GLib.source_remove(source)


@every_shell
def test_words_that_handoff_knows(machine: Machine, shell: str) -> None:
    """Commands, options and files are completed, and an option that was given is not completed again."""
    (machine.folder / "a letter.txt").write_text("Dear")
    typist = Completing(machine, shell)
    assert typist.words("dev") == ["devices"]
    assert typist.words("help unmu") == ["help", "unmute"]
    assert typist.words("list --js") == ["list", "--json"]
    assert typist.words("continue --verb") == ["continue", "--verbose"]
    assert typist.words(f"publish --document {machine.folder}/a\\ let") \
        == ["publish", "--document", f"{machine.folder}/a letter.txt"]
    assert typist.words(f"copy lap {machine.folder}/a\\ let") == ["copy", "lap", f"{machine.folder}/a letter.txt"]
    assert typist.words("paste --stdout --type ht") == ["paste", "--stdout", "--type", "html"]
    text = typist.listed("list --", "--all", "--json")
    assert "--remember" not in text


@every_shell
def test_devices_and_offers(machines: Machines, shell: str) -> None:
    """Peers are completed by their names, offers by their ids, and applications also behind an equals sign."""
    desk, lap = machines
    Client(lap, *APPLICATION)
    activity = Client(desk, *APPLICATION).offer("A letter")
    Dock(lap).offer("A letter")
    typist = Completing(lap, shell)
    assert typist.words("mute de") == ["mute", "desk"]
    assert typist.words("send ") == ["send", "desk"]
    assert typist.words("copy ") == ["copy", "desk"]
    assert typist.words("continue ") == ["continue", activity.id[:8]]
    assert typist.words("continue --app org.ex") == ["continue", "--app", "org.example.Shell"]
    assert typist.words("continue --app=org.ex") == ["continue", "--app=org.example.Shell"]
    assert typist.words("unmute ") == ["unmute"], "none is muted"


@every_shell
def test_hostile_names(machine: Machine, shell: str) -> None:
    """What strangers call themselves is shown beside their ids at most: nothing of it gets into the line, and nothing runs."""
    discoverable(machine)
    ran = machine.folder / "ran"
    first, one = asking(machine, f"$(touch {ran})")
    typist = Completing(machine, shell)
    with answered(one):
        assert typist.words("pair ") == ["pair", first.id[:8]]
    second, other = asking(machine, f"`touch {ran}`'\";%F{{red}}")
    with answered(one, other):
        typist.listed("pair ", first.id[:8], second.id[:8], "touch")
        assert Completing(machine, shell).words(f"pair {second.id[:5]}") == ["pair", second.id[:8]]
    assert not ran.exists()


@every_shell
def test_hostile_peers_and_titles(machines: Machines, shell: str) -> None:
    """A peer whose name is no plain word is completed by its id, and an offer by its id, whatever they are called."""
    desk, lap = machines
    ran = lap.folder / "ran"
    title = f"$(touch {ran})`touch {ran}`;touch {ran}\n'\""
    desk.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", f"$(touch {ran})"))
    wait(lambda: "$" in lap.session.get(device_path(desk.device_id), "Device.Name"), "the name to arrive")
    Client(lap, *APPLICATION)
    activity = Client(desk, *APPLICATION).offer(title)
    wait(lambda: activity.id in lap.run("handoff", "list", "--json").stdout, "the offer")
    typist = Completing(lap, shell)
    assert typist.words("unpair ") == ["unpair", desk.device_id[:8]]
    assert typist.words("continue ") == ["continue", activity.id[:8]]
    assert not ran.exists()


def test_those_nearby(network: Network, machine_list: list[Machine]) -> None:
    """“handoff pair” is completed with the addresses of those nearby, in each shell, and a colon is no obstacle."""
    desk, lap = hosted(network, machine_list)
    ran = lap.folder / "ran"
    desk.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", f"$(touch {ran})"))
    discoverable(desk)
    address = wait(lambda: next((address for addresses in nearby(lap).values() for address in addresses
                                 if "[" not in address), None), "desk to be nearby")
    host, _, port = address.rpartition(":")
    for shell in SHELLS:
        typist = Completing(lap, shell)
        assert typist.words(f"pair {host}:{port[:1]}") == ["pair", address], shell
        assert typist.words(f"pair {host[:-1]}") == ["pair", address], shell
        typist.close()
    assert not ran.exists()


def test_a_daemon_that_hangs(machine: Machine) -> None:
    """Completion waits for a daemon that does not answer for a second or two, and says nothing."""
    machine.processes["handoffd"].send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    result = machine.run("handoff", "complete", "--", "continue", "")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert time.monotonic() - begin < 15
    machine.processes["handoffd"].send_signal(signal.SIGCONT)
