# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the end of the session bus does to applications on the clients."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from buses import wait
from conforming import ID, begin
from driven import LANGUAGES, Driven, missing
from scripted_broker import TYPE, ScriptedBroker
from support import Machine


@pytest.fixture
def ending() -> Iterator[Machine]:
    """A machine with nothing but a bus, which is to end."""
    machine = Machine("ending")
    yield machine
    machine.stop()
    machine.remove()


def begun(machine: Machine, language: str) -> Driven:
    """An application with a current activity, whose bus has ended since."""
    if missing(language):
        pytest.skip(missing(language))
    broker, app = ScriptedBroker(machine), Driven(machine, language, ID, TYPE)
    begin(app, broker)
    machine.kill("dbus-daemon", signal.SIGTERM)
    return app


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "Swift"])
def test_the_application_goes_on(ending: Machine, language: str) -> None:
    """Without its session bus an application goes on, with nothing current."""
    app = begun(ending, language)
    app.wait_until("n", current="0", valid="1", title="Shopping")
    app.wait_until_available(False)
    app.do("set", "n", "title", "Groceries")
    app.do("becomeCurrent", "n")
    app.wait_until("n", current="0", title="Groceries")
    assert app.end() == 0 and "CRITICAL" not in app.log.read_text(), app.log.read_text()


def test_swift_returns(ending: Machine) -> None:
    """In Swift, the end of the session bus ends HandoffApplication.run(), so that the program ends in its own way."""
    app = begun(ending, "Swift")
    wait(lambda: app.process.poll() is not None, "the end of the application")
    assert app.end() == 0
