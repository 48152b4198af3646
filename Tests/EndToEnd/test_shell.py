# SPDX-License-Identifier: LGPL-2.1-or-later
"""Handoff from the shell: with the tools of D-Bus, and with the command line."""

from __future__ import annotations

import pytest
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT
from clients import Client, Dock
from support import Machine

ROOTS = [(BROKER, ROOT, "Manager"), (BRIDGE, BRIDGE_ROOT, "Bridge")]


def output(machine: Machine, *command: str) -> str:
    """What a command prints, which must succeed and complain of nothing."""
    result = machine.run(*command)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout


@pytest.mark.parametrize(("name", "path", "interface"), ROOTS)
def test_gdbus_introspects(machine: Machine, name: str, path: str, interface: str) -> None:
    """gdbus introspect --recurse shows the interfaces from the root of the tree, and their documentation."""
    for root in ("/", path):
        text = output(machine, "gdbus", "introspect", "--session", "--dest", name, "--object-path", root, "--recurse")
        assert f"interface {BROKER}.{interface} {{" in text
        assert "org.freedesktop.DBus.ObjectManager" in text
    xml = output(machine, "gdbus", "introspect", "--session", "--dest", name, "--object-path", path, "--xml")
    assert "org.gtk.GDBus.DocString" in xml or "<!--" in xml, "the documentation is there for those who look"


def test_gdbus_introspects_an_activity(machine: Machine) -> None:
    """An activity is found by recursion, with its methods and properties."""
    activity = Client(machine).create(Title="A letter")
    text = output(machine, "gdbus", "introspect", "--session", "--dest", BROKER, "--object-path", "/", "--recurse")
    assert activity.path in text
    for member in ("BecomeCurrent()", "in  a{sv} properties", "readwrite s Title = 'A letter'"):
        assert member in text


def test_gdbus_flips_the_switch(machine: Machine) -> None:
    """gdbus call reads the properties and flips Enabled."""
    def properties(method: str, *arguments: str) -> str:
        return output(machine, "gdbus", "call", "--session", "--dest", BROKER, "--object-path", ROOT,
                      "--method", f"org.freedesktop.DBus.Properties.{method}", f"{BROKER}.Manager", *arguments)

    assert properties("Get", "Enabled") == "(<true>,)\n"
    assert "'Version': <uint32 1>" in properties("GetAll")
    assert properties("Set", "Enabled", "<false>") == "()\n"
    assert properties("Get", "Enabled") == "(<false>,)\n"


@pytest.mark.parametrize(("name", "path", "interface"), ROOTS)
def test_busctl_shows_the_tree(machine: Machine, name: str, path: str, interface: str) -> None:
    """busctl tree and busctl introspect work on both daemons."""
    busctl = ("busctl", f"--address={machine.address}")
    assert path in output(machine, *busctl, "tree", "--list", name)
    text = output(machine, *busctl, "introspect", name, path)
    assert f"{BROKER}.{interface}" in text
    assert f"{BROKER}.{interface}" in output(machine, *busctl, "introspect", "--xml-interface", name, path)


def test_gdbus_shows_an_error(machine: Machine) -> None:
    """An error reaches the shell with its name and message."""
    result = machine.run("gdbus", "call", "--session", "--dest", BROKER, "--object-path", ROOT, "--method",
                         f"{BROKER}.Manager.CreateActivity", "", "{}")
    assert result.returncode != 0
    assert f"{BROKER}.Error.NotRegistered" in result.stderr


def test_offers_can_be_continued_with_gdbus(machines: tuple[Machine, Machine]) -> None:
    """What a dock does can be done with gdbus alone."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    assert output(lap, "gdbus", "call", "--session", "--dest", BROKER, "--object-path", path,
                  "--method", f"{BROKER}.RemoteActivity.Continue", "{}") == "()\n"
    target.wait_for("ContinueActivity")
