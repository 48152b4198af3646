// SPDX-License-Identifier: LGPL-2.1-or-later
// What clients can have the broker keep, all together, and what of it is left when they have gone.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// The largest UserInfo, less what an entry takes besides its text.
static const size_t payload = 131072 - 64;
// How long the memory has to go back, in milliseconds, and how often it is looked at.
static const double patience = 5000;
static const struct timespec pause_between = {.tv_nsec = 50000000};

// Set before there are children.
static size_t connections_each;

// Creates activities on each connection until one is refused.
static void hoard(size_t number, struct child *child) {
    size_t count = 0;
    (void)number;
    await_order(child);
    for (size_t index = 0; index < connections_each; index++) {
        DBusConnection *bus = connect_to_bus(NULL);
        register_types(bus, 0, 1);
        for (;;) {
            DBusMessage *creation = new_creation(payload);
            DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, creation, -1, NULL);
            dbus_message_unref(creation);
            if (!reply) break;
            dbus_message_unref(reply);
            count++;
        }
    }
    report_done(child, count);
    await_order(child);
}

int measure_hoard(size_t processes, size_t connections, const char *broker) {
    connections_each = connections;
    struct children children = begin_children(processes, hoard);
    const double before = memory_of(broker, "Rss");
    const double bytes = (double)(order_step(&children) * payload), full = memory_of(broker, "Rss");
    end_children(&children);
    double after = memory_of(broker, "Rss");
    for (const double end = now() + patience; now() < end && after > 1.1 * before;) {
        nanosleep(&pause_between, NULL);
        after = memory_of(broker, "Rss");
    }
    printf("hoard %.1f %.2f %.1f\n", bytes / (1 << 20), (full - before) / bytes, 100 * (after - before) / before);
    return 0;
}
