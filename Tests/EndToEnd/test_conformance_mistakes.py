# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mistake of an application's author is said, in the broker's words, and ends nothing."""

from __future__ import annotations

import pytest
from buses import HANDOFF_ERROR, STANDARD_ERROR, BusError, wait
from conforming import ID, app, begin, broker, bus  # noqa: F401  pylint: disable=unused-import
from driven import LANGUAGES, Driven
from scripted_broker import TYPE, ScriptedBroker

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
TOO_DEEP = 'UserInfo key "a" nests more than 32 containers. Flatten it.'
pytestmark = pytest.mark.parametrize("language", LANGUAGES)


def said(app: Driven, text: str) -> None:
    """Waits until this is on the standard error of the application, once."""
    wait(lambda: text in app.log.read_text(errors="replace"), f"“{text}” in {app.log.read_text(errors='replace')}")
    assert app.log.read_text(errors="replace").count(text) == 1


@pytest.mark.parametrize("levels", ["31", "40"])
def test_a_state_that_is_too_deep(app: Driven, broker: ScriptedBroker, levels: str) -> None:
    """A state that nests too deeply is refused before it is sent, since the bus would cut off who sends it; the former stays,
    and the next one is sent."""
    path = begin(app, broker, ("userInfo", "n", "text", "milk"))
    app.do("deep", "n", levels)
    assert app.wait_for("refused") == ["n", f"{STANDARD_ERROR}.InvalidArgs", TOO_DEEP]
    assert app.get("n")["state"] == "text=milk"
    app.do("userInfo", "n", "text", "bread")
    wait(lambda: broker.known[path]["UserInfo"].unpack() == {"text": "bread"}, "the next state")


def test_a_state_that_is_too_large(app: Driven, broker: ScriptedBroker) -> None:
    """A state that is too large is refused before it is sent, with both sizes."""
    begin(app, broker, ("userInfo", "n", "text", "milk"))
    app.do("large", "n", "200000")
    number, name, message = app.wait_for("refused")
    assert (number, name) == ("n", f"{HANDOFF_ERROR}.UserInfoTooLarge")
    assert message.startswith("UserInfo takes 2000") and "more than the 131072 allowed" in message
    assert app.get("n")["state"] == "text=milk" and not broker.called("Update")


def test_a_state_that_means_nothing_elsewhere(app: Driven, broker: ScriptedBroker) -> None:
    """A value of a type that means nothing on another device is refused before it is sent."""
    if app.language == "Swift":
        pytest.skip("there is no such type of a value")
    begin(app, broker)
    app.do("odd", "n")
    assert app.wait_for("refused") == ["n", f"{STANDARD_ERROR}.InvalidArgs", 'UserInfo key "a" holds a value of type o, which'
                                       ' means nothing on another device. Use a string.']
    assert not broker.called("Update")


def test_a_saved_state_that_is_too_deep(app: Driven, broker: ScriptedBroker) -> None:
    """If what is saved nests too deeply, that is said, and the former state stays."""
    begin(app, broker, ("userInfo", "n", "text", "milk"), ("willSave", "n", "deep", "40"))
    answer = broker.save()
    if app.language == "Swift":
        # It says so where the state is set, and saves what there is.
        assert "UserInfo" not in answer().unpack()[0]
        assert app.wait_for("refused")[2] == TOO_DEEP
    else:
        with pytest.raises(BusError) as error:
            answer()
        assert "nests more than 32 containers" in str(error.value)
    assert app.get("n")["state"] == "text=milk"


def test_a_refusal_that_nobody_hears(app: Driven, broker: ScriptedBroker) -> None:
    """A refusal for which the application has no function is on its standard error, in the broker's words."""
    broker.refusals["CreateActivity"] = (f"{HANDOFF_ERROR}.TypeNotDeclared", "org.example.Notes does not declare that.")
    app.do("silent")
    app.do("start")
    app.do("make", "n", "org.example.notse", "Shopping")
    app.do("becomeCurrent", "n")
    said(app, "org.example.Notes does not declare that.")
    assert "org.example.notse" in app.log.read_text()


def test_an_application_that_is_refused(app: Driven, broker: ScriptedBroker) -> None:
    """That the broker refuses the application is on its standard error."""
    broker.refusals["RegisterApplication"] = (f"{STANDARD_ERROR}.InvalidArgs", "That is no id of an application.")
    app.do("silent")
    app.do("start")
    said(app, "That is no id of an application.")


def test_a_save_that_fails(app: Driven, broker: ScriptedBroker) -> None:
    """What a save fails with is on standard error, and the broker is answered in more than a word."""
    begin(app, broker, ("userInfo", "n", "text", "milk"), ("willSave", "n", "raise"))
    answer = broker.save()
    with pytest.raises(BusError) as error:
        answer()
    assert "nokey" in str(error.value)
    wait(lambda: "nokey" in app.log.read_text(), "the reason on standard error")
    assert app.get("n")["state"] == "text=milk"
    # The application's own words.
    app.log.write_text("")


def test_two_of_one_id(app: Driven, broker: ScriptedBroker) -> None:
    """A second application of the same id in one process is refused with a sentence; one of another id registers too."""
    app.do("start")
    app.wait_until_available()
    refused = app.ask("second", ID, answer="second")[0]
    assert refused != "ok" and refused.endswith(".")
    app.log.write_text("")
    assert app.ask("second", "org.example.Others", answer="second") == ["ok"]
    wait(lambda: [call.arguments.unpack()[0] for call in broker.called("RegisterApplication")] == [ID, "org.example.Others"],
         "both of them")
    app.do("make", "n", TYPE, "Shopping")
    app.do("becomeCurrent", "n")
    broker.wait_for("BecomeCurrent")
