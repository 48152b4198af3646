# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the user has chosen, where only whole programs show it: the log, the end of a broker, and the port of the bridge."""

from __future__ import annotations

import random
import signal
from typing import Any

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT, BROKER, BUS, ROOT, let_pass, wait
from choices import choose, chosen, file, restarted
from support import Machine

DEFAULTS = {"NotifyOffers": "arrival", "NotifyContinued": True, "Park": True, "ShareAddresses": True, "Introduces": True,
            "ShareOpenActivities": True, "Clipboard": "ask", "ExcludedApplications": [], "DisabledAdapters": [],
            "DocumentsFolder": ""}
TYPES = {"NotifyOffers": "s", "NotifyContinued": "b", "Park": "b", "ShareAddresses": "b", "Introduces": "b",
         "ShareOpenActivities": "b", "Clipboard": "s", "ExcludedApplications": "as", "DisabledAdapters": "as",
         "DocumentsFolder": "s"}
CHOSEN = {"NotifyOffers": "never", "NotifyContinued": False, "Park": False, "ShareAddresses": False, "Introduces": False,
          "ShareOpenActivities": False, "Clipboard": "follow", "ExcludedApplications": ["com.example.a", "org.b"],
          "DisabledAdapters": ["kate", "mpv-2"], "DocumentsFolder": "~/Meine Dokumente; ü"}


def these(machine: Machine) -> dict[str, Any]:
    return {name: value for name, value in chosen(machine).items() if name in DEFAULTS}


def choose_all(machine: Machine, values: dict[str, Any]) -> None:
    for name, value in values.items():
        choose(machine, name, GLib.Variant(TYPES[name], value))


def test_nonsense_in_the_file(machine: Machine) -> None:
    """What cannot be understood in the file counts as not chosen, the log says so once for each key, nothing else of it is
    lost, and it can be put right over the bus."""
    noise = ";".join(["../x"] * 5000)
    file(machine).write_text(f"[Device]\nName=desk\n[Handoff]\nExcludedApplications={noise};com.a;\n"
                             f"[Adapters]\nDisabled=a\\x\n[Documents]\nFolder=../In\n"
                             f"[Notifications]\nOffers=\u202esometimes\nContinued=perhaps\n")
    restarted(machine)
    assert these(machine) == DEFAULTS | {"ExcludedApplications": ["com.a"]}
    assert chosen(machine)["DeviceName"] == "desk"
    log = machine.log("handoffd")
    for key in ("ExcludedApplications", "[Adapters], Disabled", "[Documents], Folder", "[Notifications], Offers",
                "[Notifications], Continued"):
        assert len([line for line in log.splitlines() if key in line]) == 1, key
    assert "\u202e" not in log
    choose_all(machine, CHOSEN)
    restarted(machine)
    assert these(machine) == CHOSEN


@pytest.mark.parametrize("value", ["com.a;\\x", ";".join(f"com.a{number}" for number in range(257))])
def test_exclusions_that_cannot_be_told(machine_list: list[Machine], value: str) -> None:
    """If it cannot be told which applications the user keeps out, the broker does not start, and says which key is wrong."""
    machine = Machine("desk")
    machine_list.append(machine)
    file(machine).write_text(f"[Handoff]\nExcludedApplications={value}\n")
    process = machine.start("handoffd")
    wait(lambda: process.poll() is not None, "the end of the broker")
    machine.processes.pop("handoffd")
    assert process.returncode == 1 and "ExcludedApplications" in machine.log("handoffd")


def test_killed_while_writing(machine: Machine) -> None:
    """When the broker is killed while it writes, the file is as it was before or as it is afterwards, and nothing else in it
    is lost."""
    choose_all(machine, CHOSEN)
    numbers, before = random.Random(1), CHOSEN["ExcludedApplications"]
    for turn in range(6):
        names = [[f"com.example.a{turn}x{number}" for number in range(count)] for count in range(1, 200, 5)]
        for value in names:
            machine.session.begin(ROOT, f"{BUS}.Properties.Set", GLib.Variant("(ssv)", (
                f"{BROKER}.Preferences", "ExcludedApplications", GLib.Variant("as", value))))
        # Somewhere in the middle of it.
        let_pass(numbers.random() * 0.05)
        machine.kill("handoffd", signal.SIGKILL)
        written = GLib.KeyFile()
        written.load_from_file(str(file(machine)), GLib.KeyFileFlags.NONE)
        assert written.get_string("Documents", "Folder") == CHOSEN["DocumentsFolder"]
        machine.start_broker()
        now = these(machine)
        excluded = now.pop("ExcludedApplications")
        assert excluded in [before, *(sorted(value) for value in names)]
        assert now == {name: value for name, value in CHOSEN.items() if name != "ExcludedApplications"}
        before = excluded


def test_port(machine: Machine) -> None:
    """The bridge listens on the port that is chosen, at once and after a restart."""
    # None of those that other bridges draw meanwhile, or that the kernel gives to sockets which name none.
    number = 25893
    machine.kill("handoff-bridge")
    machine.start("handoff-bridge", "--no-discovery")
    machine.wait_for(f"{BROKER}.Bridge", "handoff-bridge")

    def port() -> int:
        return machine.session.get(BRIDGE_ROOT, "Bridge.Port")

    wait(port, "a port")
    choose(machine, "Port", GLib.Variant("q", number))
    wait(lambda: port() == number, "the chosen port")
    machine.kill("handoff-bridge")
    machine.start("handoff-bridge", "--no-discovery")
    machine.wait_for(f"{BROKER}.Bridge", "handoff-bridge")
    wait(lambda: port() == number, "the chosen port")
    choose(machine, "Port", GLib.Variant("q", 0))
    wait(lambda: port() not in (0, number), "another port")
