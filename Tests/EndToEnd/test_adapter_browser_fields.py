# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which fields of a page real browsers read, and fill in."""

from __future__ import annotations

import json

import pytest
from buses import wait
from clients import Client, Dock
from gi.repository import GLib
from running_browsers import PATIENCE, Site, running
from test_adapter_browser import BROWSING, PROGRAMS, Machines, Reader, handled, offered, scrolled, site  # noqa: F401

pytestmark = pytest.mark.desktop

# Fields that the page has filled in, that its user cannot change or does not see, and those that are empty.
PRESET = """<!doctype html><title>Preset</title><form action="/sent">
<input name="amount" value="10.00"><textarea name="note">template</textarea><input name="empty">
<input type="checkbox" name="terms" checked><input type="checkbox" name="copy">
<input type="radio" name="way" value="a" checked><input type="radio" name="way" value="b">
<input type="radio" name="size" value="a"><input type="radio" name="size" value="b">
<select name="land"><option value="de" selected>de<option>there</select>
<select name="kind"><option value="">choose<option>there</select><select name="colour"><option>red<option>there</select>
<select name="shut"><option value="">choose<option disabled>there</select>
<input name="fixed" readonly><input name="barred" disabled><fieldset disabled><input name="within"></fieldset>
<input name="gone" style="display: none"><input name="faint" style="opacity: 0">
<div style="visibility: hidden"><input name="veiled"></div>
<div style="opacity: 0.3"><div style="opacity: 0.2"><input name="fainter"></div></div>
<input name="left" style="position: absolute; left: -9999px"><input name="above" style="position: fixed; top: -500px">
<div style="position: absolute; top: -900px"><input name="higher"></div><input name="aside" style="position: absolute; left: -50em">
<input name="tiny" style="width: 1px; height: 1px; padding: 0; border: 0"><input name="shrunk" style="transform: scale(0)">
<div style="height: 0; overflow: hidden"><input name="folded"></div>
<div style="width: 200px; overflow: clip"><input name="shifted" style="margin-left: 400px"></div>
<input name="cut" style="position: absolute; clip: rect(0, 0, 0, 0)"><div style="clip-path: inset(50%)"><input name="shaped"></div>
<input name="moved" style="transform: translateX(-4000px)"><input name="indented" style="position: relative; right: 3000px">
<div style="width: 200px; height: 60px; overflow: auto"><input name="before" style="position: relative; top: -300px">
<div style="height: 900px"></div><input name="inner"></div>
<div style="position: relative; overflow: hidden; height: 40px"><input name="held" style="position: absolute; top: 5px"></div>
<div style="overflow: hidden; height: 0"><input name="free" style="position: absolute; top: 700px"></div>
<input name="below" style="position: absolute; top: 6000px"></form><div style="height: 8000px"></div>"""
SEEN = ["amount", "note", "empty", "terms", "copy", "way", "size", "land", "kind", "colour", "shut", "inner", "held", "free",
        "below"]
UNSEEN = ["fixed", "barred", "within", "gone", "faint", "veiled", "fainter", "left", "above", "higher", "aside", "tiny", "shrunk",
          "folded", "shifted", "cut", "shaped", "moved", "indented", "before"]
IN_PLACE = ["inner", "held", "free", "below"]
SHOWN = ("JSON.stringify([...document.querySelectorAll('[name]')].map("
         "one => [one.name, ['checkbox', 'radio'].includes(one.type) ? one.checked : one.value]))")
CHANGE_ALL = ("for (const one of document.querySelectorAll('[name]')) { if (one.type === 'select-one') one.selectedIndex = 1;"
              "else if (one.type === 'checkbox') one.checked = !one.checked; else if (one.type !== 'radio') one.value = 'here';"
              "else if (one.value === 'b') one.checked = true; } true")


@pytest.mark.parametrize("program", PROGRAMS)
def test_only_empty_fields(machines: Machines, site: Site, program: str) -> None:  # noqa: F811
    """A field is filled in only if it is empty, also of what the page has put there, and if its user sees it and can change
    it; of others nothing goes along either."""
    desk, lap = machines
    site.bodies["preset"] = PRESET
    team = {"Team": GLib.Variant("s", "org.example.Handoff.Browser")}
    origin = Client(desk, "com.example.origin", (BROWSING,), options=team)
    ticked = {"terms": (0, False), "copy": (0, True), "way": (1, True), "size": (1, True)}
    sent = [{"Name": GLib.Variant("s", name), "Number": GLib.Variant("x", ticked.get(name, (0,))[0])} |
            ({"Ticked": GLib.Variant("b", ticked[name][1])} if name in ticked else {"Text": GLib.Variant("s", "there")})
            for name in SEEN + UNSEEN]
    with running(lap, program, f"{site.address}/two") as browser:
        place = {"ScrollX": 0.0, "ScrollY": 900.0, "Height": 0.0}
        origin.create(BROWSING, Title="Preset", WebpageURL=f"{site.address}/preset", UserInfo={
            name: GLib.Variant("d", number) for name, number in place.items()
        } | {"Fields": GLib.Variant("aa{sv}", sent)}).become_current()
        dock = Dock(lap)
        path = offered(dock, "Preset")
        handled(dock, path, program)
        dock.continue_offer(path)
        wait(lambda: scrolled(browser, "/preset") == 900, "the page to be at its place", PATIENCE)
        shown = json.loads(browser.evaluate(SHOWN, "/preset"))
        assert {name: text for name, text in shown[13:]} == dict.fromkeys(UNSEEN, "") | dict.fromkeys(IN_PLACE, "there")
        assert shown[:13] == [
            ["amount", "10.00"], ["note", "template"], ["empty", "there"], ["terms", True], ["copy", True], ["way", True],
            ["way", False], ["size", False], ["size", True], ["land", "de"], ["kind", "there"], ["colour", "there"],
            ["shut", ""]]
        origin.close()
        browser.choose("document.querySelector('#forms').click()")
        reader, dock = Reader(desk), Dock(desk)
        browser.open(f"{site.address}/preset?again")
        browser.evaluate(CHANGE_ALL, "/preset?again")
        dock.continue_offer(offered(dock, "Preset"), ApplicationId=reader.application_id)
        assert {field["Name"] for field in reader.user_info()["Fields"]} == set(SEEN)
    assert not [asked for asked in site.requests if asked.startswith("/sent")]
