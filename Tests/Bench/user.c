// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user of a machine asks of both daemons.
#include "bench.h"

#include <stdio.h>

static double time_property(DBusConnection *bus, const char *name, const char *path, const char *interface,
                            const char *property) {
    DBusMessage *message = new_call(name, path, "org.freedesktop.DBus.Properties", "Get");
    if (!dbus_message_append_args(message, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &property,
                                  DBUS_TYPE_INVALID))
        fail("memory", NULL);
    const double begin = now();
    dbus_message_unref(call(bus, message));
    return now() - begin;
}

int measure_user(size_t calls) {
    DBusConnection *bus = connect_to_bus(NULL);
    struct series times = {0};
    for (size_t index = 0; index < calls; index++) {
        add(&times, time_property(bus, BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "Enabled"));
        add(&times, time_property(bus, BROKER_NAME ".Bridge", BROKER_PATH "/Bridge", BROKER_NAME ".Bridge", "DeviceName"));
    }
    printf("user %.3f %.3f\n", quantile(&times, 0.5), quantile(&times, 0.99));
    return 0;
}
