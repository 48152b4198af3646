// SPDX-License-Identifier: LGPL-2.1-or-later
// How fast one stream is, from application to application, and what both bridges take for it, beside TLS by GIO alone.
#include "../bench.h"
#include "../link/tls.h"
#include "streams.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// What a thread writes, and a connection that nobody has accepted yet if that is TLS.
struct source {
    size_t size;
    int descriptor;
    GTlsCertificate *certificate;
};

static unsigned char written[CHUNK], arrived[CHUNK];

static double processor_time(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time)) fail("the clock of a process", NULL);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

double processor_time_of(const pid_t *processes, size_t count) {
    double sum = 0;
    for (size_t index = 0; index < count; index++) {
        clockid_t clock;
        if (clock_getcpuclockid(processes[index], &clock)) fail("the clock of a daemon", NULL);
        sum += processor_time(clock);
    }
    return sum;
}

static struct result result(size_t size, double time, double processor) {
    return (struct result){.speed = (double)size / time / 1e3, .cost = processor / (double)size};
}

void write_all(int descriptor, const void *bytes, size_t size, const char *what) {
    for (size_t place = 0; place < size;) {
        const ssize_t count = write(descriptor, (const char *)bytes + place, size - place);
        if (count < 0 && errno != EINTR) fail(what, &(DBusError){.message = g_strerror(errno)});
        if (count > 0) place += (size_t)count;
    }
}

static void *write_stream(void *data) {
    const struct source *source = data;
    for (size_t size = 0; size < source->size; size += CHUNK)
        write_all(source->descriptor, written, CHUNK, "writing to the stream");
    return NULL;
}

double move_through_stream(struct machines *machines, size_t size) {
    time_opening(machines);
    struct source source = {.size = size, .descriptor = machines->stream[ORIGIN]};
    const double begin = now();
    GThread *writer = g_thread_new("writer", write_stream, &source);
    for (size_t count = 0; count < size;) {
        const ssize_t more = read(machines->stream[TARGET], arrived, CHUNK);
        if (more <= 0) fail("reading from the stream", NULL);
        count += (size_t)more;
    }
    const double time = now() - begin;
    g_thread_join(writer);
    close_stream(machines);
    return time;
}

static struct result measure_stream(struct machines *machines, size_t size, const pid_t bridges[2]) {
    const double processor = processor_time_of(bridges, 2), time = move_through_stream(machines, size);
    return result(size, time, processor_time_of(bridges, 2) - processor);
}

// Says that it is ready with a first byte.
static void *write_tls(void *data) {
    const struct source *source = data;
    GError *error = NULL;
    GIOStream *stream = shake(accept_next(source->descriptor), TRUE, source->certificate);
    GOutputStream *output = g_io_stream_get_output_stream(stream);
    g_output_stream_write_all(output, "!", 1, NULL, NULL, &error);
    for (size_t size = 0; !error && size < source->size; size += CHUNK)
        g_output_stream_write_all(output, written, CHUNK, NULL, NULL, &error);
    check(error, "writing");
    return stream;
}

static struct result measure_tls(size_t size, GTlsCertificate *certificate) {
    unsigned short port;
    struct source source = {.size = size, .descriptor = listen_on_loopback(&port), .certificate = certificate};
    GThread *writer = g_thread_new("writer", write_tls, &source);
    GIOStream *stream = shake(dial(port), FALSE, certificate);
    GInputStream *input = g_io_stream_get_input_stream(stream);
    read_all(input, arrived, 1);
    const double processor = processor_time(CLOCK_PROCESS_CPUTIME_ID), begin = now();
    for (size_t count = 0; count < size;) {
        GError *error = NULL;
        const gssize more = g_input_stream_read(input, arrived, CHUNK, NULL, &error);
        check(error, "reading");
        if (more == 0) fail("reading", NULL);
        count += (size_t)more;
    }
    const struct result measured = result(size, now() - begin, processor_time(CLOCK_PROCESS_CPUTIME_ID) - processor);
    GIOStream *const ends[] = {g_thread_join(writer), stream};
    for (int end = 0; end < 2; end++) {
        g_io_stream_close(ends[end], NULL, NULL);
        g_object_unref(ends[end]);
    }
    close(source.descriptor);
    return measured;
}

// One block of all three, each of which goes first in every third. "Speed" and "cost" are of the stream beside TLS that
// applications speak themselves, and beside TLS that they have a socket to.
static void measure_block(struct machines *machines, size_t block, size_t size, GTlsCertificate *own,
                          const pid_t bridges[2], struct comparison speed[2], struct comparison cost[2]) {
    for (size_t turn = 0; turn < 3; turn++) {
        const size_t what = (turn + block) % 3;
        const struct result measured = what == 0   ? measure_stream(machines, size, bridges)
                                       : what == 1 ? measure_tls(size, own)
                                                   : measure_piped(size, own);
        for (size_t other = 0; other < 2; other++) {
            if (what != 0 && what != other + 1) continue;
            add(what == 0 ? &speed[other].subject : &speed[other].echo, measured.speed);
            add(what == 0 ? &cost[other].subject : &cost[other].echo, measured.cost);
        }
    }
    for (size_t other = 0; other < 2; other++) {
        end_block(&speed[other]);
        end_block(&cost[other]);
    }
}

int measure_throughput(size_t blocks, size_t mebibytes, const char *path, const pid_t bridges[2]) {
    static const char *const names[] = {"bare", "piped"};
    GTlsCertificate *own = certificate(path);
    struct machines machines = {0};
    struct comparison speed[2] = {0}, cost[2] = {0};
    memset(written, 'a', CHUNK);
    set_up(&machines);
    hold_continuation(&machines);
    // The first block warms all up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) {
            memset(speed, 0, sizeof speed);
            memset(cost, 0, sizeof cost);
        }
        measure_block(&machines, block, mebibytes << 20, own, bridges, speed, cost);
    }
    for (size_t other = 0; other < 2; other++) {
        report(&speed[other], names[other]);
        report(&cost[other], names[other]);
    }
    return 0;
}
