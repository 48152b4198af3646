# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a window of GTK is in front. Where an office shows itself by GTK 3, its dialogs are windows of GTK, and the office's
own toolkit knows nothing of them."""

import ctypes
import os


class Listed(ctypes.Structure):
    """One of a GList."""


Listed._fields_ = [("window", ctypes.c_void_p), ("next", ctypes.POINTER(Listed)), ("previous", ctypes.POINTER(Listed))]
# GSignalEmissionHook
Hook = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)
# Those that tell of the focus, as of all that GTK's windows do.
SIGNALS = (b"focus-in-event", b"focus-out-event")


def loaded(library):
    """A library that this process has loaded already."""
    return ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)


class Gtk:
    """The windows of GTK in this process. Everything is done in the main thread."""

    def __init__(self, changed):
        """Calls `changed` when one gets the focus, or loses it. OSError or AttributeError where there is no such GTK."""
        self.gtk, self.gobject, self.glib = (loaded(f"lib{name}.so.0") for name in ("gtk-3", "gobject-2.0", "glib-2.0"))
        self.gtk.gtk_window_list_toplevels.restype = ctypes.POINTER(Listed)
        self.gtk.gtk_window_is_active.argtypes = [ctypes.c_void_p]
        self.gtk.gtk_widget_get_type.restype = ctypes.c_size_t
        self.glib.g_list_free.argtypes = [ctypes.POINTER(Listed)]
        self.glib.g_list_free.restype = None
        self.gobject.g_signal_lookup.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self.gobject.g_signal_lookup.restype = ctypes.c_uint
        add, self.remove = self.gobject.g_signal_add_emission_hook, self.gobject.g_signal_remove_emission_hook
        add.argtypes = [ctypes.c_uint, ctypes.c_uint, Hook, ctypes.c_void_p, ctypes.c_void_p]
        add.restype = ctypes.c_ulong
        self.remove.argtypes = [ctypes.c_uint, ctypes.c_ulong]
        self.remove.restype = None

        def happened(*_):
            changed()
            # It stays.
            return 1
        # GTK has its address, so it has to stay too.
        self.hook = Hook(happened)
        signals = [self.gobject.g_signal_lookup(name, self.gtk.gtk_widget_get_type()) for name in SIGNALS]
        self.hooks = [(signal, add(signal, 0, self.hook, None, None)) for signal in signals if signal]

    def is_active(self):
        """Whether one of the windows has the focus."""
        first = self.gtk.gtk_window_list_toplevels()
        one, is_active = first, False
        while one and not is_active:
            is_active = bool(self.gtk.gtk_window_is_active(one.contents.window))
            one = one.contents.next
        self.glib.g_list_free(first)
        return is_active

    def leave(self):
        for signal, hook in self.hooks:
            self.remove(signal, hook)
        self.hooks = []
