# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real browsers with the Handoff add-on, and what they show, which is asked from themselves.

    browser = start_browser(machine, "chromium", f"{site.address}/long")
    browser.scroll(1500)
    browser.evaluate("scrollY", "/long")
    browser.close()
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from buses import wait
from support import PROGRAMS, SOURCE, Machine
from vendor import ADD_ON, filled, filled_folder, HOST

EXTENSION = filled_folder(SOURCE / "data" / "browsers" / "extension")
HOSTS = SOURCE / "data" / "browsers" / "hosts"
CHROMIUM_ADD_ON = "amidmglofemifbpamfffgkcfpkefjmol"
# How long a browser may take to start, which it does with a new profile.
PATIENCE = 60

PAGE = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<form action="/sent"><input name="subject"><textarea name="body"></textarea><select name="kind"><option>a<option>b</select>
<input type="checkbox" name="copy"></form>
<form action="/sent"><input name="login"><input type="password" name="word"><input type="hidden" name="hid" value="x"></form>
<form action="/sent"><input name="holder"><input name="number" autocomplete="section-a cc-number"></form>
<form action="/sent"><input name="once" autocomplete="one-time-code"><input name="cvc"><input name="off" autocomplete="off"></form>
<div style="height: 8000px; background: linear-gradient(white, blue)"></div>"""


class Site:
    """A web server on this machine with long pages that have forms, and what was asked for."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers each path with a page whose title names it."""

            def do_GET(self) -> None:
                site.requests.append(self.path)
                name = self.path.strip("/").partition("?")[0]
                body = site.bodies.get(name, PAGE.format(title=f"Page {name}")).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                pass

        self.requests: list[str] = []
        self.bodies: dict[str, str] = {}
        self.server = http.server.ThreadingHTTPServer((host, 0), Handler)
        self.address = f"http://{host}:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class RunningBrowser:
    """A browser of a machine. It ends with `close`."""

    program: str

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.profile = machine.folder / f"{self.program}-profile"
        self.profile.mkdir(exist_ok=True)
        self.log_file = machine.folder / f"{self.program}.log"
        self.process: subprocess.Popen[bytes]

    def install_host(self, folder: Path, template: str) -> None:
        """Makes the host known to the browser, as the package does."""
        link = self.machine.folder / "handoff-browser"
        if not link.exists():
            link.symlink_to(PROGRAMS / "handoff-adapter")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{HOST}.json").write_text(filled(HOSTS / template, libexecdir=self.machine.folder))

    def headless(self, option: str) -> list[str]:
        """The option for a browser without windows, which it is unless its machine has a display."""
        return [] if "DISPLAY" in self.machine.environment else [option]

    def spawn(self, *command: str, **options: Any) -> None:
        """Starts the browser with a process group of its own."""
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command], env=self.machine.environment, cwd=self.machine.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **options)

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def evaluate(self, script: str, page: str) -> Any:
        """What an expression is in the tab whose address contains `page`."""
        raise NotImplementedError

    def open(self, address: str, private: bool = False) -> None:
        """Opens a page in a new tab, or in a private window, and waits until it is there."""
        raise NotImplementedError

    def options_page(self) -> str:
        """The address of the add-on's settings."""
        raise NotImplementedError

    def scroll(self, down: int, page: str) -> None:
        # As a user does, for whom the add-on stops keeping the place that came along.
        self.evaluate(f"void (dispatchEvent(new WheelEvent('wheel')), scrollTo(0, {down}))", page)
        wait(lambda: self.evaluate("Math.round(scrollY)", page) == down, f"{page} to be scrolled")

    def choose(self, script: str) -> None:
        """Does something in the add-on's settings, by the means of that page."""
        self.open(self.options_page())
        wait(lambda: self.evaluate("document.querySelector('#formsMore').textContent !== ''", "options.html"), "the settings")
        self.evaluate(script, "options.html")

    def close(self) -> None:
        """Ends the browser and all of its processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            wait(lambda: self.process.poll() is not None, "the end of the browser", 10)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


class Chromium(RunningBrowser):
    """Chromium, which is asked by the DevTools protocol on two pipes."""

    program = "chromium"
    # By which it has the add-on.
    add_on = (f"--load-extension={EXTENSION}",)

    def __init__(self, machine: Machine, address: str) -> None:
        super().__init__(machine)
        self.install_host(self.profile / "NativeMessagingHosts", "chromium.json.in")
        (its_input, self._output), (self._input, its_output) = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4.
        shell = f'exec 3<&{its_input} 4>&{its_output}; exec "$@"'
        self.spawn(
            "bash", "-c", shell, "bash", "chromium", *self.headless("--headless=new"), "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--password-store=basic", "--disable-dev-shm-usage", f"--user-data-dir={self.profile}", "--remote-debugging-pipe",
            "--disable-background-networking", *self.add_on, address, pass_fds=(its_input, its_output))
        os.close(its_input)
        os.close(its_output)
        self._number = 0
        self._pending = b""
        self._sessions: dict[str, str] = {}

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            data = os.read(self._input, 1 << 16)
            assert data, f"chromium has ended:\n{self.log}"
            self._pending += data
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)

    def command(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def targets(self) -> list[dict[str, Any]]:
        return self.command("Target.getTargets")["targetInfos"]

    def evaluate(self, script: str, page: str) -> Any:
        target = wait(lambda: next((one["targetId"] for one in self.targets()
                                    if one["type"] == "page" and page in one["url"]), None), f"a tab with {page}", PATIENCE)
        if target not in self._sessions:
            self._sessions[target] = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        result = self.command("Runtime.evaluate", self._sessions[target], expression=script, returnByValue=True,
                              awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, address: str, private: bool = False) -> None:
        context = {"browserContextId": self.command("Target.createBrowserContext")["browserContextId"]} if private else {}
        self.command("Target.createTarget", url=address, **context)
        # A new tab is at no page before it is at this one.
        script = "location.protocol !== 'about:' && document.readyState === 'complete'"
        wait(lambda: self.evaluate(script, address.rpartition("@")[2]), f"{address} to be shown", PATIENCE)

    def options_page(self) -> str:
        return f"chrome-extension://{CHROMIUM_ADD_ON}/options.html"

    def close(self) -> None:
        super().close()
        os.close(self._input)
        os.close(self._output)


class InstalledChromium(Chromium):
    """Chromium with the add-on that the system has for all its users."""

    add_on = ()

    def install_host(self, folder: Path, template: str) -> None:
        """The host is there for all, too."""


PREFERENCES = {
    "remote.prefs.recommended": False, "marionette.port": 0, "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore", "datareporting.policy.dataSubmissionEnabled": False,
    "browser.aboutwelcome.enabled": False, "app.normandy.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "extensions.update.enabled": False, "toolkit.telemetry.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1", "browser.safebrowsing.malware.enabled": False,
    "browser.newtabpage.activity-stream.feeds.system.topstories": False, "browser.tabs.warnOnClose": False,
    # Pages that are opened by the test, and by the add-on, are no popups.
    "dom.disable_open_during_load": False,
}


class Firefox(RunningBrowser):
    """Firefox, which is asked by Marionette."""

    program = "firefox-esr"

    def __init__(self, machine: Machine, address: str) -> None:
        super().__init__(machine)
        self.install_host(Path(machine.environment["HOME"]) / ".mozilla" / "native-messaging-hosts", "firefox.json.in")
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (self.profile / "user.js").write_text("".join(lines))
        self.spawn("firefox-esr", *self.headless("--headless"), "--no-remote", "--new-instance", "--profile", str(self.profile),
                   "--marionette", "--remote-allow-system-access")
        port_file = self.profile / "MarionetteActivePort"
        port = wait(lambda: port_file.exists() and port_file.read_text(), "the port of Firefox", PATIENCE)
        self._socket = wait(lambda: connected(int(port)), "a connection to Firefox", PATIENCE)
        self._pending = b""
        self._number = 0
        self._read()
        self.command("WebDriver:NewSession", capabilities={})
        self.command("Addon:Install", path=str(EXTENSION), temporary=True)
        self._first = self.command("WebDriver:GetWindowHandle")["value"]
        self.command("WebDriver:Navigate", url=address)

    def _read(self) -> Any:
        while True:
            length, mark, rest = self._pending.partition(b":")
            if mark and len(rest) >= int(length):
                self._pending = rest[int(length):]
                return json.loads(rest[:int(length)])
            data = self._socket.recv(1 << 16)
            assert data, f"Firefox has ended:\n{self.log}"
            self._pending += data

    def command(self, name: str, **parameters: Any) -> Any:
        self._number += 1
        body = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(f"{len(body)}:".encode() + body)
        answer = self._read()
        assert not answer[2], answer[2]
        return answer[3]

    def _script(self, script: str) -> Any:
        result = self.command("WebDriver:ExecuteAsyncScript", args=[], script=(
            "const done = arguments[arguments.length - 1];"
            f"Promise.resolve().then(() => eval({json.dumps(script)})).then(done, error => done('error: ' + error));"))
        return result["value"]

    def _switch(self, page: str) -> bool:
        for handle in self.command("WebDriver:GetWindowHandles"):
            self.command("WebDriver:SwitchToWindow", handle=handle, focus=False)
            if page in self.command("WebDriver:GetCurrentURL")["value"]:
                return True
        return False

    def evaluate(self, script: str, page: str) -> Any:
        wait(lambda: self._switch(page), f"a tab with {page}", PATIENCE)
        return self._script(script)

    def open(self, address: str, private: bool = False) -> None:
        kind = {"type": "window", "private": True} if private else {"type": "tab"}
        # A tab opens in the window that is spoken to, and a private one may be by now.
        self.command("WebDriver:SwitchToWindow", handle=self._first, focus=True)
        handle = self.command("WebDriver:NewWindow", focus=True, **kind)["handle"]
        self.command("WebDriver:SwitchToWindow", handle=handle, focus=True)
        self.command("WebDriver:Navigate", url=address)

    def options_page(self) -> str:
        self.command("Marionette:SetContext", value="chrome")
        host = self.command("WebDriver:ExecuteScript", args=[],
                            script=f"return WebExtensionPolicy.getByID('{ADD_ON}').mozExtensionHostname")["value"]
        self.command("Marionette:SetContext", value="content")
        return f"moz-extension://{host}/options.html"

    def close(self) -> None:
        self._socket.close()
        super().close()


def connected(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), PATIENCE)
    except OSError:
        return None


BROWSERS: dict[str, Callable[[Machine, str], RunningBrowser]] = {"chromium": Chromium, "firefox-esr": Firefox}


@contextlib.contextmanager
def running(machine: Machine, program: str, address: str) -> Iterator[RunningBrowser]:
    """A browser with the add-on that shows a page."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: meson-helpers/install-packages desktop")
    browser = BROWSERS[program](machine, address)
    try:
        yield browser
    finally:
        browser.close()
