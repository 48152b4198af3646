#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""VLC as its own program makes it of its library, which, unlike the program, runs as root too. It has no window."""

from __future__ import annotations

import ctypes
import signal
import sys

library = ctypes.CDLL("libvlc.so.5")
library.libvlc_new.restype = ctypes.c_void_p
arguments = [argument.encode() for argument in ["--no-ignore-config", *sys.argv[1:]]]
instance = ctypes.c_void_p(library.libvlc_new(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments)))
library.libvlc_set_user_agent(instance, b"VLC media player", b"VLC")
for interface in (b"dbus,none", b"dummy"):
    library.libvlc_add_intf(instance, interface)
library.libvlc_playlist_play(instance, -1, 0, None)
signal.pause()
