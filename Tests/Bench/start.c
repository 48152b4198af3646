// SPDX-License-Identifier: LGPL-2.1-or-later
// How long a program takes from exec to owning its bus name.
#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const double patience = 10000;

// Waits until the name has an owner or has none, and gives back when that was told.
static double await_owner(DBusConnection *bus, const char *name, bool owned) {
    const double end = now() + patience;
    for (double left; (left = end - now()) > 0;) {
        for (DBusMessage *message; (message = dbus_connection_pop_message(bus)); dbus_message_unref(message)) {
            const double time = now();
            const char *changed, *former, *owner;
            if (!dbus_message_is_signal(message, DBUS_INTERFACE_DBUS, "NameOwnerChanged") ||
                !dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &changed, DBUS_TYPE_STRING, &former,
                                       DBUS_TYPE_STRING, &owner, DBUS_TYPE_INVALID))
                continue;
            if (strcmp(changed, name) == 0 && (*owner != 0) == owned) {
                dbus_message_unref(message);
                return time;
            }
        }
        if (!dbus_connection_read_write(bus, (int)left + 1)) fail("the bus has gone", NULL);
    }
    fail(name, &(DBusError){.message = owned ? "not owned in time" : "not given up in time"});
}

static double time_start(DBusConnection *bus, const char *name, char **command, volatile double *begin) {
    const pid_t child = fork();
    if (child < 0) fail("fork", NULL);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        *begin = now();
        execv(command[0], command);
        _exit(127);
    }
    const double time = await_owner(bus, name, true) - *begin;
    kill(child, SIGTERM);
    await_owner(bus, name, false);
    waitpid(child, NULL, 0);
    return time;
}

int measure_starts(size_t count, const char *name, char **command) {
    DBusConnection *bus = connect_to_bus(NULL);
    DBusError error = DBUS_ERROR_INIT;
    char rule[256];
    snprintf(rule, sizeof rule, "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
             name);
    dbus_bus_add_match(bus, rule, &error);
    if (dbus_error_is_set(&error)) fail(rule, &error);
    // The child writes it right before exec.
    double *begin = mmap(NULL, sizeof *begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) fail("memory", NULL);
    // The first start makes files and brings the program into memory.
    time_start(bus, name, command, begin);
    struct series times = {0};
    while (count-- > 0) add(&times, time_start(bus, name, command, begin));
    printf("%.1f\n", quantile(&times, 0.5));
    return 0;
}
