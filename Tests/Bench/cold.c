// SPDX-License-Identifier: LGPL-2.1-or-later
// What a handoff to an application costs that does not run, beside starting the same application by hand.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_owned(const struct machines *machines) { return machines->owned != 0; }
static bool is_gone(const struct machines *machines) { return machines->owned == 0; }
static bool has_arrived(const struct machines *machines) { return machines->arrived != 0 && machines->finished; }

// Whether the broker of the target knows that the application can continue the offer.
static bool can_continue(struct machines *machines) {
    const char *interface = BROKER_NAME ".RemoteActivity", *name = "Handlers";
    DBusMessage *message = new_call(BROKER_NAME, machines->offer, "org.freedesktop.DBus.Properties", "Get");
    DBusMessageIter value, variant, handlers;
    bool found = false;
    dbus_message_append_args(message, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
    DBusMessage *reply = ask(machines, TARGET, message);
    dbus_message_iter_init(reply, &value);
    dbus_message_iter_recurse(&value, &variant);
    for (dbus_message_iter_recurse(&variant, &handlers); dbus_message_iter_get_arg_type(&handlers) == DBUS_TYPE_STRING;
         dbus_message_iter_next(&handlers)) {
        const char *handler;
        dbus_message_iter_get_basic(&handlers, &handler);
        found = found || strcmp(handler, COLD_NAME) == 0;
    }
    dbus_message_unref(reply);
    return found;
}

static void watch(struct machines *machines) {
    DBusError error = DBUS_ERROR_INIT;
    const char *const rules[] = {
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" COLD_NAME "'",
        "type='signal',sender='" COLD_NAME "',interface='" COLD_NAME "',member='Arrived'"};
    for (size_t index = 0; index < sizeof rules / sizeof *rules; index++) {
        dbus_bus_add_match(machines->bus[TARGET], rules[index], &error);
        if (dbus_error_is_set(&error)) fail(rules[index], &error);
    }
}

// Ends the application, so that it is cold again.
static void cool(struct machines *machines) {
    dbus_message_unref(ask(machines, TARGET, new_call(COLD_NAME, "/", COLD_NAME, "Quit")));
    await(machines, is_gone, "the end of the application");
}

// From Continue until the application, which does not run, is handed the activity.
static double time_continuation(struct machines *machines) {
    const char *name = COLD_NAME;
    DBusMessageIter arguments, options;
    machines->arrived = 0;
    machines->finished = false;
    const double begin = now();
    DBusMessage *message = new_call(BROKER_NAME, machines->offer, BROKER_NAME ".RemoteActivity", "Continue");
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    append_entry(&options, "ApplicationId", DBUS_TYPE_STRING, &name);
    dbus_message_iter_close_container(&arguments, &options);
    dbus_message_unref(ask(machines, TARGET, message));
    await(machines, has_arrived, "the activity");
    const double time = machines->arrived - begin;
    cool(machines);
    return time;
}

// From running gdbus until the application has its name.
static double time_by_hand(struct machines *machines) {
    const double begin = now();
    const pid_t child = fork();
    if (child < 0) fail("fork", NULL);
    if (child == 0) {
        setenv("DBUS_SESSION_BUS_ADDRESS", getenv("BENCH_TARGET"), 1);
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        execlp("gdbus", "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
               "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.StartServiceByName", COLD_NAME, "0", (char *)NULL);
        _exit(127);
    }
    await(machines, is_owned, "the name of the application");
    const double time = machines->owned - begin;
    waitpid(child, NULL, 0);
    cool(machines);
    return time;
}

int measure_cold(size_t blocks, size_t count) {
    struct machines machines = {0};
    struct comparison comparison = {0};
    set_up(&machines);
    watch(&machines);
    time_offer(&machines);
    for (int tries = 0; !can_continue(&machines); idle(&machines, 50))
        if (++tries > 200) fail(COLD_NAME, &(DBusError){.message = "not installed at the target"});
    time_by_hand(&machines);
    time_continuation(&machines);
    for (size_t block = 0; block < blocks; block++) {
        for (size_t index = 0; index < count; index++) {
            add(&comparison.subject, time_continuation(&machines));
            add(&comparison.echo, time_by_hand(&machines));
        }
        end_block(&comparison);
    }
    report(&comparison, "cold");
    return 0;
}
