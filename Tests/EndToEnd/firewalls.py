# SPDX-License-Identifier: LGPL-2.1-or-later
"""A system bus with a firewalld that is not one, and a machine whose bridge finds another /etc."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from gi.repository import Gio, GLib
from buses import Session, wait
from host import SYSTEM_BUS
from support import Machine

FIREWALLD, FIREWALLD_ROOT = "org.fedoraproject.FirewallD1", "/org/fedoraproject/FirewallD1"
INTERFACES = """
<node>
  <interface name="org.fedoraproject.FirewallD1">
    <method name="listServices"><arg type="as" direction="out"/></method>
    <method name="getDefaultZone"><arg type="s" direction="out"/></method>
    <method name="getServiceSettings2"><arg type="s" direction="in"/><arg type="a{sv}" direction="out"/></method>
    <signal name="Reloaded"/>
  </interface>
  <interface name="org.fedoraproject.FirewallD1.zone">
    <method name="getZoneOfInterface"><arg type="s" direction="in"/><arg type="s" direction="out"/></method>
    <method name="getZoneSettings2"><arg type="s" direction="in"/><arg type="a{sv}" direction="out"/></method>
  </interface>
</node>
"""
PORTS = "a(ss)"
# What polkit calls the two rights that are needed to look (firewalld 1.3, firewall/server/firewalld.py).
NAMES, SETTINGS = f"{FIREWALLD}.info", f"{FIREWALLD}.config.info"
RIGHTS = {"getDefaultZone": NAMES, "getZoneOfInterface": NAMES, "listServices": NAMES, "getZoneSettings2": SETTINGS,
          "getServiceSettings2": SETTINGS}
POLKIT, AUTHORITY = "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority"
CHECK = """
<node>
  <interface name="org.freedesktop.PolicyKit1.Authority">
    <method name="CheckAuthorization">
      <arg type="(sa{sv})" direction="in"/><arg type="s" direction="in"/><arg type="a{ss}" direction="in"/>
      <arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="(bba{ss})" direction="out"/>
    </method>
  </interface>
</node>
"""


class SystemBus:
    """The system bus of a machine, in its folder, on which anybody may own any name."""

    def __init__(self, machine: Machine) -> None:
        address = machine.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        file = machine.folder / "system-bus.conf"
        services = machine.folder / "system-services"
        services.mkdir()
        # What is there once the bus was asked to start firewalld.
        self.started = machine.folder / "started-firewalld"
        (services / f"{FIREWALLD}.service").write_text(
            f"[D-BUS Service]\nName={FIREWALLD}\nExec=/usr/bin/touch {self.started}\nUser=root\n")
        file.write_text(SYSTEM_BUS.format(address=address).replace(
            "<auth>", f"<servicedir>{services}</servicedir>\n  <auth>"))
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "dbus-daemon", f"--config-file={file}", "--nofork", "--nopidfile"],
            stdin=subprocess.DEVNULL)

        def connected() -> Session | None:
            try:
                return Session(address)
            except GLib.Error:
                return None

        self.address = address
        self.session = wait(connected, "the system bus")

    def end(self) -> None:
        self.session.close()
        self.process.terminate()
        self.process.wait(10)


class FalsePolkit:
    """Allows what it is told to, by default what the package of firewalld allows on desktops."""

    def __init__(self, bus: SystemBus) -> None:
        self.session = Session(bus.address)
        self.allowed = {NAMES, SETTINGS}
        # Questions for which a real one might have asked the user, or which it would have refused.
        self.faults: list[str] = []
        [interface] = Gio.DBusNodeInfo.new_for_xml(CHECK).interfaces
        self.session.connection.register_object(AUTHORITY, interface, self._called, None, None)
        self.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName", GLib.Variant("(su)", (POLKIT, 4)),
                          destination="org.freedesktop.DBus")

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, _member: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        subject, action, details, flags, _cancellation = arguments.unpack()
        # Others' rights, and details, are for root and for the owners of actions.
        if flags or details or subject != ("system-bus-name", {"name": sender}):
            self.faults.append(str(arguments))
        # It could be had with a password, if it isn't allowed.
        is_allowed = action in self.allowed
        invocation.return_value(GLib.Variant("((bba{ss}))", ((is_allowed, not is_allowed, {}),)))

    def end(self) -> None:
        self.session.close()


class FalseFirewalld:
    """Has the zone “public”, and another for one interface if it is told so; records what it is asked.

    It has a polkit beside it unless it is told that there is none; its end fails if somebody would have been asked for a
    password."""

    def __init__(self, bus: SystemBus, *, has_polkit: bool = True) -> None:
        self.session = Session(bus.address)
        self.polkit = FalsePolkit(bus) if has_polkit else None
        # What would have made polkit ask for a password, or was refused without one.
        self.dialogs: list[str] = []
        self.asked: list[str] = []
        # The settings of the zone, and of the services.
        self.zone: dict[str, GLib.Variant] = {}
        self.services = {"mdns": {"ports": GLib.Variant(PORTS, [("5353", "udp")])},
                         "ssh": {"ports": GLib.Variant(PORTS, [("22", "tcp")])}}
        # What all calls are answered with instead.
        self.refusal = ""
        for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
            self.session.connection.register_object(FIREWALLD_ROOT, interface, self._called, None, None)
        self.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName", GLib.Variant("(su)", (FIREWALLD, 4)),
                          destination="org.freedesktop.DBus")

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, member: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.asked.append(member)
        if self.polkit is None or RIGHTS[member] not in self.polkit.allowed:
            self.dialogs.append(member)
            invocation.return_dbus_error(f"{FIREWALLD}.NotAuthorizedException", RIGHTS[member])
        elif self.refusal:
            invocation.return_dbus_error(self.refusal, "No.")
        elif member == "getDefaultZone":
            invocation.return_value(GLib.Variant("(s)", ("public",)))
        elif member == "getZoneOfInterface":
            invocation.return_value(GLib.Variant("(s)", ("",)))
        elif member == "listServices":
            invocation.return_value(GLib.Variant("(as)", (list(self.services),)))
        elif member == "getZoneSettings2":
            invocation.return_value(GLib.Variant("(a{sv})", (self.zone,)))
        elif (service := arguments.unpack()[0]) in self.services:
            invocation.return_value(GLib.Variant("(a{sv})", (self.services[service],)))
        else:
            invocation.return_dbus_error(f"{FIREWALLD}.Exception", f"INVALID_SERVICE: {service}")

    def knows_handoff(self) -> None:
        """It has our service file."""
        self.services["handoff"] = {"ports": GLib.Variant(PORTS, [("45700-45799", "tcp")]),
                                    "includes": GLib.Variant("as", ["mdns"])}

    def set(self, **settings: GLib.Variant) -> None:
        """Its zone has other settings from now on."""
        self.zone = settings
        self.session.connection.emit_signal(None, FIREWALLD_ROOT, FIREWALLD, "Reloaded", None)

    def end(self) -> None:
        self.session.close()
        if self.polkit:
            self.polkit.end()
            assert not self.polkit.faults
        assert not self.dialogs


class GuardedMachine(Machine):
    """A machine whose bridge sees another /etc, with ufw if it is set up, and chooses its port itself."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.has_own_port = False
        self.etc = self.folder / "etc"
        self.etc.mkdir()
        for file in ("machine-id", "ld.so.cache"):
            shutil.copy(f"/etc/{file}", self.etc)

    def prefix(self, program: str) -> list[str]:
        if program != "handoff-bridge":
            return []
        return ["unshare", "--mount", "sh", "-c", f'mount --bind "{self.etc}" /etc && exec "$@"', "sh"]

    def set_ufw(self, *, enabled: bool = True, policy: str = "DROP", profile: bool = False) -> None:
        """Sets up ufw as its package does."""
        (self.etc / "default").mkdir(exist_ok=True)
        (self.etc / "default" / "ufw").write_text(f'# comment\nIPV6=yes\nDEFAULT_INPUT_POLICY="{policy}"\n')
        folder = self.etc / "ufw"
        (folder / "applications.d").mkdir(parents=True, exist_ok=True)
        new = folder / "ufw.conf.new"
        new.write_text(f"# /etc/ufw/ufw.conf\n\nENABLED={'yes' if enabled else 'no'}\nLOGLEVEL=low\n")
        if profile:
            shutil.copy(Path(__file__).parents[2] / "data" / "ufw" / "handoff", folder / "applications.d")
        new.rename(folder / "ufw.conf")

    def status(self) -> dict:
        return json.loads(self.run("handoff", "status", "--json").stdout)
