/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <errno.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
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

/* Opens as openat(2) does, with the restrictions of openat2(2); mode 0. */
static inline int handoff_openat2(int folder, const char *path, unsigned long long flags, unsigned long long resolve)
{
#ifdef SYS_openat2
    const struct { unsigned long long flags, mode, resolve; } how = { flags, 0, resolve };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
#else
    (void)folder, (void)path, (void)flags, (void)resolve;
    errno = ENOSYS;
    return -1;
#endif
}

/* The kind of the file system that a file is in (statfs(2), linux/magic.h); 0 if that is not known. */
static inline unsigned long long handoff_file_system(int descriptor)
{
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (unsigned)status.f_type : 0;
}

static inline int handoff_pidfd_open(int process)
{
    return (int)syscall(SYS_pidfd_open, process, 0u);
}
