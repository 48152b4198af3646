# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of a display that takes one order a line, its words separated by tabs, and answers each with a line.

    window                       makes a window, and answers with its number
    map WINDOW                   shows it
    set WINDOW NAME VALUE        sets a property: text, or a number if it is one
    fill WINDOW NAME             sets a property of a megabyte
    activate WINDOW              says that it is active, as a window manager does; 0 for none
    flicker WINDOW WINDOW TIMES  does that with two of them in turns
"""

from __future__ import annotations

import ctypes
import sys

X11 = ctypes.CDLL("libX11.so.6")
X11.XOpenDisplay.restype = ctypes.c_void_p
for function, arguments in {
        "XDefaultRootWindow": [ctypes.c_void_p], "XSync": [ctypes.c_void_p, ctypes.c_int],
        "XInternAtom": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int],
        "XMapWindow": [ctypes.c_void_p, ctypes.c_ulong],
        "XCreateSimpleWindow": [ctypes.c_void_p, ctypes.c_ulong] + [ctypes.c_int] * 5 + [ctypes.c_ulong] * 2,
        "XChangeProperty": [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_int, ctypes.c_int,
                            ctypes.c_void_p, ctypes.c_int]}.items():
    getattr(X11, function).argtypes = arguments
for function in ("XDefaultRootWindow", "XInternAtom", "XCreateSimpleWindow"):
    getattr(X11, function).restype = ctypes.c_ulong

CARDINAL, STRING, WINDOW = 6, 31, 33
display = X11.XOpenDisplay(None)
root = X11.XDefaultRootWindow(display)
# Nobody is asked what went wrong.
ignore = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda _display, _error: 0)
X11.XSetErrorHandler(ignore)


def atom(name: str) -> int:
    return X11.XInternAtom(display, name.encode(), 0)


def set_text(window: int, name: str, text: bytes) -> None:
    X11.XChangeProperty(display, window, atom(name), STRING, 8, 0, text, len(text))


def set_number(window: int, name: str, kind: int, number: int) -> None:
    value = ctypes.c_ulong(number)
    X11.XChangeProperty(display, window, atom(name), kind, 32, 0, ctypes.byref(value), 1)


for line in sys.stdin:
    order, *words = line.rstrip("\n").split("\t")
    answer = "done"
    if order == "window":
        answer = str(X11.XCreateSimpleWindow(display, root, 0, 0, 100, 100, 0, 0, 0))
    elif order == "map":
        X11.XMapWindow(display, int(words[0]))
    elif order == "set" and words[2].isdigit():
        set_number(int(words[0]), words[1], CARDINAL, int(words[2]))
    elif order == "set":
        set_text(int(words[0]), words[1], words[2].encode())
    elif order == "fill":
        # The largest that one request can carry is 256 KiB: more is appended.
        for part in range(5):
            X11.XChangeProperty(display, int(words[0]), atom(words[1]), STRING, 8, 2 if part else 0, b"a" * 200_000, 200_000)
    elif order == "activate":
        set_number(root, "_NET_ACTIVE_WINDOW", WINDOW, int(words[0]))
    elif order == "flicker":
        for number in range(int(words[2])):
            set_number(root, "_NET_ACTIVE_WINDOW", WINDOW, int(words[number % 2]))
            X11.XSync(display, 0)
    X11.XSync(display, 0)
    print(answer, flush=True)
