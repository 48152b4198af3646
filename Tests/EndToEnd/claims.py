# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application that claims the pages of a web site, and a browser that shows one."""

from __future__ import annotations

from pathlib import Path

from gi.repository import GLib
from buses import wait
from clients import Client, Dock
from sites import WebMachine
from support import Machine
from test_desktop_entries import install

BROWSING = "org.example.Handoff.BrowsingWeb"
BROWSER, SHOP, TEAM = "org.example.browser", "com.example.shop", "com.example"
NAME = f"{TEAM}.{SHOP}"
HOST = "shop.example.net"
PAGE = f"https://{HOST}/cart?item=1#top"


def claim(machine: Machine, *hosts: str, application: str = SHOP, team: str = TEAM) -> Path:
    """Installs an application that claims these hosts."""
    return install(machine, application, Domains="".join(f"{host};" for host in hosts), Team=team)


def wait_for_answer(machine: WebMachine, host: str = HOST, times: int = 1) -> str:
    """Waits until the site has been asked, and returns what the log says of it."""
    def lines() -> list[str]:
        return [line for line in machine.log("handoffd").splitlines() if f"The site {host} " in line]
    return wait(lambda: len(lines()) >= times and lines()[-1], f"{host} to be asked")


def browse(machine: Machine, page: str = PAGE, title: str = "A cart", **more: object) -> Client:
    """A browser that shows a page."""
    browser = Client(machine, BROWSER, (BROWSING,))
    browser.offer(title, WebpageURL=page, UserInfo={"scroll": GLib.Variant("u", 7)}, **more)
    return browser


def handlers(desk: Machine, lap: Machine, page: str = PAGE) -> list[str]:
    """What can continue a page on lap that is shown on desk."""
    dock = Dock(lap)
    browser = browse(desk, page, f"The page {page}")
    path = dock.offer(f"The page {page}")
    found = dock.offers[path]["Handlers"]
    browser.close()
    dock.wait_until_gone(path)
    return found


def helpers(machine: Machine) -> list[int]:
    """The processes of the program that asks sites."""
    broker = machine.processes["handoffd"].pid
    children = Path(f"/proc/{broker}/task/{broker}/children").read_text().split()
    return [int(number) for number in children if "handoff-associations" in Path(f"/proc/{number}/cmdline").read_text()]
