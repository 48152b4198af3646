/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>
#include <glib-unix.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
/* Reached through the gobject-2.0 include path: gio-unix-2.0.pc carries -pthread, which SwiftPM
   warns about on every build. */
#include <../gio-unix-2.0/gio/gdesktopappinfo.h>
#include <../gio-unix-2.0/gio/gunixinputstream.h>
