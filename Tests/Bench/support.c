// SPDX-License-Identifier: LGPL-2.1-or-later
// Building messages, calling, and the clock.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void fail(const char *what, const DBusError *error) {
    fprintf(stderr, "bench: %s: %s\n", what, error && error->message ? error->message : "failed");
    exit(1);
}

void *need(void *pointer) {
    if (!pointer) fail("memory", NULL);
    return pointer;
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

DBusConnection *connect_to_bus(const char *address) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *bus =
        address ? dbus_connection_open_private(address, &error) : dbus_bus_get_private(DBUS_BUS_SESSION, &error);
    if (!bus || (address && !dbus_bus_register(bus, &error))) fail(address ? address : "the session bus", &error);
    return bus;
}

DBusMessage *new_call(const char *name, const char *path, const char *interface, const char *member) {
    return need(dbus_message_new_method_call(name, path, interface, member));
}

DBusMessage *call(DBusConnection *bus, DBusMessage *message) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, 10000, &error);
    if (!reply) fail(dbus_message_get_member(message), &error);
    dbus_message_unref(message);
    return reply;
}

// Arguments.

void append_empty(DBusMessageIter *arguments, const char *element) {
    DBusMessageIter array;
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, element, &array);
    dbus_message_iter_close_container(arguments, &array);
}

void append_entry(DBusMessageIter *dictionary, const char *key, int type, const void *value) {
    DBusMessageIter entry, variant;
    const char signature[] = {(char)type, 0};
    dbus_message_iter_open_container(dictionary, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, signature, &variant);
    dbus_message_iter_append_basic(&variant, type, value);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(dictionary, &entry);
}

void append_properties(DBusMessageIter *arguments) {
    static dbus_uint32_t page = 0;
    DBusMessageIter properties, entry, variant, user_info;
    const char *key = "UserInfo", *document = "The Origin of Species";
    const double zoom = 1.25;
    const dbus_bool_t bookmarked = TRUE;
    page++;
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "{sv}", &properties);
    dbus_message_iter_open_container(&properties, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "a{sv}", &variant);
    dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "{sv}", &user_info);
    append_entry(&user_info, "document", DBUS_TYPE_STRING, &document);
    append_entry(&user_info, "page", DBUS_TYPE_UINT32, &page);
    append_entry(&user_info, "zoom", DBUS_TYPE_DOUBLE, &zoom);
    append_entry(&user_info, "bookmarked", DBUS_TYPE_BOOLEAN, &bookmarked);
    dbus_message_iter_close_container(&variant, &user_info);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&properties, &entry);
    dbus_message_iter_close_container(arguments, &properties);
}

void append_registration(DBusMessageIter *arguments) {
    const char *id = "org.example.Bench", *type = "org.example.Bench.edit", *path = "/";
    DBusMessageIter types;
    dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &id);
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "s", &types);
    dbus_message_iter_append_basic(&types, DBUS_TYPE_STRING, &type);
    dbus_message_iter_close_container(arguments, &types);
    dbus_message_iter_append_basic(arguments, DBUS_TYPE_OBJECT_PATH, &path);
    append_empty(arguments, "{sv}");
}

void append_creation(DBusMessageIter *arguments) {
    const char *first = "";
    dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &first);
    append_empty(arguments, "{sv}");
}

char *created_path(DBusMessage *reply) {
    DBusError error = DBUS_ERROR_INIT;
    const char *path;
    if (!dbus_message_get_args(reply, &error, DBUS_TYPE_OBJECT_PATH, &path, DBUS_TYPE_INVALID))
        fail("CreateActivity", &error);
    char *result = need(strdup(path));
    dbus_message_unref(reply);
    return result;
}

// Round trips.

double time_call(DBusConnection *bus, const char *name, const char *path, const char *interface, const char *member) {
    const double begin = now();
    DBusMessage *message = new_call(name, path, interface, member);
    DBusMessageIter arguments;
    dbus_message_iter_init_append(message, &arguments);
    append_properties(&arguments);
    DBusMessage *reply = call(bus, message);
    const double end = now();
    dbus_message_unref(reply);
    return end - begin;
}

double time_echo(DBusConnection *bus) { return time_call(bus, ECHO_NAME, "/", ECHO_NAME, "Echo"); }
