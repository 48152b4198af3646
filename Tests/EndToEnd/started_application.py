#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application that the bus starts: started_application.py NAME TYPE RESULT

It registers, waits for one activity, and writes to RESULT what it was called with.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gi.repository import Gio
from buses import Session, wait
from clients import Client


class Here:
    """What a client has to know about the machine that it runs on."""

    address = os.environ["DBUS_STARTER_ADDRESS"]
    sessions: list[Session] = []


def main() -> None:
    name, activity_type, result = sys.argv[1:]
    client = Client(Here(), application_id=name, types=(activity_type,), register=False)
    Gio.bus_own_name_on_connection(client.connection, name, Gio.BusNameOwnerFlags.NONE, None, None)
    client.register()
    client.wait_for("ContinueActivity")
    activity = client.calls[-1].arguments.unpack()[0]
    temporary = Path(result + ".new")
    temporary.write_text(f"{client.calls[0].member} {activity['UserInfo']['page']}")
    temporary.rename(result)
    wait(lambda: False, "the end", 1)


if __name__ == "__main__":
    main()
