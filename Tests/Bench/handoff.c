// SPDX-License-Identifier: LGPL-2.1-or-later
// What a handoff costs: the offer of an activity that becomes current, and its continuation.
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const double offer_interval = OFFER_INTERVAL, rest = REST;

static DBusMessage *activity_call(const struct machines *machines, const char *member) {
    return new_call(BROKER_NAME, machines->activity, BROKER_NAME ".Activity", member);
}

static bool is_seen(const struct machines *machines) { return machines->seen != 0; }

static bool goes_on(const struct machines *machines) {
    return machines->arrived != 0 && machines->finished && machines->continued;
}

static bool is_over(const struct machines *machines) { return goes_on(machines) && machines->let_go; }

char *create_activity(struct machines *machines) {
    DBusMessageIter arguments;
    DBusMessage *create = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "CreateActivity");
    dbus_message_iter_init_append(create, &arguments);
    append_creation(&arguments);
    return created_path(ask(machines, ORIGIN, create));
}

double become_current(struct machines *machines, const char *activity) {
    free(machines->activity);
    machines->activity = need(strdup(activity));
    machines->seen = 0;
    idle(machines, rest);
    const double begin = now();
    dbus_message_unref(ask(machines, ORIGIN, activity_call(machines, "BecomeCurrent")));
    await(machines, is_seen, "the offer");
    return machines->seen - begin;
}

double time_offer(struct machines *machines) {
    DBusMessage *invalidate = machines->activity ? activity_call(machines, "Invalidate") : NULL;
    char *activity = create_activity(machines);
    const double time = become_current(machines, activity);
    free(activity);
    if (invalidate) dbus_message_unref(ask(machines, ORIGIN, invalidate));
    return time;
}

// Sets a property of the current activity.
static void set_value(struct machines *machines, const char *property, int type, const void *value) {
    DBusMessageIter arguments, properties;
    DBusMessage *update = activity_call(machines, "Update");
    dbus_message_iter_init_append(update, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &properties);
    append_entry(&properties, property, type, value);
    dbus_message_iter_close_container(&arguments, &properties);
    dbus_message_unref(ask(machines, ORIGIN, update));
}

// Sets a property of the current activity to true.
static void set(struct machines *machines, const char *property) {
    const dbus_bool_t is_true = TRUE;
    set_value(machines, property, DBUS_TYPE_BOOLEAN, &is_true);
}

// Gives back when it began.
static double begin_continuation(struct machines *machines) {
    machines->arrived = 0;
    machines->saved = machines->finished = machines->continued = machines->let_go = false;
    idle(machines, rest);
    const double begin = now();
    DBusMessage *message = new_call(BROKER_NAME, machines->offer, BROKER_NAME ".RemoteActivity", "Continue");
    DBusMessageIter arguments;
    dbus_message_iter_init_append(message, &arguments);
    append_empty(&arguments, "{sv}");
    dbus_message_unref(ask(machines, TARGET, message));
    return begin;
}

double continue_once(struct machines *machines) {
    const double begin = begin_continuation(machines);
    await(machines, is_over, "the continuation");
    const bool counts = machines->saved;
    // It has changed, so that its application will be asked to save it before it is continued again.
    set(machines, "NeedsSave");
    return counts ? machines->arrived - begin : 0;
}

double continue_with_save(struct machines *machines) {
    // Asked to save within the last second, the application is asked again only by the continuation. If that was longer
    // ago, it has been asked already, and this one does not count.
    for (;;) {
        const double time = continue_once(machines);
        if (time > 0) return time;
    }
}

void hold_continuation(struct machines *machines) {
    time_offer(machines);
    set(machines, "SupportsContinuationStreams");
    begin_continuation(machines);
    await(machines, goes_on, "the continuation");
}

double continue_with_document(struct machines *machines, const char *address) {
    time_offer(machines);
    set(machines, "SupportsContinuationStreams");
    set_value(machines, "DocumentURL", DBUS_TYPE_STRING, &address);
    // What is chosen has to be what is fetched, so the offer that says it has a document has to be there.
    idle(machines, 5 * offer_interval);
    const double begin = begin_continuation(machines);
    while (!goes_on(machines) && now() < begin + 110000) idle(machines, 20);
    await(machines, goes_on, "the continuation with a document");
    return machines->arrived - begin;
}

static double time_rested_echo(struct machines *machines) {
    idle(machines, rest);
    return time_echo(machines->bus[ORIGIN]);
}

int measure_offers(size_t blocks, size_t offers) {
    struct machines machines = {0};
    struct comparison comparison = {0};
    set_up(&machines);
    for (int warm = 0; warm < 5; warm++, idle(&machines, offer_interval)) time_offer(&machines);
    for (size_t block = 0; block < blocks; block++) {
        for (size_t index = 0; index < offers; index++) {
            const double end = now() + offer_interval;
            add(&comparison.subject, time_offer(&machines));
            while (now() < end) add(&comparison.echo, time_rested_echo(&machines));
        }
        end_block(&comparison);
    }
    report(&comparison, "offer");
    return 0;
}

int measure_continuations(size_t blocks, size_t continuations) {
    struct machines machines = {0};
    struct comparison comparison = {0};
    set_up(&machines);
    time_offer(&machines);
    for (int warm = 0; warm < 10; warm++) continue_with_save(&machines);
    for (size_t block = 0; block < blocks; block++) {
        for (size_t index = 0; index < continuations; index++)
            add(&comparison.subject, continue_with_save(&machines));
        for (size_t index = 0; index < continuations; index++) add(&comparison.echo, time_rested_echo(&machines));
        end_block(&comparison);
    }
    report(&comparison, "continuation");
    return 0;
}

int run_continuations(size_t count) {
    struct machines machines = {0};
    set_up(&machines);
    time_offer(&machines);
    while (count-- > 0) continue_with_save(&machines);
    return 0;
}

int hold_activity(void) {
    struct machines machines = {0};
    set_up(&machines);
    time_offer(&machines);
    for (;;) idle(&machines, 3600000);
}
