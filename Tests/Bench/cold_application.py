#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application that the bus starts, and that says when it is handed an activity. It ends when it is asked to."""

from gi.repository import Gio, GLib

NAME, TYPE = "org.example.Bench.Cold", "org.example.Bench.edit"
BROKER, ROOT = "org.example.Handoff", "/org/example/Handoff"
INTERFACES = f"""<node>
  <interface name="{BROKER}.Application">
    <method name="WillContinueActivity"><arg type="s"/><arg type="a{{sv}}"/><arg type="b" direction="out"/></method>
    <method name="ContinueActivity"><arg type="a{{sv}}"/><arg type="a{{sv}}"/><arg type="b" direction="out"/></method>
  </interface>
  <interface name="{NAME}"><method name="Quit"/></interface>
</node>"""


def called(bus, _sender, _path, _interface, method, _arguments, invocation):
    if method == "ContinueActivity":
        bus.emit_signal(None, "/", NAME, "Arrived", None)
    invocation.return_value(None if method == "Quit" else GLib.Variant("(b)", (method == "ContinueActivity",)))
    if method == "Quit":
        bus.flush_sync(None)
        loop.quit()


loop = GLib.MainLoop()
session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
    session.register_object("/", interface, called, None, None)
Gio.bus_own_name_on_connection(session, NAME, Gio.BusNameOwnerFlags.DO_NOT_QUEUE, None, None)
team = {"Team": GLib.Variant("s", "org.example.Bench")}
session.call(BROKER, ROOT, f"{BROKER}.Manager", "RegisterApplication", GLib.Variant("(sasoa{sv})", (NAME, [TYPE], "/", team)),
             None, Gio.DBusCallFlags.NONE, -1, None, None)
loop.run()
