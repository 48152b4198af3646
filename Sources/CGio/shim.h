/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <gio/gio.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <libintl.h>
#include <malloc.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
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

/* An empty file in memory that can be sealed (memfd_create(2): MFD_CLOEXEC, MFD_ALLOW_SEALING). */
static inline int handoff_memory_file(const char *name)
{
    return (int)syscall(SYS_memfd_create, name, 3u);
}

static inline int handoff_pidfd_open(int process)
{
    return (int)syscall(SYS_pidfd_open, process, 0u);
}

/* Renames only if nothing has the new name (renameat2(2), RENAME_NOREPLACE). */
static inline int handoff_rename_to_free_name(int folder, const char *former, int other, const char *name)
{
    return (int)syscall(SYS_renameat2, folder, former, other, name, 1u);
}

/* Has two files take each other's name (renameat2(2), RENAME_EXCHANGE). */
static inline int handoff_exchange_names(int folder, const char *one, int other, const char *two)
{
    return (int)syscall(SYS_renameat2, folder, one, other, two, 2u);
}

/* Whether the open file has a list of rights beside those of owner, group and others (acl(5)). */
static inline bool handoff_has_access_list(int descriptor)
{
    return fgetxattr(descriptor, "system.posix_acl_access", NULL, 0) >= 0;
}

/* Whether some program has the open file open for writing, as far as the file system can tell (fcntl(2), leases). */
static inline bool handoff_is_written_to(int descriptor)
{
    /* A lease that is broken in the moment in which it is there is told by a signal that does nothing. */
    enum { set_signal = 10, set_lease = 1024 };
    if (fcntl(descriptor, set_signal, SIGURG) != 0 || fcntl(descriptor, set_lease, F_RDLCK) != 0)
        return errno == EAGAIN;
    fcntl(descriptor, set_lease, F_UNLCK);
    return false;
}

/* Sets aside the space for this part of a file, and leaves the size as it is (fallocate(2), FALLOC_FL_KEEP_SIZE). */
static inline int handoff_set_space_aside(int descriptor, long long offset, long long count)
{
#if GLIB_SIZEOF_VOID_P == 8
    return (int)syscall(SYS_fallocate, descriptor, 1, offset, count);
#else
    (void)descriptor, (void)offset, (void)count;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

/* Has the disk write this part of a file, and waits for that if `waits` (sync_file_range(2)). */
static inline int handoff_write_to_disk(int descriptor, long long offset, long long count, int waits)
{
#if GLIB_SIZEOF_VOID_P == 8 && defined SYS_sync_file_range
    return (int)syscall(SYS_sync_file_range, descriptor, offset, count, waits ? 7u : 2u);
#else
    (void)offset, (void)count;
    return waits ? fdatasync(descriptor) : 0;
#endif
}

/* What a child does between fork(2) and exec(2), where only async-signal-safe functions may be called: it leaves our
   session, neither blocks nor ignores any signal, and may have so many files open; 0 changes nothing. If it is bound to the
   thread that starts it, it gets SIGTERM when that ends. */

struct handoff_child {
    rlim_t open_files;
    /* The process that it is bound to; 0 for none. */
    pid_t parent;
};

static inline void handoff_prepare_child(gpointer data)
{
    const struct handoff_child *child = (const struct handoff_child *)data;
    sigset_t none;
    struct rlimit limit;

    setsid();
    if (child->open_files > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = child->open_files < limit.rlim_max ? child->open_files : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (child->parent > 0) {
        (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM);
        /* It may have ended before that was set. */
        if (getppid() != child->parent)
            _exit(127);
    }
}

/* The three descriptors become the standard ones; for -1 see g_spawn_async_with_fds. */
static inline gboolean handoff_spawn(const char *folder, char **arguments, char **environment, GSpawnFlags flags,
    GPid *process, int input, int output, int errors, unsigned long long open_files, bool is_bound, GError **error)
{
    struct handoff_child child = { (rlim_t)open_files, is_bound ? getpid() : 0 };

    return g_spawn_async_with_fds(folder, arguments, environment, flags, handoff_prepare_child, &child, process, input,
        output, errors, error);
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

/* Translations (gettext(3)), whose own declarations are macros or have attributes for format strings. */

static inline const char *handoff_dgettext(const char *domain, const char *text)
{
    return (dgettext)(domain, text);
}

static inline const char *handoff_dngettext(const char *domain, const char *one, const char *many, unsigned long count)
{
    return (dngettext)(domain, one, many, count);
}
