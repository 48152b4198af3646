# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the extension can know without an office: lines, questions, and which files are documents."""

import collections
import json
import os
import re
import stat
import threading
import unicodedata
import urllib.parse

# How long a line may be, in bytes.
LONGEST_LINE = 1 << 20
# How many answers, and how many questions, may wait.
MOST_ANSWERS = 4
MOST_QUESTIONS = 16
# How long nothing has to be in front before that is told, in seconds: between two windows nothing is.
PAUSE = 0.25
# From which size on a document is not copied, in bytes.
LARGEST = 32 << 20
# How long the name of a file may be, in bytes.
LONGEST_NAME = 255
# The largest number that a place may have.
LARGEST_NUMBER = 10_000_000

ZIP, OLE, RTF = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"{\\rtf"
# How documents begin, by the endings of their names.
BEGINNINGS = {"odt": ZIP, "ods": ZIP, "odp": ZIP, "docx": ZIP, "xlsx": ZIP, "pptx": ZIP, "doc": OLE, "xls": OLE, "ppt": OLE,
              "rtf": RTF}
# Kinds of characters that steer what shows them.
STEERING = {"Cc", "Cs", "Zl", "Zp", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MODES = ("edit", "view", "unsaved")
# Options with which an office shows nobody anything.
UNSEEN = {"headless", "invisible", "convert-to", "convert-images-to", "print-to-file", "pt", "cat"}


def is_unseen(arguments, environment):
    """Whether an office with these arguments has no user."""
    words = {argument.lstrip("-").partition("=")[0] for argument in arguments if argument.startswith("-")}
    has_display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return bool(words & UNSEEN) or environment.get("SAL_USE_VCLPLUGIN") == "svp" or not has_display


def ending(name):
    """The ending of a document's name; empty if it is no document that can be continued."""
    known = name.rpartition(".")[2].lower()
    return known if "." in name and known in BEGINNINGS else ""


def is_plain(name):
    """Whether a name can be that of a file, and be shown."""
    return (isinstance(name, str) and name not in ("", ".", "..") and "/" not in name
            and not any(unicodedata.category(one) in STEERING or unicodedata.bidirectional(one) in STEERING for one in name)
            and len(name.encode(errors="replace")) <= LONGEST_NAME)


def path_of(url):
    """The path that a URL names; None if that is no file of this machine that can be continued."""
    if not url.startswith("file:///") or "?" in url or "#" in url:
        return None
    try:
        path = urllib.parse.unquote_to_bytes(url.removeprefix("file://")).decode()
    except UnicodeDecodeError:
        return None
    return path if is_plain(os.path.basename(path)) and ending(path) and is_absolute(path) else None


def is_absolute(path):
    """Whether this is the path of something, written in the one way that there is."""
    return isinstance(path, str) and path.startswith("/") and "\0" not in path and os.path.normpath(path) == path


def is_template(filter_name):
    """Whether a filter is one for templates. Those for old files have German names."""
    return bool(re.search("template|vorlage", filter_name, re.IGNORECASE))


def is_document(path):
    """Whether a file is a document that can be opened without a question: an office that is asked to load anything else
    shows an error, and does not answer until its user does."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return False
            beginning = file.read(4096).removeprefix(b"\xef\xbb\xbf")
            expected = BEGINNINGS.get(ending(path))
            if not expected or not beginning.startswith(expected):
                return False
            return expected != ZIP or is_package(file, ending(path))
    except (OSError, ValueError):
        return False


def is_package(file, kind):
    """Whether a ZIP file is a document of this kind, neither a template nor encrypted."""
    import zipfile

    def content(name):
        with package.open(name) as member:
            return member.read(LONGEST_LINE)
    try:
        with zipfile.ZipFile(file) as package:
            if not kind.startswith("od"):
                return b"template" not in content("[Content_Types].xml")
            is_open = b"encryption-data" not in content("META-INF/manifest.xml")
            return is_open and not content("mimetype").strip().endswith(b"-template")
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, zipfile.zlib.error):
        return False


def copy_path(folder, name):
    """Where a copy of this name is written; None if that is no place for one."""
    if not is_absolute(folder) or not is_plain(name) or not os.path.isdir(folder):
        return None
    path = os.path.join(folder, name)
    return None if os.path.lexists(path) else path


def is_number(value, largest=LARGEST_NUMBER):
    return type(value) is int and 1 <= value <= largest


def question(line):
    """What is asked by a line; None if it is nonsense. What cannot be opened has the mode "none"."""
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict) or not is_number(asked.get("id"), (1 << 53) - 1):
        return None
    kind = asked.get("ask")
    is_sound = (kind == "front" or kind == "save" and is_absolute(asked.get("folder"))
                and (is_absolute(asked.get("file")) or isinstance(asked.get("name"), str))
                or kind == "open" and is_absolute(asked.get("file")) and asked.get("mode") in MODES
                and (asked["mode"] != "unsaved" or is_plain(asked.get("name"))))
    if kind == "open" and not is_sound:
        return {"ask": "open", "id": asked["id"], "mode": "none"}
    return asked if is_sound else None


def place(asked):
    """The place that a question names, without what can be none."""
    found = {name: asked[name] for name in ("page", "slide") if is_number(asked.get(name))}
    cell, sheet = asked.get("cell"), asked.get("sheet")
    if isinstance(sheet, str) and sheet:
        found["sheet"] = sheet
        if isinstance(cell, str) and re.fullmatch("[A-Z]{1,3}[1-9][0-9]{0,6}", cell):
            found["cell"] = cell
    return found


def lines(pipe):
    """The lines that come out of a pipe, without those that are too long."""
    is_rest = False
    while line := pipe.readline(LONGEST_LINE + 1):
        is_whole = line.endswith(b"\n")
        if is_whole and not is_rest:
            yield line
        is_rest = not is_whole


class Outbox:
    """What waits to be written: the latest event, if that says something else than the one before, and the last answers."""

    def __init__(self):
        self.changed = threading.Condition()
        self.waiting = []
        self.told = None
        self.is_closed = False

    def add(self, message):
        with self.changed:
            kind = "event" if "event" in message else "answer"
            alike = [one for one in self.waiting if kind in one]
            if len(alike) == (1 if kind == "event" else MOST_ANSWERS):
                self.waiting.remove(alike[0])
            if kind == "answer" or essence(message) != self.told:
                self.waiting.append(message)
            self.changed.notify()

    def forget(self):
        """Has the next event written, whatever it says."""
        self.told = None

    def close(self):
        with self.changed:
            self.is_closed = True
            self.changed.notify()

    def take(self):
        """Waits for the next line; None when there will be none."""
        with self.changed:
            while not self.is_closed:
                self.changed.wait_for(lambda: self.waiting or self.is_closed)
                first = self.waiting[:1]
                if first and first[0].get("event", "front") != "front":
                    self.changed.wait_for(lambda: self.is_closed or self.waiting != first, PAUSE)
                if self.waiting and not self.is_closed:
                    message = self.waiting.pop(0)
                    self.told = essence(message) if "event" in message else self.told
                    return json.dumps(message).encode() + b"\n"
        return None


def essence(event):
    """What an event says, but for the place."""
    return event["event"], event.get("file"), event.get("name")


def inbox():
    """What waits to be answered: of too many questions the first are forgotten."""
    return collections.deque(maxlen=MOST_QUESTIONS)
