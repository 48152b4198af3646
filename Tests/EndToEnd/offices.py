# SPDX-License-Identifier: LGPL-2.1-or-later
"""LibreOffice with the extension for Handoff, each machine with a profile of its own, and documents for it.

    prepare(machine, screen)
    office = Office(machine, screen, text(machine.folder / "Letter.odt"))
    office.shown("Letter.odt")
    office.press("Next")
    office.close()
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from buses import wait
from screen import Screen
from support import PROGRAMS, SOURCE, Machine
from vendor import filled

EXTENSION = SOURCE / "data" / "office"
# Far more than it takes to start an office on a slow machine.
PATIENCE = 60
# What an office is told that has a user who has used it before. At 0 macros are run without a question.
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
{}</oor:items>
"""
ITEM = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>\n'
USED = [("Setup/Product", "ooSetupLastVersion", "99.9"), ("Office.Common/Misc", "FirstRun", "false"),
        ("Office.Common/Misc", "ShowTipOfTheDay", "false")]


def missing() -> str:
    """Which program there is not that these tests need; empty if all are there."""
    programs = ("soffice", "Xvfb", "openbox", "xdotool", "xterm")
    absent = [program for program in programs if not shutil.which(program)]
    if not absent and subprocess.run(["/usr/bin/python3", "-c", "import uno"], capture_output=True, check=False).returncode:
        absent = ["python3-uno"]
    return f"there is no {absent[0]}" if absent else ""


def install_extension(folder: Path, command: Path) -> Path:
    """Writes the extension as it is installed, with this command as its child, and returns its folder."""
    place = folder / "handoff"
    shutil.copytree(EXTENSION, place, ignore=shutil.ignore_patterns("*.in", "__pycache__", "meson.build"))
    for template in EXTENSION.glob("*.in"):
        (place / template.stem).write_text(filled(template).replace("@libexecdir@/handoff-office", str(command)))
    return place


def prepare(machine: Machine, screen: Screen, plugin: str = "gen", command: Path | None = None, macros: int = 2) -> None:
    """Installs the extension for the user of a machine, and gives it a screen. Without a command, the extension starts
    the adapter."""
    if what := missing():
        pytest.skip(f"{what}: meson-helpers/install-packages desktop")
    if command is None:
        command = machine.folder / "bin/handoff-office"
        command.parent.mkdir(exist_ok=True)
        command.symlink_to(PROGRAMS / "handoff-adapter")
    install_extension(machine.folder / "extensions", command)
    # The office takes the modules of the first python3 there, and only those of the system know it.
    machine.environment["PATH"] = f"/usr/bin:{machine.environment['PATH']}"
    machine.environment["XDG_DATA_DIRS"] += ":/usr/share"
    machine.environment |= {"DISPLAY": screen.display, "SAL_USE_VCLPLUGIN": plugin, "NO_AT_BRIDGE": "1", "GDK_BACKEND": "x11",
                            "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1"}
    user = machine.folder / "office/user"
    user.mkdir(parents=True)
    security = ("Office.Common/Security/Scripting", "MacroSecurityLevel", str(macros))
    (user / "registrymodifications.xcu").write_text(SETTINGS.format("".join(ITEM.format(*item) for item in [*USED, security])))


def command_line(machine: Machine, *arguments: str) -> list[str]:
    """How the office of a machine is started; a second one hands over to the first, and ends."""
    return ["soffice", f"-env:UserInstallation=file://{machine.folder}/office",
            f"-env:BUNDLED_EXTENSIONS=file://{machine.folder}/extensions", "--norestore", "--nologo", "--nolockcheck",
            *arguments]


class Office:
    """An office on the screen of a machine."""

    def __init__(self, machine: Machine, screen: Screen, *arguments: Path | str) -> None:
        self.machine, self.screen = machine, screen
        with open(machine.log_file("soffice"), "ab") as log:
            # What it starts besides ends with it.
            self.process = subprocess.Popen(command_line(machine, *map(str, arguments)), env=machine.environment,
                                            cwd=machine.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def window(self, title: str) -> str:
        """The window whose title begins like this; empty if there is none."""
        found = self.screen.ask("xdotool", "search", "--onlyvisible", "--name", f"^{re.escape(title)}").split()
        return found[-1] if found else ""

    def shown(self, title: str) -> str:
        """Waits until a window has this title."""
        return wait(lambda: self.window(title), f"“{title}” among {self.screen.titles()}", PATIENCE)

    def focus(self, title: str) -> None:
        """Its user turns to this window."""
        window = self.shown(title)
        self.screen.ask("xdotool", "windowactivate", "--sync", window)
        wait(lambda: self.front.startswith(title), f"“{title}” in front, and not “{self.front}”", PATIENCE)

    @property
    def front(self) -> str:
        """The title of the window in front."""
        return self.screen.ask("xdotool", "getwindowfocus", "getwindowname").strip()

    def press(self, *keys: str) -> None:
        self.screen.ask("xdotool", "key", *keys)

    def type(self, words: str) -> None:
        self.screen.ask("xdotool", "type", words)

    def hand_over(self, *arguments: Path | str) -> None:
        """Starts the office anew, as a file manager does."""
        self.machine.run(*command_line(self.machine, *map(str, arguments)))

    def close(self) -> None:
        """Ends the office, whatever it asks."""
        end(self.process)


# Documents

SPACES = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"' for name, space in {
    "office": "office", "text": "text", "style": "style", "fo": "xsl-fo-compatible", "draw": "drawing", "table": "table",
    "presentation": "presentation", "script": "script", "svg": "svg-compatible", "manifest": "manifest"}.items())
SPACES += (' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dom="http://www.w3.org/2001/xml-events" '
           'xmlns:ooo="http://openoffice.org/2004/office"')
KIND = "application/vnd.oasis.opendocument."
CONTENT = ('<?xml version="1.0" encoding="UTF-8"?>\n<office:document-content {spaces} office:version="1.3">{scripts}'
           '<office:automatic-styles><style:style style:name="P" style:family="paragraph">'
           '<style:paragraph-properties fo:break-before="page"/></style:style></office:automatic-styles>'
           '<office:body><office:{body}>{content}</office:{body}></office:body></office:document-content>')
# A macro that writes a file, and what binds it to everything that happens to a document.
LIBRARIES = ('<?xml version="1.0" encoding="UTF-8"?>\n<library:libraries xmlns:library="http://openoffice.org/2000/library" '
             'xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard" library:link="false"/>'
             '</library:libraries>')
LIBRARY = ('<?xml version="1.0" encoding="UTF-8"?>\n<library:library xmlns:library="http://openoffice.org/2000/library" '
           'library:name="Standard" library:readonly="false" library:passwordprotected="false">'
           '<library:element library:name="Module1"/></library:library>')
MODULE = ('<?xml version="1.0" encoding="UTF-8"?>\n<script:module xmlns:script="http://openoffice.org/2000/script" '
          'script:name="Module1" script:language="StarBasic">{}</script:module>')
BASIC = 'Sub Main(Optional Happening)\nOpen "{}" For Append As #1\nPrint #1, Happening.EventName\nClose #1\nEnd Sub\n'
HAPPENINGS = ("dom:load", "office:load-finished", "office:view-created", "dom:DOMFocusIn", "dom:DOMFocusOut", "office:save",
              "office:save-done", "office:copy-to", "office:copy-to-done", "office:modify-changed", "office:title-changed",
              "office:new")
LISTENER = ('<script:event-listener script:language="ooo:script" script:event-name="{}" xlink:type="simple" '
            'xlink:href="vnd.sun.star.script:Standard.Module1.Main?language=Basic&amp;location=document"/>')


def package(path: Path, kind: str, files: dict[str, str | bytes]) -> Path:
    """Writes a document of OpenDocument."""
    entries = "".join(f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="text/xml"/>' for name in files)
    root = f'<manifest:file-entry manifest:full-path="/" manifest:version="1.3" manifest:media-type="{KIND}{kind}"/>'
    listing = f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest:manifest {SPACES} manifest:version="1.3">{root}{entries}' \
              "</manifest:manifest>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", KIND + kind, zipfile.ZIP_STORED)
        for name, content in ({"META-INF/manifest.xml": listing} | files).items():
            file.writestr(name, content)
    return path


def document(path: Path, kind: str, body: str, content: str, macro_log: Path | None = None,
             files: dict[str, bytes] | None = None) -> Path:
    """Writes a document, with a macro that notes down in a file what happens if there is one."""
    scripts = ""
    parts: dict[str, str | bytes] = {}
    if macro_log:
        listeners = "".join(map(LISTENER.format, HAPPENINGS))
        scripts = f"<office:scripts><office:event-listeners>{listeners}</office:event-listeners></office:scripts>"
        parts = {"Basic/script-lc.xml": LIBRARIES, "Basic/Standard/script-lb.xml": LIBRARY,
                 "Basic/Standard/Module1.xml": MODULE.format(escape(BASIC.format(macro_log)))}
    whole = CONTENT.format(spaces=SPACES, scripts=scripts, body=body, content=content)
    return package(path, kind, {"content.xml": whole} | parts | (files or {}))


def text(path: Path, pages: int = 6, macro_log: Path | None = None, more: str = "", files: dict[str, bytes] | None = None,
         kind: str = "text") -> Path:
    """A text with as many pages."""
    content = "".join(f'<text:p text:style-name="P">Page {page}</text:p>' for page in range(1, pages + 1))
    return document(path, kind, "text", content + more, macro_log, files)


def sheets(path: Path, names: tuple[str, ...] = ("Rooms", "Prices & more"), macro_log: Path | None = None) -> Path:
    """Tables with these names."""
    content = "".join(f'<table:table table:name="{escape(name)}"><table:table-row><table:table-cell office:value-type="string">'
                      f"<text:p>{escape(name)}</text:p></table:table-cell></table:table-row></table:table>" for name in names)
    return document(path, "spreadsheet", "spreadsheet", content, macro_log)


def slides(path: Path, count: int = 4, macro_log: Path | None = None) -> Path:
    """A presentation with as many slides."""
    content = "".join(f'<draw:page draw:name="page{number}" draw:master-page-name="Default"/>' for number in range(count))
    return document(path, "presentation", "presentation", content, macro_log)


# Has an office write documents in other formats, with a password where there is one.
WRITER = """
import json, sys, time, uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
def value(name, value):
    made = PropertyValue()
    made.Name, made.Value = name, value
    return made
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
context = None
while not context:
    try:
        context = resolver.resolve(f"uno:pipe,name={sys.argv[1]};urp;StarOffice.ComponentContext")
    except NoConnectException:
        time.sleep(0.05)
desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
for source, target, kind, password in json.loads(sys.argv[2]):
    document = desktop.loadComponentFromURL(uno.systemPathToFileUrl(source), "_blank", 0, (value("Hidden", True),))
    options = (value("FilterName", kind),) + ((value("Password", password),) if password else ())
    document.storeToURL(uno.systemPathToFileUrl(target), options)
    document.close(True)
"""


def written(machine: Machine, *jobs: tuple[Path, str, str, str]) -> list[Path]:
    """Has an office that nobody sees write documents in other formats: of each the source, the name that it gets beside
    that, its filter, and its password if it has one. Returns their paths."""
    targets = [source.with_name(name) for source, name, _, _ in jobs]
    orders = json.dumps([(str(source), str(target), kind, password)
                         for (source, _, kind, password), target in zip(jobs, targets)])
    pipe = machine.folder.name
    with open(machine.log_file("writer"), "ab") as log:
        office = subprocess.Popen(
            ["soffice", "--headless", "--norestore", f"--accept=pipe,name={pipe};urp",
             f"-env:UserInstallation=file://{machine.folder}/writer"], env=machine.environment | {"SAL_USE_VCLPLUGIN": "svp"},
            stdout=log, stderr=log, start_new_session=True)
        try:
            subprocess.run(["/usr/bin/python3", "-c", WRITER, pipe, orders], env=machine.environment, check=True, stdout=log,
                           stderr=log, timeout=PATIENCE)
        finally:
            end(office)
    return targets


def end(office: subprocess.Popen[bytes]) -> None:
    """Ends an office and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(office.pid, signal.SIGKILL)
    office.wait()
