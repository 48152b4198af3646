// SPDX-License-Identifier: LGPL-2.1-or-later
// What is there besides: a broker full of activities.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// What one client and one process of several clients may have with full quotas (H3).
enum { ACTIVITIES_EACH = 64, CLIENTS_EACH = 4 };

// Set before there are children.
static size_t all;

static void create(size_t number, struct child *child) {
    const size_t first = number * ACTIVITIES_EACH * CLIENTS_EACH;
    DBusConnection *bus = NULL;
    size_t index = 0;
    await_order(child);
    for (; index < ACTIVITIES_EACH * CLIENTS_EACH && first + index < all; index++) {
        if (index % ACTIVITIES_EACH == 0) register_types(bus = connect_to_bus(NULL), 0, 1);
        dbus_message_unref(call(bus, new_creation(100)));
    }
    report_done(child, index);
    await_order(child);
}

// Creates so many, says so, and keeps them until nobody listens any more.
int fill(size_t activities) {
    char byte;
    all = activities;
    struct children children =
        begin_children((activities + ACTIVITIES_EACH * CLIENTS_EACH - 1) / (ACTIVITIES_EACH * CLIENTS_EACH), create);
    if (order_step(&children) != activities) fail("the activities", NULL);
    printf("full\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    end_children(&children);
    return 0;
}
