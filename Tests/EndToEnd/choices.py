# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the user of a machine chooses: handoff.conf, which the broker alone writes, and its properties on the bus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gi.repository import GLib
from buses import ROOT
from support import Machine


def file(machine: Machine) -> Path:
    return machine.folder / "config_home" / "handoff" / "handoff.conf"


def choose(machine: Machine, name: str, value: GLib.Variant) -> None:
    machine.session.set(ROOT, f"Preferences.{name}", value)


def chosen(machine: Machine) -> dict[str, Any]:
    return {name: value.unpack() for name, value in machine.session.get_all(ROOT, "Preferences").items()}


def exclude(machine: Machine, *names: str) -> None:
    """Keeps these applications out, and no others."""
    choose(machine, "ExcludedApplications", GLib.Variant("as", names))


def hidden(machine: Machine) -> list[dict[str, Any]]:
    return machine.session.get(ROOT, "Manager.HiddenOffers")


def restarted(machine: Machine) -> None:
    """The broker begins anew, with what the file says."""
    machine.kill("handoffd")
    machine.start_broker()
