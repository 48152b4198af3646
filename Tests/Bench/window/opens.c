/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opens TIMES PROGRAM REFERENCE: starts both in turn, and measures from exec until the display has their first window. Prints
   the ratio of the medians, and both medians in milliseconds. */
#include <X11/Xlib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A window takes a second on a slow machine. */
enum { PATIENCE_MS = 30000, MOST = 100 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* Waits until a window is mapped; returns whether one was. */
static int mapped(Display *display)
{
    double end = now() + PATIENCE_MS;

    for (;;) {
        while (XPending(display) > 0) {
            XEvent event;

            XNextEvent(display, &event);
            if (event.type == MapNotify) return 1;
        }
        struct pollfd descriptor = {ConnectionNumber(display), POLLIN, 0};
        if (now() > end || poll(&descriptor, 1, (int)(end - now()) + 1) < 0) return 0;
    }
}

static double opening(Display *display, char *program)
{
    XSync(display, True);
    double begin = now();
    pid_t child = fork();

    if (child == 0) {
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    int is_there = mapped(display);
    double time = now() - begin;
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    if (!is_there) {
        fprintf(stderr, "%s has opened no window\n", program);
        exit(1);
    }
    return time;
}

static int compare(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;

    return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **arguments)
{
    double times[2][MOST];
    int number = count == 4 ? atoi(arguments[1]) : 0;
    Display *display = XOpenDisplay(NULL);

    if (number < 1 || number > MOST || display == NULL) {
        fprintf(stderr, "Usage: opens TIMES PROGRAM REFERENCE, on a display\n");
        return 2;
    }
    XSelectInput(display, DefaultRootWindow(display), SubstructureNotifyMask);
    /* The first start of each reads from the disk what later ones have. */
    for (int which = 0; which < 2; which++) opening(display, arguments[2 + which]);
    for (int round = 0; round < number; round++)
        for (int which = 0; which < 2; which++) times[which][round] = opening(display, arguments[2 + which]);
    for (int which = 0; which < 2; which++) qsort(times[which], number, sizeof(double), compare);
    printf("%.2f %.1f %.1f\n", times[0][number / 2] / times[1][number / 2], times[0][number / 2],
        times[1][number / 2]);
    return 0;
}
