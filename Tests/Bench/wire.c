// SPDX-License-Identifier: LGPL-2.1-or-later
// A client's socket to the broker, past the bus daemon: Manager.Open.
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct wire {
    int descriptor;
    dbus_uint32_t serial;
    char *bytes;
    size_t length, capacity;
};

struct wire *open_wire(DBusConnection *bus) {
    DBusError error = DBUS_ERROR_INIT;
    struct wire *wire = need(calloc(1, sizeof *wire));
    DBusMessage *reply = call(bus, new_call(BROKER_NAME, BROKER_PATH, BROKER_NAME ".Manager", "Open"));
    if (!dbus_message_get_args(reply, &error, DBUS_TYPE_UNIX_FD, &wire->descriptor, DBUS_TYPE_INVALID))
        fail("Open", &error);
    dbus_message_unref(reply);
    return wire;
}

int descriptor_of(const struct wire *wire) { return wire->descriptor; }

dbus_uint32_t send_by(struct wire *wire, DBusMessage *message) {
    char *bytes;
    int length;
    dbus_message_set_serial(message, ++wire->serial);
    if (!dbus_message_marshal(message, &bytes, &length)) fail("memory", NULL);
    if (send(wire->descriptor, bytes, (size_t)length, MSG_NOSIGNAL) != length) fail("a socket to the broker", NULL);
    dbus_free(bytes);
    return wire->serial;
}

DBusMessage *next_from(struct wire *wire) {
    for (;;) {
        const int needed = wire->length < DBUS_MINIMUM_HEADER_SIZE
                               ? 0
                               : dbus_message_demarshal_bytes_needed(wire->bytes, (int)wire->length);
        if (needed < 0) fail("what came by a socket", NULL);
        if (needed > 0 && wire->length >= (size_t)needed) {
            DBusError error = DBUS_ERROR_INIT;
            DBusMessage *message = dbus_message_demarshal(wire->bytes, needed, &error);
            if (!message) fail("what came by a socket", &error);
            wire->length -= (size_t)needed;
            memmove(wire->bytes, wire->bytes + needed, wire->length);
            return message;
        }
        if (wire->capacity - wire->length < 1 << 16)
            wire->bytes = need(realloc(wire->bytes, wire->capacity = wire->length + (1 << 17)));
        const ssize_t got =
            recv(wire->descriptor, wire->bytes + wire->length, wire->capacity - wire->length, MSG_DONTWAIT);
        if (got == 0) fail("the broker has ended a socket", NULL);
        if (got < 0) return NULL;
        wire->length += (size_t)got;
    }
}
