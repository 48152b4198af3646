#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application that does what it is told, a line each, and tells what happens to it; see README.md."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

from gi.repository import GLib

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "data" / "clients" / "python"))
import handoff  # noqa: E402  pylint: disable=wrong-import-position


def tell(*words: object) -> None:
    os.write(1, ("\t".join(map(str, words)) + "\n").encode())


class Driver:
    def __init__(self, application_id: str, activity_type: str) -> None:
        self.application = handoff.HandoffApplication(application_id, [activity_type], team="org.example.team")
        self.activities: dict[str, handoff.UserActivity] = {}
        self.answer, self.shows, self.silent, self.stops = ["yes"], False, False, False
        self.others: list[handoff.HandoffApplication] = []
        self.application.on_will_continue = self.will_continue
        self.application.on_continue = self.continues
        self.application.on_failure = self.failed

    def will_continue(self, kind: str, device: handoff.Device) -> bool:
        tell("willContinue", kind, device.name)
        return self.shows

    def failed(self, kind: str, error: handoff.HandoffError) -> None:
        tell("failed", kind, error.name, error)
        if self.stops:
            self.application.stop()

    def continues(self, activity: handoff.UserActivity, device: handoff.Device) -> bool:
        number = f"c{len(self.activities)}"
        self.keep(number, activity)
        tell("continue", number, activity.activity_type, activity.title, device.name)
        if self.answer[0] == "fail":
            raise ValueError(self.answer[1])
        return self.answer[0] == "yes"

    def keep(self, number: str, activity: handoff.UserActivity) -> None:
        self.activities[number] = activity
        if not self.silent:
            activity.on_failure = lambda _activity, error: tell("refused", number, error.name, error)
        activity.on_was_continued = lambda _activity, device: tell("wasContinued", number, device.name)

    def will_save(self, number: str, what: list[str]) -> None:
        def save(activity: handoff.UserActivity) -> None:
            tell("saving", number, len(activity.user_info))
            if what[0] == "text":
                activity.user_info["text"] = what[1]
            elif what[0] == "fail":
                raise ValueError("the disk is full")
            elif what[0] == "raise":
                raise KeyError("nokey")
            elif what[0] == "deep":
                activity.user_info["a"] = nested(int(what[1]))
        self.activities[number].on_will_save = save

    def streams(self, number: str) -> None:
        self.activities[number].on_stream = lambda _activity, stream: threading.Thread(
            target=echo, args=(number, stream), daemon=True).start()

    def opened(self, number: str, stream: socket.socket | None, error: handoff.HandoffError | None) -> None:
        if stream is None:
            tell("notOpened", number, error.name, error)
        else:
            threading.Thread(target=ask, args=(number, stream), daemon=True).start()

    def begin_second(self, application_id: str) -> None:
        other = handoff.HandoffApplication(application_id)
        handoff.HandoffApplication.shared = self.application
        self.others.append(other)
        try:
            other.start()
        except RuntimeError as error:
            return tell("second", error)
        tell("second", "ok")

    def told(self, command: str, number: str = "", *words: str) -> None:
        activity = self.activities.get(number)
        if command == "make":
            self.keep(number, handoff.UserActivity(*words))
        elif command == "set":
            name = {"webpageURL": "webpage_url", "needsSave": "needs_save",
                    "supportsContinuationStreams": "supports_continuation_streams"}.get(words[0], words[0])
            setattr(activity, name, words[1] == "yes" if name in ("needs_save", "supports_continuation_streams") else words[1])
        elif command == "userInfo":
            activity.user_info = {words[0]: words[1]}
        elif command == "add":
            activity.add_user_info_entries({words[0]: words[1]})
        elif command == "willSave":
            self.will_save(number, list(words))
        elif command == "answer":
            self.answer = [number, *words]
        elif command == "shows":
            self.shows = number == "yes"
        elif command == "takeStreams":
            self.streams(number)
        elif command == "openStream":
            activity.continuation_stream(lambda stream, error: self.opened(number, stream, error))
        elif command == "get":
            shown = ",".join(f"{key}={value}" for key, value in sorted(activity.user_info.items()) if type(value) is str)
            tell("got", number, int(activity.is_current), int(activity.is_valid), int(activity.needs_save), activity.title,
                 activity.webpage_url, shown)
        elif command == "deep":
            activity.user_info = {"a": nested(int(words[0]))}
        elif command == "large":
            activity.user_info = {"a": "a" * int(words[0])}
        elif command == "odd":
            activity.user_info = {"a": GLib.Variant("o", "/")}
        elif command == "stopsAtFailure":
            self.stops = True
        elif command == "silent":
            self.silent, self.application.on_failure = True, None
        elif command == "second":
            self.begin_second(number)
        elif command == "available":
            tell("available", int(self.application.is_available))
        else:
            getattr(activity or self.application, {
                "becomeCurrent": "become_current", "becomeOpen": "become_open", "leaveCurrent": "leave_current",
                "resignCurrent": "resign_current"}.get(command, command))()


def nested(levels: int) -> list:
    value: list = []
    for _level in range(levels - 1):
        value = [value]
    return value


def read(stream: socket.socket) -> str:
    return b"".join(iter(lambda: stream.recv(4096), b"")).decode()


def echo(number: str, stream: socket.socket) -> None:
    """What comes, and then an answer."""
    with stream:
        text = read(stream)
        stream.sendall(b"pong")
    tell("stream", number, text)


def ask(number: str, stream: socket.socket) -> None:
    """A question, and what comes."""
    with stream:
        stream.sendall(b"ping")
        stream.shutdown(socket.SHUT_WR)
        tell("opened", number, read(stream))


def main() -> None:
    driver, loop, rest = Driver(*sys.argv[1:]), GLib.MainLoop(), b""

    def readable(descriptor: int, _condition: GLib.IOCondition) -> bool:
        nonlocal rest
        some = os.read(descriptor, 65536)
        if not some:
            loop.quit()
            return False
        *lines, rest = (rest + some).split(b"\n")
        for line in lines:
            driver.told(*line.decode().split("\t"))
        return True

    GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN | GLib.IOCondition.HUP, readable)
    loop.run()


main()
