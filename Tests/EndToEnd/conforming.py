# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of all clients stand on: an application in each language, and a broker that a test plays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driven import Driven, missing
from scripted_broker import TYPE, ScriptedBroker
from support import Machine

ID = "org.example.Notes"


@pytest.fixture(scope="module")
def bus() -> Iterator[Machine]:
    """A machine with nothing but a bus."""
    machine = Machine("bus")
    yield machine
    machine.stop()
    machine.remove()


@pytest.fixture
def app(bus: Machine, language: str) -> Iterator[Driven]:
    """An application that has not started."""
    if missing(language):
        pytest.skip(missing(language))
    driven = Driven(bus, language, ID, TYPE)
    yield driven
    status = driven.end()
    errors = driven.log.read_text()
    driven.log.unlink()
    assert status == 0 and "CRITICAL" not in errors, errors
    # What is to fail in the application leaves a trace.
    assert "Traceback" not in errors or driven.fails, errors


@pytest.fixture
def broker(bus: Machine) -> Iterator[ScriptedBroker]:
    broker = ScriptedBroker(bus)
    yield broker
    broker.close()


def begin(app: Driven, broker: ScriptedBroker, *commands: tuple[str, ...]) -> str:
    """Starts the application, which makes the activity `n` current; returns where that is."""
    app.do("start")
    app.do("make", "n", TYPE, "Shopping")
    for command in commands:
        app.do(*command)
    app.do("becomeCurrent", "n")
    path = broker.wait_for("BecomeCurrent", len(broker.called("BecomeCurrent")) + 1).path
    broker.change(path, Current=True)
    app.wait_until("n", current="1")
    return path


def restart(broker: ScriptedBroker, bus: Machine) -> ScriptedBroker:
    """Another broker in place of one that ends."""
    broker.close()
    return ScriptedBroker(bus)
