// SPDX-License-Identifier: LGPL-2.1-or-later
// What very many types and activities cost.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The most that one registration may declare (H3).
static const size_t types_each = 250;
// A string in UserInfo of each activity, which does not count as memory that Handoff takes.
static const size_t payload = 1000;

// As many as a process may have with full quotas (H3).
static const size_t clients_each = 4;

double memory_of(const char *process, const char *kind) {
    char path[64], line[256], format[64];
    double size = -1;
    snprintf(path, sizeof path, "/proc/%s/smaps_rollup", process);
    snprintf(format, sizeof format, "%s: %%lu", kind);
    FILE *file = fopen(path, "r");
    if (!file) fail(path, NULL);
    while (fgets(line, sizeof line, file)) {
        unsigned long kibibytes;
        if (sscanf(line, format, &kibibytes) == 1) size = (double)kibibytes * 1024;
    }
    fclose(file);
    if (size < 0) fail(path, NULL);
    return size;
}

static void append_types(DBusMessageIter *arguments, size_t first, size_t count) {
    const char *id = "org.example.Bench", *path = "/";
    DBusMessageIter types;
    dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &id);
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "s", &types);
    for (size_t index = 0; index < count; index++) {
        char text[64];
        const char *type = text;
        snprintf(text, sizeof text, "org.example.Bench.type%zu", first + index);
        dbus_message_iter_append_basic(&types, DBUS_TYPE_STRING, &type);
    }
    dbus_message_iter_close_container(arguments, &types);
    dbus_message_iter_append_basic(arguments, DBUS_TYPE_OBJECT_PATH, &path);
    append_empty(arguments, "{sv}");
}

void register_types(DBusConnection *bus, size_t first, size_t count) {
    DBusMessageIter arguments;
    DBusMessage *message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "RegisterApplication");
    dbus_message_iter_init_append(message, &arguments);
    append_types(&arguments, first, count);
    dbus_message_unref(call(bus, message));
}

int measure_types(size_t count) {
    const size_t connections = (count + types_each - 1) / types_each;
    DBusConnection **buses = need(calloc(connections, sizeof *buses));
    // Who a connection is, is looked up with its first call.
    for (size_t index = 0; index < connections; index++) register_types(buses[index] = connect_to_bus(NULL), 0, 1);
    const double begin = now();
    for (size_t index = 0; index < connections; index++) {
        const size_t rest = count - index * types_each;
        register_types(buses[index], index * types_each, rest < types_each ? rest : types_each);
    }
    printf("types %.3f\n", now() - begin);
    return 0;
}

DBusMessage *new_creation(size_t size) {
    char *text = need(malloc(size + 1));
    const char *key = "UserInfo", *value = text, *first = "";
    DBusMessageIter arguments, properties, entry, variant, user_info;
    memset(text, 'x', size);
    text[size] = 0;
    DBusMessage *message = new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "CreateActivity");
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_STRING, &first);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &properties);
    dbus_message_iter_open_container(&properties, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "a{sv}", &variant);
    dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "{sv}", &user_info);
    append_entry(&user_info, "text", DBUS_TYPE_STRING, &value);
    dbus_message_iter_close_container(&variant, &user_info);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&properties, &entry);
    dbus_message_iter_close_container(&arguments, &properties);
    free(text);
    return message;
}

// Set before there are children.
static size_t activities_each;

// First registers its clients, then has them create.
static void crowd(size_t number, struct child *child) {
    DBusConnection *buses[clients_each];
    (void)number;
    await_order(child);
    for (size_t client = 0; client < clients_each; client++) register_types(buses[client] = connect_to_bus(NULL), 0, 1);
    report_done(child, clients_each);
    await_order(child);
    for (size_t client = 0; client < clients_each; client++)
        for (size_t index = 0; index < activities_each; index++)
            dbus_message_unref(call(buses[client], new_creation(payload)));
    report_done(child, 0);
    await_order(child);
}

int measure_crowd(size_t clients, size_t activities, const char *broker) {
    activities_each = activities;
    struct children children = begin_children((clients + clients_each - 1) / clients_each, crowd);
    const double empty = memory_of(broker, "Private_Dirty"), all = (double)order_step(&children);
    const double registered = memory_of(broker, "Private_Dirty"), begin = now();
    order_step(&children);
    const double count = all * (double)activities, time = now() - begin, full = memory_of(broker, "Private_Dirty");
    end_children(&children);
    printf("crowd %.2f %.2f %.3f\n", (registered - empty) / all / 1024,
           ((full - registered) / count - (double)payload) / 1024, time / count);
    return 0;
}
