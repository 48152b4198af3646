# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installed machines that sleep, as their logind has it."""

from __future__ import annotations

import json

import pytest

from bare_machines import Pair, Typed, machines, packages, pair  # noqa: F401
from booted import PATIENCE, Booted
from buses import wait

pytestmark = pytest.mark.long
# The kernel here does not sleep. logind looks for what it could do, and the service that would have it do so waits instead.
MAKE_SLEEPY = """
mount -t tmpfs tmpfs /sys/power
echo freeze mem disk >/sys/power/state
mkdir -p /run/systemd/system/systemd-suspend.service.d
cat >/run/systemd/system/systemd-suspend.service.d/here.conf <<'END'
[Service]
ExecStart=
ExecStart=/bin/sh -c 'while [ -e /run/asleep ]; do sleep 0.1; done'
END
systemctl daemon-reload
systemctl restart systemd-logind
touch /run/asleep
"""


def delays(machine: Booted) -> str:
    """Who keeps a machine from sleeping."""
    return machine.root("systemd-inhibit", "--list", "--no-legend", "--no-pager").stdout


def test_sleep_under_logind(machines: Pair) -> None:  # noqa: F811
    """Between installed machines, what is current when one of them is suspended is continued on the other; sleep is delayed only
    while there is something to leave, and a logind that is started anew is asked as well."""
    desk, lap = machines
    for machine in machines:
        machine.log_in()
    pair(desk, lap)
    application = ("--app-id", "com.example.note", "--type", "com.example.note.edit")
    there = Typed(lap, "handoff", "receive", *application)
    assert "Handoff" not in delays(desk)
    here = Typed(desk, "handoff", "publish", *application, "--title", "Minutes", "--user-info", "line=7")
    wait(lambda: "Handoff" in delays(desk), "the delay of sleep", PATIENCE)
    desk.root("sh", "-ec", MAKE_SLEEPY)
    wait(lambda: "Handoff" in delays(desk), "the delay by the new logind", PATIENCE)
    desk.root("systemctl", "suspend")

    def offers() -> list[dict]:
        return json.loads(lap.run("handoff", "list", "--json").stdout)

    wait(lambda: [offer["title"] for offer in offers() if offer["parkedAt"]] == ["Minutes"], "what was left", PATIENCE)
    assert "Handoff" not in delays(desk)
    lap.run("handoff", "continue")
    there.until('"(line)":"7"')
    assert not offers() and "continued on device" not in here.text
    desk.root("rm", "/run/asleep")
    here.until(r"(continued on device)")
    wait(lambda: "Handoff" not in delays(desk), "the end of the delay, since nothing is offered", PATIENCE)
    assert not offers()
