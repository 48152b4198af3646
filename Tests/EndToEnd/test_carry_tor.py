# SPDX-License-Identifier: LGPL-2.1-or-later
"""Devices that are linked through Tor, set up line by line as docs/carriers.md says, in a private network of Tor."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tor
from buses import wait
from carriers import about, configure, told
from rig import Network
from streams import Background, Continuation, receive, send
from support import SOURCE, Machine, trust_each_other

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(tor.missing()), reason=tor.missing())]
# Seconds until a way through Tor is there.
PATIENCE = 90
SIZE = 4 << 20
# What socat says when tor does not connect it.
REFUSED = "connect request rejected or failed"


class Recipe:
    """What docs/carriers.md says of Tor: the blocks of lines to copy, and what stands in backquotes. Nothing else is tried."""

    def __init__(self) -> None:
        section = (SOURCE / "docs" / "carriers.md").read_text().split("\n## Tor\n")[1].split("\n## ")[0]
        blocks = [block.strip().splitlines() for block in re.findall(r"\n\n((?: {8}.*\n)+)", section)]
        self.desktop, self.key, self.laptop, commands = [[line.strip() for line in block] for block in blocks]
        # What carries, by the name of its program.
        self.commands = {line.split(" -- ")[1].split()[0]: line for line in commands}
        self._quoted = [" ".join(text.split()) for text in re.findall(r"`([^`]+)`", section)]

    def quoted(self, begin: str) -> str:
        """The one text in backquotes that begins like this."""
        [found] = [text for text in self._quoted if text.startswith(begin)]
        return found


class Way:
    """Two machines with no way between them but Tor, set up by the recipe up to the start of the laptop's tor."""

    def __init__(self, onions: tor.Onions, machines: list[Machine], network: Network) -> None:
        self.onions, self.recipe = onions, Recipe()
        self.desktop, self.laptop = (tor.start_inside(machines, network[name]) for name in ("desktop", "laptop"))
        trust_each_other(self.desktop, self.laptop)
        self.files = {}
        for machine in (self.desktop, self.laptop):
            home = Path(machine.environment["HOME"])
            (home / ".config").mkdir()
            (home / ".local" / "share").mkdir(parents=True)
            self.files[machine.name] = home / ".config" / "tor-handoff"
        self._set_up_desktop()
        self._set_up_laptop()

    @staticmethod
    def of(machine: Machine, text: str) -> str:
        """A text of the page, as it is to be put for the user of a machine."""
        return text.replace("/home/me", machine.environment["HOME"]) \
            .replace("/run/user/1000", machine.environment["XDG_RUNTIME_DIR"])

    @staticmethod
    def folder(machine: Machine) -> Path:
        """The data folder of a machine's tor."""
        return Path(machine.environment["HOME"]) / ".local" / "share" / "tor-handoff"

    def start_tor(self, machine: Machine) -> None:
        self.onions.start_tor(machine, self.files[machine.name])

    def write(self, machine: Machine, lines: list[str]) -> None:
        self.files[machine.name].write_text("".join(f"{self.of(machine, line)}\n" for line in lines))

    def _set_up_desktop(self) -> None:
        self.write(self.desktop, self.recipe.desktop)
        listens = self.of(self.desktop, self.recipe.quoted("handoff carry --listen")).split()
        self.desktop.start(*listens)
        wait(Path(listens[-1]).is_socket, "the socket to be listened on")
        self.start_tor(self.desktop)
        self.name = (self.folder(self.desktop) / "service" / "hostname").read_text().strip().removesuffix(".onion")

    def _set_up_laptop(self) -> None:
        secret, public = self.new_key("key")
        line = self.recipe.quoted("descriptor:").replace("PUBLIC", public)
        (self.folder(self.desktop) / "service" / "authorized_clients" / "laptop.auth").write_text(f"{line}\n")
        assert self.desktop.kill("tor", signal.SIGTERM) == 0
        self.start_tor(self.desktop)
        self.write(self.laptop, self.recipe.laptop)
        (self.folder(self.laptop) / "auth").mkdir(parents=True)
        self.use(secret)

    def new_key(self, name: str) -> tuple[str, str]:
        """Makes a key by the lines of the page, and returns its secret part and its public one."""
        outputs = [subprocess.run(["sh", "-c", re.sub(r"\bkey\b", name, line)], cwd=self.laptop.folder, check=True,
                                  capture_output=True, text=True).stdout.strip() for line in self.recipe.key]
        assert len(outputs) == 3 and outputs[1] != outputs[2]
        return outputs[1], outputs[2]

    def use(self, secret: str) -> None:
        """Has the laptop use this key when its tor starts."""
        line = self.recipe.quoted("NAME:").replace("NAME", self.name).replace("SECRET", secret)
        (self.folder(self.laptop) / "auth" / "desktop.auth_private").write_text(f"{line}\n")

    def command(self, program: str) -> list[str]:
        """The command of the page that carries by this program, as the laptop's user runs it."""
        if not shutil.which(program):
            pytest.skip(f"there is no {program}")
        return self.recipe.commands[program].replace("NAME", self.name).split()

    @property
    def is_up(self) -> bool:
        return self.laptop.connected_to(self.desktop.device_id) and self.desktop.connected_to(self.laptop.device_id)

    @property
    def is_down(self) -> bool:
        return not self.laptop.connected_to(self.desktop.device_id) \
            and not self.desktop.connected_to(self.laptop.device_id)

    def wait_until_up(self, what: str) -> None:
        begin = time.monotonic()
        wait(lambda: self.is_up, "the link through Tor", PATIENCE)
        print(f"{what}: the link was up after {time.monotonic() - begin:.1f} s.")


@pytest.fixture(scope="module")
def onions() -> Iterator[tuple[Network, tor.Onions]]:
    """A network of Tor, and two hosts that reach it, and not each other."""
    network = Network("desktop", "laptop")
    if network.missing:
        pytest.skip(f"there can't be a network of namespaces: {network.missing}")
    try:
        for one, other in (("desktop", "laptop"), ("laptop", "desktop")):
            network.impair(network[one], network[other], cut=True)
        begin = time.monotonic()
        made = tor.Onions(network)
        made.start()
        print(f"\nThe network of Tor was there after {time.monotonic() - begin:.1f} s.")
        yield network, made
    finally:
        network.remove()


@pytest.fixture
def way(onions: tuple[Network, tor.Onions], machine_list: list[Machine]) -> Way:
    network, made = onions
    return Way(made, machine_list, network)


@pytest.mark.parametrize("program", ["socat", "nc"])
def test_through_tor(way: Way, program: str) -> None:
    """Through an onion service that is set up as docs/carriers.md says, two devices without any other way are linked; activities
    are continued in both directions, and so do streams go, whose directions end one after the other."""
    desktop, laptop = way.desktop, way.laptop
    way.start_tor(laptop)
    assert way.is_down
    laptop.start(*way.command(program))
    way.wait_until_up(program)
    assert (about(laptop, desktop.device_id, "Way"), about(laptop, desktop.device_id, "ConnectedAddress")) \
        == ("carried", f"by {program}")
    assert about(desktop, laptop.device_id, "Way") == "carried"
    for verb in ("status", "devices"):
        assert f"connected by {program}" in laptop.run("handoff", verb).stdout
    for here, there in ((desktop, laptop), (laptop, desktop)):
        begin = time.monotonic()
        continuation = Continuation(here, there, title=f"of {here.name}")
        print(f"{program}: offered on {here.name} and continued on {there.name} in {time.monotonic() - begin:.2f} s.")
        for end, other in (ends := continuation.open(), ends[::-1]):
            begin = time.monotonic()
            sending, receiving = Background(lambda: send(other, SIZE)), Background(lambda: receive(end))
            assert receiving.result() == (SIZE, sending.result())
            print(f"{program}: a stream went at {SIZE / 1e6 / (time.monotonic() - begin):.1f} MB/s.")
        continuation.release()
    assert laptop.log("handoff") == desktop.log("handoff") == ""
    assert laptop.kill("handoff", signal.SIGTERM) == 0
    wait(lambda: way.is_down, "the end of the link")


def test_without_the_key(way: Way) -> None:
    """A laptop that has no key for the service, or another one, does not get to the desktop; with the key it does."""
    laptop = way.laptop
    key = way.folder(laptop) / "auth" / "desktop.auth_private"
    right = key.read_text()
    key.unlink()
    command = way.command("socat")
    for what, complaint in (("no key", "Fail to decrypt descriptor"), ("another key", "Can't decrypt the descriptor")):
        if what == "another key":
            way.use(way.new_key("other")[0])
        way.start_tor(laptop)
        log = len(laptop.log("tor"))
        before = told(laptop, REFUSED)
        laptop.start(*command)
        wait(lambda: told(laptop, REFUSED) > before, f"the carrier to fail with {what}", PATIENCE)
        # It is there, and cannot be read.
        assert complaint in laptop.log("tor")[log:]
        assert REFUSED in laptop.run("handoff", "status").stdout
        assert way.is_down
        laptop.kill("handoff", signal.SIGTERM)
        laptop.kill("tor", signal.SIGTERM)
    key.write_text(right)
    way.start_tor(laptop)
    laptop.start(*command)
    way.wait_until_up("the right key")


def test_tor_is_killed(way: Way) -> None:
    """When the tor of the laptop is killed the link ends at both ends, and the laptop says why there is none; when tor is there
    again, so is the link."""
    desktop, laptop = way.desktop, way.laptop
    way.start_tor(laptop)
    configure(laptop, f"desktop={' '.join(way.command('socat')[4:])}")
    laptop.start("handoff", "carry", "--all")
    way.wait_until_up("handoff.conf")
    laptop.kill("tor")
    begin = time.monotonic()
    wait(lambda: way.is_down, "the end of the link at both ends", PATIENCE)
    print(f"The link had ended at both ends {time.monotonic() - begin:.1f} s after tor was killed.")
    wait(lambda: "Connection refused" in about(laptop, desktop.device_id, "ConnectionError"), "the reason")
    assert re.search("no connection to “desktop”.* by socat: .*Connection refused", laptop.run("handoff", "status").stdout)
    assert "not connected" in laptop.run("handoff", "devices").stdout
    wait(lambda: told(laptop, "Connection refused"), "the reason in the log")
    way.start_tor(laptop)
    way.wait_until_up("tor again")
    Continuation(desktop, laptop).release()
