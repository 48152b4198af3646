// SPDX-License-Identifier: LGPL-2.1-or-later
// What a handoff takes beside a text that KDE Connect sends, in turn, between the same two machines.
#include "bench.h"

#include <stdio.h>

static bool is_shared(const struct machines *machines) { return machines->shared != 0; }

// From shareText at the origin until the target's bus has heard of it.
static double time_text(struct machines *machines, const char *device) {
    static const char text[] = "The Origin of Species, page 42", *const argument = text;
    char path[128];
    snprintf(path, sizeof path, "/modules/kdeconnect/devices/%s/share", device);
    machines->shared = 0;
    idle(machines, REST);
    const double begin = now();
    DBusMessage *message = new_call("org.kde.kdeconnect", path, SHARE_INTERFACE, "shareText");
    dbus_message_append_args(message, DBUS_TYPE_STRING, &argument, DBUS_TYPE_INVALID);
    dbus_message_unref(ask(machines, ORIGIN, message));
    await(machines, is_shared, "a text by KDE Connect");
    return machines->shared - begin;
}

static void watch(struct machines *machines) {
    DBusError error = DBUS_ERROR_INIT;
    dbus_bus_add_match(machines->bus[TARGET], "type='signal',interface='" SHARE_INTERFACE "',member='shareReceived'",
                       &error);
    if (dbus_error_is_set(&error)) fail("AddMatch", &error);
}

int measure_texts(size_t blocks, size_t count, const char *device) {
    struct machines machines = {0};
    struct comparison offers = {0}, continuations = {0};
    set_up(&machines);
    watch(&machines);
    // The first block warms both up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) offers = continuations = (struct comparison){0};
        // What the continuations have changed has been told by then.
        idle(&machines, 5 * OFFER_INTERVAL);
        for (size_t index = 0; index < count; index++) {
            const double end = now() + OFFER_INTERVAL;
            add(&offers.subject, time_offer(&machines));
            do add(&offers.echo, time_text(&machines, device));
            while (now() < end);
        }
        for (size_t index = 0; index < count; index++) {
            add(&continuations.echo, time_text(&machines, device));
            add(&continuations.subject, continue_with_save(&machines));
        }
        end_block(&offers);
        end_block(&continuations);
    }
    report(&offers, "offers");
    report(&continuations, "continuations");
    return 0;
}
