// SPDX-License-Identifier: LGPL-2.1-or-later
// What a client that behaves badly costs one that behaves well.
#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// How long the other one has to get going, in milliseconds; the well-behaved client calls meanwhile.
static const double head_start = 100;

static pid_t begin_disturbing(char **command) {
    const pid_t child = fork();
    if (child < 0) fail("fork", NULL);
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    return child;
}

static void end_disturbing(pid_t child) {
    int status = 0;
    // One that has ended by itself has disturbed nobody.
    if (waitpid(child, &status, WNOHANG) != 0) fail("the command has ended by itself", NULL);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

static double part_of_block(const struct series *series, double part) {
    const struct series block = {.times = series->times + series->block, .count = series->count - series->block};
    return quantile(&block, part);
}

int measure_disturbance(size_t blocks, size_t calls, char **command) {
    DBusConnection *bus = connect_to_bus(NULL);
    DBusMessageIter arguments;
    DBusMessage *message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "RegisterApplication");
    dbus_message_iter_init_append(message, &arguments);
    append_registration(&arguments);
    dbus_message_unref(call(bus, message));
    message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "CreateActivity");
    dbus_message_iter_init_append(message, &arguments);
    append_creation(&arguments);
    const char *path = created_path(call(bus, message)), *interface = BROKER_NAME ".Activity";
    dbus_message_unref(call(bus, new_call(BROKER_NAME, path, interface, "BecomeCurrent")));

    struct series quiet = {0}, disturbed = {0}, ratios = {0};
    for (size_t block = 0; block < blocks; block++) {
        for (size_t index = 0; index < calls; index++)
            add(&quiet, time_call(bus, BROKER_NAME, path, interface, "Update"));
        const pid_t child = begin_disturbing(command);
        for (const double end = now() + head_start; now() < end;)
            time_call(bus, BROKER_NAME, path, interface, "Update");
        for (size_t index = 0; index < calls; index++)
            add(&disturbed, time_call(bus, BROKER_NAME, path, interface, "Update"));
        end_disturbing(child);
        add(&ratios, part_of_block(&disturbed, 0.99) / part_of_block(&quiet, 0.99));
        quiet.block = quiet.count;
        disturbed.block = disturbed.count;
    }
    printf("disturbance %.2f %.3f %.3f %.3f %.3f\n", quantile(&ratios, 0.5), quantile(&disturbed, 0.5),
           quantile(&disturbed, 0.99), quantile(&quiet, 0.5), quantile(&quiet, 0.99));
    return 0;
}
