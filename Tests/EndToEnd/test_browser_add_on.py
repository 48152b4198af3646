# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the files of the add-on for browsers say of each other."""

from __future__ import annotations

import base64
import hashlib
import json
import re

from running_browsers import CHROMIUM_ADD_ON, EXTENSION, HOSTS
from support import SOURCE
from vendor import ADD_ON, filled


def manifest() -> dict:
    return json.loads((EXTENSION / "manifest.json").read_text())


def test_who_it_is() -> None:
    """The add-on is who its host, and what tells browsers of the host, take it for, and has the version of Handoff."""
    digest = hashlib.sha256(base64.b64decode(manifest()["key"])).hexdigest()[:32]
    assert digest.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop")) == CHROMIUM_ADD_ON
    assert manifest()["browser_specific_settings"]["gecko"]["id"] == ADD_ON
    identity = (SOURCE / "Sources/Adapters/Browser/BrowserIdentity.swift").read_text()
    assert f'"chrome-extension://{CHROMIUM_ADD_ON}/"' in identity
    hosts = {name: json.loads(filled(HOSTS / f"{name}.json.in")) for name in ("chromium", "firefox")}
    assert hosts["chromium"]["allowed_origins"] == [f"chrome-extension://{CHROMIUM_ADD_ON}/"]
    assert hosts["firefox"]["allowed_extensions"] == [ADD_ON]
    name = re.search(r"const NAME = '(.*)'", (EXTENSION / "host.js").read_text())[1]
    assert {host["name"] for host in hosts.values()} == {name}
    assert f"version: '{manifest()['version']}'" in (SOURCE / "meson.build").read_text()


def test_private_windows() -> None:
    """The add-on asks for nothing that it does not need, and never runs in private windows."""
    assert manifest()["incognito"] == "not_allowed"
    assert manifest()["permissions"] == ["nativeMessaging", "tabs", "storage", "scripting"]
    assert "externally_connectable" not in manifest() and "web_accessible_resources" not in manifest()


def test_texts() -> None:
    """Each text of the add-on is there in each language, with the same places for values, and none is left over."""
    texts = {path.parent.name: json.loads(path.read_text()) for path in EXTENSION.glob("_locales/*/messages.json")}
    assert set(texts) == {"en", "de", "pl"}
    for messages in texts.values():
        assert list(messages) == list(texts["en"])
        for name, message in messages.items():
            assert message.get("placeholders") == texts["en"][name].get("placeholders")
            assert ("$SITE$" in message["message"]) == ("placeholders" in message)
    used = "".join(path.read_text() for path in EXTENSION.iterdir() if path.suffix in (".js", ".html", ".json"))
    assert not [name for name in texts["en"] if not re.search(rf"\b(?:__MSG_)?{name}(?:__)?\b", used)]
