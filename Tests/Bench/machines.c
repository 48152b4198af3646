// SPDX-License-Identifier: LGPL-2.1-or-later
// One program that is an application on each of two machines, so that one clock sees both ends.
#include "bench.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What arrives.

static void keep_continuation(struct machines *machines, DBusMessage *call) {
    DBusMessageIter arguments, context, entry, value;
    if (!dbus_message_iter_init(call, &arguments) || !dbus_message_iter_next(&arguments)) return;
    for (dbus_message_iter_recurse(&arguments, &context); dbus_message_iter_get_arg_type(&context) != DBUS_TYPE_INVALID;
         dbus_message_iter_next(&context)) {
        const char *key, *path;
        dbus_message_iter_recurse(&context, &entry);
        dbus_message_iter_get_basic(&entry, &key);
        if (strcmp(key, "Continuation") != 0) continue;
        dbus_message_iter_next(&entry);
        dbus_message_iter_recurse(&entry, &value);
        dbus_message_iter_get_basic(&value, &path);
        free(machines->continuation);
        machines->continuation = need(strdup(path));
    }
}

static void take_stream(struct machines *machines, DBusMessage *call) {
    const char *activity;
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_message_get_args(call, &error, DBUS_TYPE_OBJECT_PATH, &activity, DBUS_TYPE_UNIX_FD,
                               &machines->stream[ORIGIN], DBUS_TYPE_INVALID))
        fail("DidReceiveStream", &error);
    if (write(machines->stream[ORIGIN], "!", 1) != 1) fail("writing to the stream", NULL);
}

static void answer(struct machines *machines, enum side side, DBusMessage *call) {
    DBusMessage *reply = need(dbus_message_new_method_return(call));
    DBusMessageIter arguments;
    dbus_message_iter_init_append(reply, &arguments);
    const bool is_will_continue = dbus_message_has_member(call, "WillContinueActivity");
    if (dbus_message_has_member(call, "WillSave")) {
        append_properties(&arguments);
        machines->saved = true;
        machines->asked = now();
    } else if (dbus_message_has_member(call, "WasContinued")) {
        machines->continued = true;
        machines->told = now();
    } else if (dbus_message_has_member(call, "DidReceiveStream")) {
        take_stream(machines, call);
    } else if (is_will_continue || dbus_message_has_member(call, "ContinueActivity")) {
        *(is_will_continue ? &machines->announced : &machines->arrived) = now();
        if (!is_will_continue) keep_continuation(machines, call);
        const dbus_bool_t shows_or_handled = !is_will_continue;
        dbus_message_iter_append_basic(&arguments, DBUS_TYPE_BOOLEAN, &shows_or_handled);
    }
    dbus_connection_send(machines->bus[side], reply, NULL);
    dbus_message_unref(reply);
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// The path of an offer ends with the id of the activity, as the path of the activity does.
static void changed(struct machines *machines, DBusMessage *signal) {
    DBusMessageIter arguments;
    const char *path = "";
    if (dbus_message_iter_init(signal, &arguments)) dbus_message_iter_get_basic(&arguments, &path);
    if (dbus_message_has_member(signal, "InterfacesRemoved")) {
        if (strstr(path, "/continuations/")) machines->let_go = true;
    } else if (machines->activity && strstr(path, "/remote/") && ends_with(path, strrchr(machines->activity, '/'))) {
        machines->seen = now();
        free(machines->offer);
        machines->offer = need(strdup(path));
    }
}

static void finished(struct machines *machines, DBusMessage *signal) {
    const char *application, *name, *message;
    DBusError error = DBUS_ERROR_INIT;
    if (!dbus_message_get_args(signal, &error, DBUS_TYPE_STRING, &application, DBUS_TYPE_STRING, &name,
                               DBUS_TYPE_STRING, &message, DBUS_TYPE_INVALID))
        fail("ContinueFinished", &error);
    if (*name) fail(message, NULL);
    machines->finished = true;
}

// The cold application has got its name, or lost it.
static void owner_changed(struct machines *machines, DBusMessage *signal) {
    const char *name, *former, *owner;
    if (dbus_message_get_args(signal, NULL, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &former, DBUS_TYPE_STRING, &owner,
                              DBUS_TYPE_INVALID) &&
        strcmp(name, COLD_NAME) == 0)
        machines->owned = *owner ? now() : 0;
}

static void received(struct machines *machines, enum side side, DBusMessage *message) {
    switch (dbus_message_get_type(message)) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: answer(machines, side, message); break;
    case DBUS_MESSAGE_TYPE_SIGNAL:
        if (side == TARGET && dbus_message_has_interface(message, "org.freedesktop.DBus.ObjectManager"))
            changed(machines, message);
        else if (dbus_message_is_signal(message, BROKER_NAME ".RemoteActivity", "ContinueFinished"))
            finished(machines, message);
        else if (dbus_message_is_signal(message, DBUS_INTERFACE_DBUS, "NameOwnerChanged"))
            owner_changed(machines, message);
        else if (dbus_message_is_signal(message, COLD_NAME, "Arrived"))
            machines->arrived = now();
        else if (side == TARGET && dbus_message_is_signal(message, SHARE_INTERFACE, "shareReceived"))
            machines->shared = now();
        break;
    case DBUS_MESSAGE_TYPE_ERROR: {
        DBusError error = DBUS_ERROR_INIT;
        dbus_set_error_from_message(&error, message);
        fail(dbus_message_get_error_name(message), &error);
    }
    default:
        if (dbus_message_get_reply_serial(message) == machines->serial[side])
            machines->reply[side] = dbus_message_ref(message);
    }
}

// Waiting.

static void drain(struct machines *machines, enum side side) {
    DBusConnection *bus = machines->bus[side];
    if (!dbus_connection_read_write(bus, 0)) fail("a bus has gone", NULL);
    for (DBusMessage *message; (message = dbus_connection_pop_message(bus));) {
        received(machines, side, message);
        dbus_message_unref(message);
    }
}

// Serves both buses until there is something on one of them, or the first byte of the stream, or the time has come.
static void serve(struct machines *machines, double end) {
    struct pollfd sockets[SIDES + 1];
    for (enum side side = ORIGIN; side < SIDES; side++) {
        sockets[side] = (struct pollfd){.events = POLLIN};
        dbus_connection_get_unix_fd(machines->bus[side], &sockets[side].fd);
        if (dbus_connection_has_messages_to_send(machines->bus[side])) sockets[side].events |= POLLOUT;
    }
    struct pollfd *stream = &sockets[SIDES];
    *stream = (struct pollfd){.fd = machines->greeted == 0 ? machines->stream[TARGET] : -1, .events = POLLIN};
    const double left = end - now();
    if (poll(sockets, SIDES + 1, left > 0 ? (int)left + 1 : 0) < 0 && errno != EINTR) fail("poll", NULL);
    if (stream->fd >= 0 && stream->revents) machines->greeted = now();
    for (enum side side = ORIGIN; side < SIDES; side++)
        if (sockets[side].revents) drain(machines, side);
}

void await(struct machines *machines, bool (*holds)(const struct machines *machines), const char *what) {
    const double end = now() + 10000;
    // What a blocking call has left in the queues is not seen by poll.
    for (enum side side = ORIGIN; side < SIDES; side++) drain(machines, side);
    while (!holds(machines)) {
        if (now() > end) fail(what, &(DBusError){.message = "not within ten seconds"});
        serve(machines, end);
    }
}

void idle(struct machines *machines, double time) {
    const double end = now() + time;
    while (now() < end) serve(machines, end);
}

static bool is_answered(const struct machines *machines) {
    return !(machines->serial[ORIGIN] && !machines->reply[ORIGIN]) &&
           !(machines->serial[TARGET] && !machines->reply[TARGET]);
}

DBusMessage *ask(struct machines *machines, enum side side, DBusMessage *message) {
    if (!dbus_connection_send(machines->bus[side], message, &machines->serial[side])) fail("memory", NULL);
    await(machines, is_answered, dbus_message_get_member(message));
    dbus_message_unref(message);
    DBusMessage *reply = machines->reply[side];
    machines->serial[side] = 0;
    machines->reply[side] = NULL;
    return reply;
}

// Beginning.

void set_up(struct machines *machines) {
    const char *const addresses[] = {getenv("BENCH_ORIGIN"), getenv("BENCH_TARGET")};
    for (enum side side = ORIGIN; side < SIDES; side++) {
        machines->stream[side] = -1;
        if (!addresses[side]) fail("BENCH_ORIGIN and BENCH_TARGET", NULL);
        machines->bus[side] = connect_to_bus(addresses[side]);
    }
    for (enum side side = ORIGIN; side < SIDES; side++) {
        DBusMessageIter arguments;
        DBusMessage *message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "RegisterApplication");
        dbus_message_iter_init_append(message, &arguments);
        append_registration(&arguments);
        dbus_message_unref(ask(machines, side, message));
    }
    // From here on the target is told of offers.
    dbus_message_unref(ask(machines, TARGET,
                           new_call(BROKER_NAME, BROKER_PATH, "org.freedesktop.DBus.ObjectManager",
                                    "GetManagedObjects")));
}
