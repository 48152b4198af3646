/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>
#include <glib-unix.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
/* Reached through the gobject-2.0 include path: gio-unix-2.0.pc carries -pthread, which SwiftPM
   warns about on every build. */
#include <../gio-unix-2.0/gio/gdesktopappinfo.h>
#include <../gio-unix-2.0/gio/gunixinputstream.h>

/* System calls without a wrapper in every C library that is in use; Swift cannot call the variadic syscall(2). */

static inline int handoff_gettid(void)
{
    return (int)syscall(SYS_gettid);
}

static inline int handoff_pidfd_open(int process)
{
    return (int)syscall(SYS_pidfd_open, process, 0u);
}
