// SPDX-License-Identifier: LGPL-2.1-or-later
// How long it takes from nothing to a link, beside no more than TCP and a TLS handshake by GIO.
#include "../bench.h"
#include "tls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

// A bridge takes two strangers a second.
static const useconds_t rest = 510000;

static void finish(GIOStream *stream) {
    g_io_stream_close(stream, NULL, NULL);
    g_object_unref(stream);
}

// Prints its port, and answers each handshake with one byte.
static _Noreturn void serve(const char *path) {
    GTlsCertificate *own = certificate(path);
    unsigned short port;
    const int listener = listen_on_loopback(&port);
    printf("%d\n", port);
    fflush(stdout);
    for (;;) {
        GIOStream *stream = shake(accept_next(listener), TRUE, own);
        char byte = 1;
        g_output_stream_write_all(g_io_stream_get_output_stream(stream), &byte, 1, NULL, NULL, NULL);
        g_input_stream_read(g_io_stream_get_input_stream(stream), &byte, 1, NULL, NULL);
        finish(stream);
    }
}

// From nothing until the other side has shown that it has finished the handshake too.
static double time_handshake(unsigned short port, GTlsCertificate *own) {
    const double begin = now();
    GIOStream *stream = shake(dial(port), FALSE, own);
    char byte;
    read_all(g_io_stream_get_input_stream(stream), &byte, 1);
    const double time = now() - begin;
    finish(stream);
    return time;
}

// What is said before TLS, as a stranger.
static void knock(int descriptor) {
    unsigned char greeting[24], answer[34] = {1, 1};
    if (recv(descriptor, greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting) fail("the greeting", NULL);
    if (getrandom(answer + 2, 32, 0) != 32 || send(descriptor, answer, sizeof answer, 0) != sizeof answer)
        fail("the knock", NULL);
}

static void say_hello(GIOStream *stream) {
    GError *error = NULL;
    DBusMessage *hello = need(dbus_message_new_method_call(NULL, "/", "org.example.Handoff.Link", "Hello"));
    DBusMessageIter arguments, about;
    const dbus_uint32_t version = 1;
    const dbus_bool_t is_paired = FALSE;
    dbus_message_iter_init_append(hello, &arguments);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_UINT32, &version);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &about);
    append_entry(&about, "Paired", DBUS_TYPE_BOOLEAN, &is_paired);
    dbus_message_iter_close_container(&arguments, &about);
    dbus_message_set_serial(hello, 1);
    char *bytes;
    int size;
    if (!dbus_message_marshal(hello, &bytes, &size)) fail("memory", NULL);
    g_output_stream_write_all(g_io_stream_get_output_stream(stream), bytes, (gsize)size, NULL, NULL, &error);
    check(error, "writing");
    dbus_free(bytes);
    dbus_message_unref(hello);
}

// Whether the next message is the answer.
static bool read_answer(GInputStream *stream) {
    char bytes[4096];
    DBusError error = DBUS_ERROR_INIT;
    read_all(stream, bytes, 16);
    const int size = dbus_message_demarshal_bytes_needed(bytes, 16);
    if (size < 16 || size > (int)sizeof bytes) fail("what the bridge says is too long", NULL);
    read_all(stream, bytes + 16, (gsize)size - 16);
    DBusMessage *message = dbus_message_demarshal(bytes, size, &error);
    if (!message) fail("what the bridge says", &error);
    if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_ERROR) fail("Hello was refused", NULL);
    const bool is_answer = dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_RETURN;
    dbus_message_unref(message);
    return is_answer;
}

// From nothing until Hello is answered.
static double time_link(unsigned short port, GTlsCertificate *own) {
    const double begin = now();
    const int descriptor = dial(port);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    knock(descriptor);
    GIOStream *stream = shake(descriptor, FALSE, own);
    say_hello(stream);
    while (!read_answer(g_io_stream_get_input_stream(stream))) continue;
    const double time = now() - begin;
    finish(stream);
    return time;
}

static int measure(size_t blocks, size_t count, unsigned short reference, unsigned short bridge, const char *path) {
    GTlsCertificate *own = certificate(path);
    struct comparison comparison = {0};
    // The first block warms both up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) comparison = (struct comparison){0};
        for (size_t index = 0; index < 2 * count; index++) {
            usleep(rest);
            if (index % 2 == block % 2) add(&comparison.echo, time_handshake(reference, own));
            else add(&comparison.subject, time_link(bridge, own));
        }
        end_block(&comparison);
    }
    report(&comparison, "links");
    return 0;
}

static const char usage[] =
    "Usage:\n"
    "  links serve CERTIFICATE                           prints a port, and shakes hands there\n"
    "  links measure BLOCKS COUNT PORT BRIDGE CERTIFICATE   times links, in turn with handshakes at PORT\n"
    "CERTIFICATE is a file with a certificate and its key. BRIDGE is the port of a discoverable bridge.\n";

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    choose_ciphers();
    if (count == 3 && strcmp(arguments[1], "serve") == 0) serve(arguments[2]);
    if (count == 7 && strcmp(arguments[1], "measure") == 0)
        return measure((size_t)atoi(arguments[2]), (size_t)atoi(arguments[3]), (unsigned short)atoi(arguments[4]),
                       (unsigned short)atoi(arguments[5]), arguments[6]);
    fputs(usage, stderr);
    return 2;
}
