# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real applications on a display, in which a text is copied and pasted by the keys that a user presses.

    with Writer(machine, desktop) as application:
        application.copy_all()
        application.write()
        application.paste_over()
        wait(lambda: application.text() == TEXT, "what was pasted")
"""

# This file is long because each application is driven in a way of its own.

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest
from buses import wait
from clipboard_desktop import spawn
from clipboards import X11Desktop, picture
from desktops import keep
from running_browsers import BROWSERS, Site
from support import Machine

# How long an application may take to start, which it does with an empty home, or to show what it was told.
PATIENCE = 90
# What each application has at first. The word for that is bold where an application has such a thing.
TEXT = "some bold words, größer"
HTML = "some <b>bold</b> words, größer"
PICTURE = picture(300_000)
# As a document of one file, which LibreOffice saves without a question.
DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.text"><office:automatic-styles>
<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
</office:automatic-styles><office:body><office:text><text:p>{}</text:p></office:text></office:body></office:document>"""
# Nothing is said or asked at the first start.
OFFICE_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="ShowTipOfTheDay"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="FirstRun"><value>false</value></prop></item>
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="ooSetupLastVersion"><value>7.4</value></prop></item>
</oor:items>"""
KEEPASSXC_SETTINGS = """[General]
UpdateCheckMessageShown=true
[GUI]
CheckForUpdates=false
"""


class Application(ABC):
    """An application of a machine that shows a text in a window, which has the keyboard."""

    PROGRAM = ""
    # What of the title of its window is its own.
    TITLE = ""
    # Whether what is copied in it can be had as HTML, and is pasted as such.
    HAS_HTML = True

    def __init__(self, machine: Machine, desktop: X11Desktop) -> None:
        for program in (self.PROGRAM, "xdotool"):
            if not shutil.which(program):
                pytest.skip(f"there is no {program}: meson-helpers/install-packages desktop")
        assert desktop.screen
        self.machine, self.desktop, self.screen = machine, desktop, desktop.screen
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self._start()
            self.focus()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _start(self) -> None:
        """Starts it, and waits until it shows what it has."""

    @abstractmethod
    def text(self) -> str:
        """What it has now."""

    @abstractmethod
    def is_bold(self) -> bool:
        """Whether the word for that is bold in it, and others are not."""

    @property
    def home(self) -> Path:
        return Path(self.machine.environment["HOME"])

    def _spawn(self, *command: str, **environment: str) -> None:
        """Starts it with a process group of its own."""
        self.process = spawn(self.machine, self.desktop.environment_of_clients | environment, *command, start_new_session=True)

    def _windows(self) -> list[str]:
        return self.screen.ask("xdotool", "search", "--onlyvisible", "--name", self.TITLE).split()

    def focus(self) -> None:
        """Gives it the keyboard: there is no window manager that would."""
        window = wait(self._windows, f"the window of {self.PROGRAM}", PATIENCE)[-1]
        self.screen.ask("xdotool", "windowfocus", "--sync", window)

    def press(self, *keys: str) -> None:
        self.screen.ask("xdotool", "key", "--delay", "20", *keys)

    def press_until(self, condition: Callable[[], bool], what: str, *keys: str) -> None:
        """Presses keys, and once more every two seconds: an application that has just started may lose some."""
        last = 0.0

        def reached() -> bool:
            nonlocal last
            if time.monotonic() - last > 2:
                self.press(*keys)
                last = time.monotonic()
            return condition()

        wait(reached, f"{self.PROGRAM} to {what}", PATIENCE)

    def copy_all(self) -> None:
        """Selects all that it has, and copies it."""
        before = self.desktop.changes
        self.press_until(lambda: self.desktop.changes > before, "copy", "ctrl+a", "ctrl+c")

    def write(self) -> None:
        """Writes something else in place of all that it has. From then on no key gets lost."""
        self.press_until(lambda: self.text() == "x", "write", "ctrl+a", "x")

    def paste_over(self) -> None:
        """Pastes what is in the clipboard in place of all that it has."""
        self.press("ctrl+a", "ctrl+v")

    def shoot(self, what: str) -> None:
        """Takes a picture, if somebody wants to look at it."""
        if "HANDOFF_PICTURES" in os.environ:
            keep(self.screen.shoot(f"{self.PROGRAM}-{what}.png"))

    def close(self) -> None:
        """Ends it, and all that it has started."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


class Gedit(Application):
    """gedit, whose text is read by having it saved."""

    PROGRAM = TITLE = "gedit"
    HAS_HTML = False

    def _start(self) -> None:
        self.letter = self.home / "letter.txt"
        self.letter.write_text(TEXT)
        self._spawn("gedit", "--standalone", str(self.letter))
        self.TITLE = self.letter.name
        wait(self._windows, "the letter in gedit", PATIENCE)

    def text(self) -> str:
        self.press("ctrl+s")
        return self.letter.read_text().removesuffix("\n")

    def is_bold(self) -> bool:
        return False


class Browser(Application):
    """A browser with a page of its own, in which what is pasted keeps how it looks, and a key copies a picture; its own means
    tell what it has."""

    PAGE = """<!doctype html><meta charset="utf-8"><title>Letter</title><div id="letter" contenteditable autofocus>{html}</div>
        <img id="picture" src="data:image/png;base64,{picture}">
        <script>
        async function pixels(file) {{
            const bitmap = await createImageBitmap(file);
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
            const context = canvas.getContext("2d");
            context.drawImage(bitmap, 0, 0);
            const data = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
            const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
            return [bitmap.width, bitmap.height, Array.from(digest).join(" ")].join(" ");
        }}
        async function file() {{ return (await fetch(document.querySelector("#picture").src)).blob(); }}
        addEventListener("keydown", event => {{
            if (event.key === "F8")
                navigator.clipboard.write([new ClipboardItem({{"image/png": file()}})]);
        }});
        addEventListener("paste", async event => {{
            const pasted = event.clipboardData.files[0];
            if (pasted) window.pasted = await pixels(pasted);
        }});
        </script>"""
    TITLE = "Letter"

    def _start(self) -> None:
        self.site = Site()
        self.site.bodies["letter"] = self.PAGE.format(html=HTML, picture=base64.b64encode(PICTURE).decode())
        # It is a program of the machine, whose environment has the display by now.
        self.machine.environment["XDG_DATA_DIRS"] += ":/usr/share"
        self.browser = BROWSERS[self.PROGRAM](self.machine, f"{self.site.address}/letter")
        self.process = self.browser.process
        wait(lambda: self.evaluate("!!document.querySelector('#letter')"), "the page", PATIENCE)

    def evaluate(self, script: str) -> object:
        """What an expression is in the page."""
        return self.browser.evaluate(script, "/letter")

    def focus(self) -> None:
        super().focus()
        script = "document.querySelector('#letter').focus(), document.hasFocus()"
        wait(lambda: self.evaluate(script), f"the page in {self.PROGRAM} to have the keyboard", PATIENCE)

    def text(self) -> str:
        return str(self.evaluate("document.querySelector('#letter').innerText")).strip()

    def is_bold(self) -> bool:
        return bool(self.evaluate("""(() => {
            const walker = document.createTreeWalker(document.querySelector('#letter'), NodeFilter.SHOW_TEXT);
            while (walker.nextNode())
                if (walker.currentNode.data.includes('bold'))
                    return getComputedStyle(walker.currentNode.parentElement).fontWeight >= 600
                        && !walker.currentNode.data.includes('words');
            return false; })()"""))

    def picture(self) -> object:
        """How large the picture on the page is, and what can be told of its pixels."""
        return self.evaluate("file().then(pixels)")

    def copy_picture(self) -> None:
        """Has the page copy its picture."""
        before = self.desktop.changes
        self.press_until(lambda: self.desktop.changes > before, "copy a picture", "F8")

    def pasted_picture(self) -> object:
        """The same of the picture that was pasted; nothing if none was."""
        return self.evaluate("window.pasted")

    def close(self) -> None:
        if self.process:
            self.browser.close()
            self.process = None
        self.site.close()


class Firefox(Browser):
    """Firefox."""

    PROGRAM = "firefox-esr"


class Chromium(Browser):
    """Chromium."""

    PROGRAM = "chromium"


class Writer(Application):
    """LibreOffice Writer, whose document is read by having it saved."""

    PROGRAM = "soffice"
    # When it was told to save.
    saved = 0.0

    def _start(self) -> None:
        profile = self.home / "office"
        (profile / "user").mkdir(parents=True)
        (profile / "user/registrymodifications.xcu").write_text(OFFICE_SETTINGS)
        self.letter = self.home / "letter.fodt"
        words = TEXT.replace("bold", '<text:span text:style-name="B">bold</text:span>')
        self.letter.write_text(DOCUMENT.format(words))
        self.TITLE = self.letter.name
        self._spawn("soffice", f"-env:UserInstallation=file://{profile}", "--norestore", "--nologo", "--nofirststartwizard",
                    "--nolockcheck", "--writer", str(self.letter), SAL_USE_VCLPLUGIN="gtk3")
        wait(self._windows, "the letter in Writer", PATIENCE)

    def write(self) -> None:
        super().write()
        # While it saves, which it does some time after the file is there, it takes no other command.
        wait(lambda: time.time() - self.letter.stat().st_mtime > 0.5, "the end of saving")

    def _body(self) -> str:
        if time.monotonic() - self.saved > 1:
            self.press("ctrl+s")
            self.saved = time.monotonic()
        return self.letter.read_text()

    def text(self) -> str:
        return re.sub("<[^>]*>", "", self._body().partition("<office:text")[2].partition(">")[2]).strip()

    def is_bold(self) -> bool:
        body = self._body()
        style = re.search(r'text:style-name="([^"]*)">bold</text:span>', body)
        return bool(style and re.search(rf'style:name="{style[1]}"[^>]*>\s*<style:text-properties[^>]*font-weight="bold"', body))


class KeePassXC(Application):
    """KeePassXC, in which a password is selected."""

    PROGRAM = "keepassxc"
    TITLE = "KeePassXC"
    HAS_HTML = False
    PASSWORD = "Geh heim, Wort"

    def _start(self) -> None:
        database = str(self.home / "secrets.kdbx")
        self._prepare("db-create", "-p", database, words=["all", "all"])
        self._prepare("add", "-u", "me", "-p", database, "entry", words=["all", self.PASSWORD, self.PASSWORD])
        settings = Path(self.machine.environment["XDG_CONFIG_HOME"], "keepassxc")
        settings.mkdir(exist_ok=True)
        (settings / "keepassxc.ini").write_text(KEEPASSXC_SETTINGS)
        read, write = os.pipe()
        os.write(write, b"all\n")
        os.close(write)
        with open(read, "rb") as words:
            # That there is but one of it is told by a file in the folder for such files.
            environment = {"QT_QPA_PLATFORM": "xcb", "TMPDIR": str(self.machine.folder)}
            self.process = spawn(self.machine, self.desktop.environment_of_clients | environment, "keepassxc", "--pw-stdin",
                                 database, start_new_session=True, stdin=words)
        # Not while it is locked.
        self.TITLE = r"secrets\.kdbx - KeePassXC"

    def _prepare(self, *command: str, words: list[str]) -> None:
        """Does something to the database, which asks for these words."""
        subprocess.run(["keepassxc-cli", *command], env=self.machine.environment, input="".join(f"{word}\n" for word in words),
                       text=True, capture_output=True, check=True, timeout=PATIENCE)

    def text(self) -> str:
        return self.PASSWORD

    def is_bold(self) -> bool:
        return False

    def copy_password(self) -> None:
        """Clicks on the only entry, and copies its password."""
        before = self.desktop.changes
        self.screen.ask("xdotool", "mousemove", "--sync", "400", "140", "click", "1")
        self.press_until(lambda: self.desktop.changes > before, "copy", "ctrl+c")


APPLICATIONS: tuple[type[Application], ...] = (Gedit, Firefox, Chromium, Writer)
