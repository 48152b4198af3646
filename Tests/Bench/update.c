// SPDX-License-Identifier: LGPL-2.1-or-later
// What a call of the broker costs, by the one that applications make most: Activity.Update.
#include "bench.h"

int measure_update(size_t blocks, size_t calls) {
    DBusConnection *bus = connect_to_bus(NULL);
    DBusMessageIter arguments;
    DBusMessage *message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "RegisterApplication");
    dbus_message_iter_init_append(message, &arguments);
    append_registration(&arguments);
    dbus_message_unref(call(bus, message));
    message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "CreateActivity");
    dbus_message_iter_init_append(message, &arguments);
    append_creation(&arguments);
    const char *path = created_path(call(bus, message));

    struct comparison comparison = {0};
    // The first block warms both up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) comparison = (struct comparison){0};
        for (int turn = 0; turn < 2; turn++) {
            // Each goes first in every other block.
            const bool is_echo = (turn + block) % 2 == 0;
            for (size_t index = 0; index < calls; index++) {
                if (is_echo) add(&comparison.echo, time_echo(bus));
                else add(&comparison.subject, time_call(bus, BROKER_NAME, path, BROKER_NAME ".Activity", "Update"));
            }
        }
        end_block(&comparison);
    }
    report(&comparison, "update");
    return 0;
}
