#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application that is started to continue something: started_application.py NAME TYPE RESULT

It registers, waits for one activity, and writes to RESULT, as JSON, what it was called with and what it was started with.
Where the bus has started it, it owns its NAME there.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from gi.repository import Gio
from buses import Session, wait
from clients import Client


class Here:
    """What a client has to know about the machine that it runs on."""

    address = (os.environ.get("DBUS_STARTER_ADDRESS") or os.environ.get("DBUS_SESSION_BUS_ADDRESS")
               or f"unix:path={os.environ['XDG_RUNTIME_DIR']}/bus")
    sessions: list[Session] = []


def main() -> None:
    name, activity_type, result = sys.argv[1:4]
    client = Client(Here(), application_id=name, types=(activity_type,), register=False)
    if "DBUS_STARTER_ADDRESS" in os.environ:
        Gio.bus_own_name_on_connection(client.connection, name, Gio.BusNameOwnerFlags.NONE, None, None)
    client.register()
    client.wait_for("ContinueActivity")
    activity = client.calls[-1].arguments.unpack()[0]
    started = {"calls": client.members, "activity": activity, "arguments": sys.argv[4:], "environment": dict(os.environ),
               "process": os.getpid(), "folder": os.getcwd()}
    temporary = Path(result + ".new")
    temporary.write_text(json.dumps(started, default=str))
    temporary.rename(result)
    wait(client.connection.is_closed, "the end of the bus", 60)


if __name__ == "__main__":
    main()
