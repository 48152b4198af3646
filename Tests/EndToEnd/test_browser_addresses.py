# SPDX-License-Identifier: LGPL-2.1-or-later
"""The host of a web address, as the broker tells it and as a browser finds it."""

from __future__ import annotations

import html
import ipaddress
import json
import random
import re
import shutil
import subprocess

import pytest
from buses import BusError, wait
from clients import Client
from link import Device
from support import Machine

pytestmark = pytest.mark.desktop

ADDRESSES = 4000
PARTS = ["https", "http", "HTTPS", ":", "//", "/", "\\", "@", "?", "#", "a", "b.example", "evil.example", "trusted.example", ".", "..",
         "%2F", "%40", "%61", "%", ":80", ":", "[", "]", "::1", "1.2.3.4", "127.1", "0x7f", "010", "256", "xn--", "xn--bcher-kva",
         "ü", "ß", "ς", "。", "Ａ", "\u00ad", "\u200d", "İ", "ſ", "K", "é", "e\u0301", "\t", " ", "_", "~", "!", "$", "&", "'", "(", "*",
         "+", ",", ";", "=", "-", "^", "|", "<", "{", "`", '"', "user", "user:word"]
PAGE = """<!DOCTYPE html><meta charset="utf-8"><pre id="out"></pre><script>
const found = {addresses}.map(text => {{ try {{ return new URL(text).hostname; }} catch {{ return null; }} }});
document.getElementById('out').textContent = JSON.stringify(found);
</script>"""


def addresses(seed: int) -> list[str]:
    """Addresses of which many are nearly right."""
    chance = random.Random(seed)
    return [chance.choice(["https://", "http://", "https://", ""]) + "".join(chance.choices(PARTS, k=chance.randint(1, 6)))
            for _ in range(ADDRESSES)]


def hosts_in_chromium(machine: Machine, texts: list[str]) -> list[str | None]:
    """What the browser takes for the host of each; none where it sees no address."""
    page = machine.folder / "page.html"
    page.write_text(PAGE.format(addresses=json.dumps(texts).replace("<", "\\u003c")))
    done = subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={machine.folder}/profile",
         "--dump-dom", page.as_uri()], env=machine.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90,
        check=True)
    return json.loads(html.unescape(re.search(r'<pre id="out">(.*?)</pre>', done.stdout, re.S)[1]))


@pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium: meson-helpers/install-packages desktop")
def test_hosts_in_a_browser(machine: Machine) -> None:
    """Of addresses made at random, what the broker takes has the host that Chromium finds in it."""
    seed = random.SystemRandom().getrandbits(32)
    print("seed", seed)
    link = Device().paired_link_to(machine)
    activity = Client(machine).offer("A page")
    texts, taken = addresses(seed), []
    for text in texts:
        try:
            activity.update(WebpageURL=text)
            taken.append(text)
        except BusError as error:
            assert error.short_name == "InvalidURL"
    found = dict(zip(texts, hosts_in_chromium(machine, texts), strict=True))
    taken = [text for text in taken if text]
    assert len(taken) > 50
    assert not [text for text in taken if found[text] is None]

    def offered() -> str:
        """The host that a peer is told."""
        link.read_messages()
        return link.calls("Offer")[-1].get_body().unpack()[1].get("WebpageHost", "")

    for text in taken[:300]:
        host = (found[text] or "").strip("[]")
        activity.update(WebpageURL=text)
        wait(lambda host=host: same(offered(), host), f"{host} of {text!r}")


def same(one: str, other: str) -> bool:
    """Whether two hosts are the same; an IPv6 address has several forms."""
    if ":" in one and ":" in other:
        return ipaddress.ip_address(one) == ipaddress.ip_address(other)
    return one == other
