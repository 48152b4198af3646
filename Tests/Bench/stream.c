// SPDX-License-Identifier: LGPL-2.1-or-later
// What it costs to open a stream between the two applications of a continuation.
#include "bench.h"

#include <poll.h>
#include <unistd.h>

// Before each opening and each echo: a bridge takes 50 connections a second.
static const double rest = 25;

static bool is_greeted(const struct machines *machines) { return machines->greeted != 0; }

double time_opening(struct machines *machines) {
    DBusError error = DBUS_ERROR_INIT;
    char byte;
    machines->greeted = 0;
    const double begin = now();
    DBusMessage *reply = ask(machines, TARGET,
                             new_call(BROKER_NAME, machines->continuation, BROKER_NAME ".Continuation", "OpenStream"));
    if (!dbus_message_get_args(reply, &error, DBUS_TYPE_UNIX_FD, &machines->stream[TARGET], DBUS_TYPE_INVALID))
        fail("OpenStream", &error);
    dbus_message_unref(reply);
    await(machines, is_greeted, "the first byte of the stream");
    if (read(machines->stream[TARGET], &byte, 1) != 1) fail("reading from the stream", NULL);
    return machines->greeted - begin;
}

void close_stream(struct machines *machines) {
    close(machines->stream[TARGET]);
    struct pollfd origin = {.fd = machines->stream[ORIGIN], .events = POLLIN | POLLHUP};
    if (poll(&origin, 1, 10000) != 1) fail("the end of the stream", &(DBusError){.message = "not within ten seconds"});
    close(machines->stream[ORIGIN]);
    machines->stream[ORIGIN] = machines->stream[TARGET] = -1;
}

int measure_openings(size_t blocks, size_t openings) {
    struct machines machines = {0};
    struct comparison comparison = {0};
    set_up(&machines);
    hold_continuation(&machines);
    // The first block warms both up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) comparison = (struct comparison){0};
        for (size_t index = 0; index < 2 * openings; index++) {
            idle(&machines, rest);
            if (index % 2 == block % 2) {
                add(&comparison.echo, time_echo(machines.bus[ORIGIN]));
            } else {
                add(&comparison.subject, time_opening(&machines));
                close_stream(&machines);
            }
        }
        end_block(&comparison);
    }
    report(&comparison, "opening");
    return 0;
}
