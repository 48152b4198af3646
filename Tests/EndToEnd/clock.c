/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* To be loaded before a program: its wall clock is ahead by the seconds that the file named in HANDOFF_TEST_CLOCK holds,
   a long, and what it sets a timer for by that clock comes within a second, as if the clock had been set. Its clock since
   the start of the machine is ahead by a second long, if there is one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const volatile long *offset;

__attribute__((constructor)) static void map(void) {
    const char *path = getenv("HANDOFF_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED)
        offset = page;
    if (file >= 0)
        close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, time);
    if (!status && clock == CLOCK_REALTIME && offset)
        time->tv_sec += offset[0];
    if (!status && clock == CLOCK_MONOTONIC && offset)
        time->tv_sec += offset[1];
    return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    static int (*real)(struct timeval *restrict, void *restrict);
    if (!real)
        real = dlsym(RTLD_NEXT, "gettimeofday");
    int status = real(time, zone);
    if (!status && offset)
        time->tv_sec += *offset;
    return status;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
    static const struct itimerspec soon = {.it_value = {.tv_sec = 1}};
    if (!real)
        real = dlsym(RTLD_NEXT, "timerfd_settime");
    return flags & TFD_TIMER_ABSTIME && offset ? real(timer, 0, &soon, old) : real(timer, flags, new, old);
}
