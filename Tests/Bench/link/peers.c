// SPDX-License-Identifier: LGPL-2.1-or-later
// Devices that are not there: each has a certificate of its own and a link to a bridge that trusts it, and answers
// whatever it is asked with nothing.
#include "../bench.h"
#include "tls.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ID = 32, ENTRY = 16, GREETING = 24, RANDOM = 16 };

struct peer {
    GTlsCertificate *certificate;
    unsigned char id[ID];
    GIOStream *stream;
    dbus_uint32_t serial;
};

static void digest(GChecksum *checksum, unsigned char *bytes) {
    gsize size = ID;
    g_checksum_get_digest(checksum, bytes, &size);
    g_checksum_free(checksum);
}

// A device is known by the hash of its certificate.
static void identify(struct peer *peer, const char *path) {
    GByteArray *bytes = NULL;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    peer->certificate = certificate(path);
    g_object_get(peer->certificate, "certificate", &bytes, NULL);
    g_checksum_update(checksum, bytes->data, bytes->len);
    digest(checksum, peer->id);
    g_byte_array_unref(bytes);
}

// What two devices have in common that were told each other's ids.
static void common_key(const unsigned char *one, const unsigned char *other, unsigned char *key) {
    static const char label[] = "handoff trust 1";
    const bool is_first = memcmp(one, other, ID) < 0;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)label, sizeof label - 1);
    g_checksum_update(checksum, is_first ? one : other, ID);
    g_checksum_update(checksum, is_first ? other : one, ID);
    digest(checksum, key);
}

// What is said before TLS, as a device that is trusted.
static void knock(int descriptor, const struct peer *peer, const unsigned char *bridge) {
    static const char label[] = "handoff knock 2";
    static const unsigned char nowhere[18];
    unsigned char greeting[GREETING], answer[2 + RANDOM + ENTRY] = {1, 1}, key[ID], entry[ID];
    gsize size = sizeof entry;
    if (recv(descriptor, greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting) fail("the greeting", NULL);
    if (getrandom(answer + 2, RANDOM, 0) != RANDOM) fail("random bytes", NULL);
    common_key(peer->id, bridge, key);
    GHmac *hmac = g_hmac_new(G_CHECKSUM_SHA256, key, sizeof key);
    g_hmac_update(hmac, (const guchar *)label, sizeof label - 1);
    g_hmac_update(hmac, greeting + GREETING - RANDOM, RANDOM);
    g_hmac_update(hmac, answer + 2, RANDOM);
    g_hmac_update(hmac, peer->id, ID);
    g_hmac_update(hmac, nowhere, sizeof nowhere);
    g_hmac_get_digest(hmac, entry, &size);
    g_hmac_unref(hmac);
    memcpy(answer + 2 + RANDOM, entry, ENTRY);
    if (send(descriptor, answer, sizeof answer, 0) != sizeof answer) fail("the knock", NULL);
}

static void send_message(struct peer *peer, DBusMessage *message) {
    GError *error = NULL;
    char *bytes;
    int size;
    dbus_message_set_serial(message, ++peer->serial);
    if (!dbus_message_marshal(message, &bytes, &size)) fail("memory", NULL);
    g_output_stream_write_all(g_io_stream_get_output_stream(peer->stream), bytes, (gsize)size, NULL, NULL, &error);
    check(error, "writing");
    dbus_free(bytes);
    dbus_message_unref(message);
}

static void say_hello(struct peer *peer) {
    DBusMessage *hello = new_call(NULL, "/", "org.example.Handoff.Link", "Hello");
    DBusMessageIter arguments, about, entry, variant, secret;
    const char *key = "Secret";
    const dbus_uint32_t version = 1;
    const dbus_bool_t is_paired = TRUE;
    dbus_message_iter_init_append(hello, &arguments);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_UINT32, &version);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &about);
    append_entry(&about, "Paired", DBUS_TYPE_BOOLEAN, &is_paired);
    dbus_message_iter_open_container(&about, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "ay", &variant);
    dbus_message_iter_open_container(&variant, DBUS_TYPE_ARRAY, "y", &secret);
    dbus_message_iter_close_container(&variant, &secret);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&about, &entry);
    dbus_message_iter_close_container(&arguments, &about);
    send_message(peer, hello);
}

static void answer(struct peer *peer, dbus_uint32_t serial) {
    DBusMessage *reply = need(dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN));
    dbus_message_set_reply_serial(reply, serial);
    send_message(peer, reply);
}

// Reads the next message, and answers it if it is a call. What it says is not looked at: that would take time from the bridge.
// Returns its type, or DBUS_MESSAGE_TYPE_INVALID when the bridge has gone.
static int serve_once(struct peer *peer) {
    GInputStream *stream = g_io_stream_get_input_stream(peer->stream);
    char head[16], rest[1 << 14];
    gsize count = 0;
    dbus_uint32_t serial;
    if (!g_input_stream_read_all(stream, head, sizeof head, &count, NULL, NULL) || count < sizeof head)
        return DBUS_MESSAGE_TYPE_INVALID;
    const int size = dbus_message_demarshal_bytes_needed(head, sizeof head);
    if (head[0] != DBUS_LITTLE_ENDIAN || size < (int)sizeof head || size > 1 << 20) fail("what the bridge says", NULL);
    for (gsize left = (gsize)size - sizeof head, piece; left > 0; left -= piece) {
        piece = left < sizeof rest ? left : sizeof rest;
        read_all(stream, rest, piece);
    }
    memcpy(&serial, head + 8, sizeof serial);
    if (head[1] == DBUS_MESSAGE_TYPE_ERROR) fail("the bridge refuses what a device says", NULL);
    if (head[1] == DBUS_MESSAGE_TYPE_METHOD_CALL) answer(peer, serial);
    return head[1];
}

static void *serve(void *data) {
    struct peer *peer = data;
    while (serve_once(peer) != DBUS_MESSAGE_TYPE_INVALID) continue;
    // A bridge that ends a link in order waits for that.
    g_io_stream_close(peer->stream, NULL, NULL);
    return NULL;
}

static void trust(DBusConnection *bus, const char *id, const char *name) {
    DBusMessage *message = new_call(BROKER_NAME ".Bridge", BROKER_PATH "/Bridge", BROKER_NAME ".Bridge", "Trust");
    dbus_message_append_args(message, DBUS_TYPE_STRING, &id, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
    dbus_message_unref(call(bus, message));
}

static void link_to_bridge(struct peer *peer, DBusConnection *bus, unsigned short port, const unsigned char *bridge,
                           size_t number) {
    char id[2 * ID + 1], name[32];
    for (size_t index = 0; index < ID; index++) snprintf(id + 2 * index, 3, "%02x", peer->id[index]);
    snprintf(name, sizeof name, "peer %zu", number);
    trust(bus, id, name);
    const int descriptor = dial_from(port, (unsigned)(INADDR_LOOPBACK + 256 * number));
    knock(descriptor, peer, bridge);
    peer->stream = shake(descriptor, FALSE, peer->certificate);
    say_hello(peer);
    // The bridge says it too, as the first that it calls, once it has taken this for a link.
    for (int type = 0; type != DBUS_MESSAGE_TYPE_METHOD_CALL;) {
        type = serve_once(peer);
        if (type == DBUS_MESSAGE_TYPE_INVALID) fail("a link", &(DBusError){.message = "ended by the bridge"});
    }
    g_thread_unref(g_thread_new("peer", serve, peer));
}

static void read_id(const char *text, unsigned char *id) {
    for (size_t index = 0; index < ID; index++)
        if (sscanf(text + 2 * index, "%2hhx", &id[index]) != 1) fail(text, NULL);
}

int main(int count, char **arguments) {
    unsigned char bridge[ID];
    signal(SIGPIPE, SIG_IGN);
    choose_ciphers();
    if (count < 4 || strlen(arguments[2]) != (size_t)2 * ID) {
        fputs("Usage: peers PORT ID CERTIFICATE…\n"
              "Links a device with each certificate to the bridge with this port and id, says so, and keeps the links\n"
              "until the end of its input. The bridge is the one of this session.\n", stderr);
        return 2;
    }
    read_id(arguments[2], bridge);
    DBusConnection *bus = connect_to_bus(NULL);
    struct peer *peers = need(calloc((size_t)count, sizeof *peers));
    for (int index = 3; index < count; index++) {
        identify(&peers[index], arguments[index]);
        link_to_bridge(&peers[index], bus, (unsigned short)atoi(arguments[1]), bridge, (size_t)index);
    }
    printf("linked\n");
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    return 0;
}
