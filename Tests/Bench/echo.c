// SPDX-License-Identifier: LGPL-2.1-or-later
// The least that any service can do: it answers with what it was sent.
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static void copy(DBusMessageIter *from, DBusMessageIter *to) {
    for (int type; (type = dbus_message_iter_get_arg_type(from)) != DBUS_TYPE_INVALID; dbus_message_iter_next(from)) {
        if (dbus_type_is_basic(type)) {
            DBusBasicValue value;
            dbus_message_iter_get_basic(from, &value);
            dbus_message_iter_append_basic(to, type, &value);
            continue;
        }
        DBusMessageIter inner_from, inner_to;
        dbus_message_iter_recurse(from, &inner_from);
        char *signature = NULL;
        if (type == DBUS_TYPE_VARIANT) {
            signature = dbus_message_iter_get_signature(&inner_from);
        } else if (type == DBUS_TYPE_ARRAY) {
            char *whole = dbus_message_iter_get_signature(from);
            signature = strdup(whole + 1);
            dbus_free(whole);
        }
        dbus_message_iter_open_container(to, type, signature, &inner_to);
        copy(&inner_from, &inner_to);
        dbus_message_iter_close_container(to, &inner_to);
        type == DBUS_TYPE_ARRAY ? free(signature) : dbus_free(signature);
    }
}

static DBusHandlerResult answer(DBusConnection *bus, DBusMessage *call, void *data) {
    (void)data;
    if (!dbus_message_is_method_call(call, ECHO_NAME, "Echo")) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    DBusMessage *reply = need(dbus_message_new_method_return(call));
    DBusMessageIter from, to;
    dbus_message_iter_init(call, &from);
    dbus_message_iter_init_append(reply, &to);
    copy(&from, &to);
    dbus_connection_send(bus, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

int serve_echo(void) {
    DBusConnection *bus = connect_to_bus(NULL);
    DBusObjectPathVTable table = {.message_function = answer};
    dbus_connection_register_object_path(bus, "/", &table, NULL);
    DBusError error = DBUS_ERROR_INIT;
    if (dbus_bus_request_name(bus, ECHO_NAME, DBUS_NAME_FLAG_DO_NOT_QUEUE, &error) < 0) fail(ECHO_NAME, &error);
    while (dbus_connection_read_write_dispatch(bus, -1)) {}
    return 0;
}
