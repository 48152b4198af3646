/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <malloc.h>
#include <signal.h>
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

/* What a child does between fork(2) and exec(2), where only async-signal-safe functions may be called: it leaves our
   session, and neither blocks nor ignores any signal. */

static inline void handoff_prepare_child(gpointer unused)
{
    sigset_t none;

    (void)unused;
    setsid();
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static inline gboolean handoff_spawn(const char *folder, char **arguments, char **environment, GSpawnFlags flags,
    GPid *process, int standard_error, GError **error)
{
    return g_spawn_async_with_fds(folder, arguments, environment, flags, handoff_prepare_child, NULL, process, -1, -1,
        standard_error, error);
}

static inline int handoff_pipe(int *ends, int flags)
{
    return (int)syscall(SYS_pipe2, ends, flags);
}

static inline int handoff_set_pipe_size(int descriptor, int size)
{
    /* F_SETPIPE_SZ, which <fcntl.h> has only with _GNU_SOURCE. */
    return fcntl(descriptor, 1031, size);
}
