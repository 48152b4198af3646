// SPDX-License-Identifier: LGPL-2.1-or-later
// TLS by GIO between two applications that have no more of it than a socket, as those of a stream have.
#include "../bench.h"
#include "../link/tls.h"
#include "streams.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// What one thread does.
struct part {
    size_t size;
    // The listener, for who accepts.
    int listener;
    // The side of a socket pair that it reads or writes.
    int descriptor;
    GTlsCertificate *certificate;
    GIOStream *stream;
    // What it has taken of the processors, in ns.
    double cost;
};

static double thread_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// From a socket into TLS, once it has said that it is ready with a first byte.
static void *encrypt(void *data) {
    struct part *part = data;
    GError *error = NULL;
    static unsigned char chunk[CHUNK];
    part->stream = shake(accept_next(part->listener), TRUE, part->certificate);
    GOutputStream *output = g_io_stream_get_output_stream(part->stream);
    g_output_stream_write_all(output, "!", 1, NULL, NULL, &error);
    const double begin = thread_time();
    for (size_t count = 0; !error && count < part->size;) {
        const ssize_t more = read(part->descriptor, chunk, CHUNK);
        if (more <= 0) fail("reading from a socket", NULL);
        g_output_stream_write_all(output, chunk, (gsize)more, NULL, NULL, &error);
        count += (size_t)more;
    }
    check(error, "writing");
    part->cost = thread_time() - begin;
    return NULL;
}

// From TLS into a socket.
static void *decrypt(void *data) {
    struct part *part = data;
    GError *error = NULL;
    static unsigned char chunk[CHUNK];
    GInputStream *input = g_io_stream_get_input_stream(part->stream);
    const double begin = thread_time();
    for (size_t count = 0; count < part->size;) {
        const gssize more = g_input_stream_read(input, chunk, CHUNK, NULL, &error);
        check(error, "reading");
        if (more == 0) fail("reading", NULL);
        write_all(part->descriptor, chunk, (size_t)more, "writing to a socket");
        count += (size_t)more;
    }
    part->cost = thread_time() - begin;
    return NULL;
}

// The application that writes.
static void *write_socket(void *data) {
    static unsigned char chunk[CHUNK];
    const struct part *part = data;
    for (size_t size = 0; size < part->size; size += CHUNK)
        write_all(part->descriptor, chunk, CHUNK, "writing to a socket");
    return NULL;
}

// The application that reads, which is this thread.
static void read_socket(int descriptor, size_t size) {
    static unsigned char chunk[CHUNK];
    for (size_t count = 0; count < size;) {
        const ssize_t more = read(descriptor, chunk, CHUNK);
        if (more <= 0 && errno != EINTR) fail("reading from a socket", NULL);
        if (more > 0) count += (size_t)more;
    }
}

static void finish(struct part *part) {
    g_io_stream_close(part->stream, NULL, NULL);
    g_object_unref(part->stream);
}

struct result measure_piped(size_t size, GTlsCertificate *certificate) {
    unsigned short port;
    char byte;
    int near[2], far[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, near) || socketpair(AF_UNIX, SOCK_STREAM, 0, far)) fail("socketpair", NULL);
    struct part sender = {.size = size, .descriptor = near[1], .certificate = certificate};
    sender.listener = listen_on_loopback(&port);
    struct part writer = {.size = size, .descriptor = near[0]}, receiver = {.size = size, .descriptor = far[0]};
    GThread *const encrypting = g_thread_new("encrypting", encrypt, &sender);
    receiver.stream = shake(dial(port), FALSE, certificate);
    read_all(g_io_stream_get_input_stream(receiver.stream), &byte, 1);
    const double begin = now();
    GThread *const writing = g_thread_new("writing", write_socket, &writer);
    GThread *const decrypting = g_thread_new("decrypting", decrypt, &receiver);
    read_socket(far[1], size);
    const double time = now() - begin;
    g_thread_join(writing);
    g_thread_join(encrypting);
    g_thread_join(decrypting);
    finish(&sender);
    finish(&receiver);
    const int descriptors[] = {near[0], near[1], far[0], far[1], sender.listener};
    for (size_t index = 0; index < sizeof descriptors / sizeof *descriptors; index++) close(descriptors[index]);
    return (struct result){.speed = (double)size / time / 1e3, .cost = (sender.cost + receiver.cost) / (double)size};
}
