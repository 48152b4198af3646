// SPDX-License-Identifier: LGPL-2.1-or-later
// What the parts of the measurement of streams have in common.
#ifndef HANDOFF_BENCH_STREAMS_H
#define HANDOFF_BENCH_STREAMS_H

#include "../bench.h"
#include "../link/tls.h"

#include <stddef.h>
#include <sys/types.h>

// What is read and written at a time.
#define CHUNK ((size_t)256 << 10)

struct result {
    // MB/s, and ns a byte of those between whom the bytes are encrypted.
    double speed, cost;
};

// Moves so many bytes through TLS by GIO, from a socket pair at one end to a socket pair at the other.
struct result measure_piped(size_t size, GTlsCertificate *certificate);
// Moves so many MiB a block through one stream and through nothing but TLS, without and with socket pairs. Takes the
// processes of both bridges.
int measure_throughput(size_t blocks, size_t mebibytes, const char *certificate, const pid_t bridges[2]);
// Has a document of so many MiB, which is made at this path, brought over in each block, into this folder, and moves as
// much through a stream. Takes the processes of both brokers and both bridges.
int measure_documents(size_t blocks, size_t mebibytes, const char *path, const char *folder, const pid_t daemons[4]);
// Sends a file through a stream, and prints the MB/s.
int send_file(const char *file, const char *copy);
// Has KDE Connect send it to a device, where it becomes the copy, and prints the MB/s.
int share_file(const char *device, const char *file, const char *copy, size_t seconds);

// Moves so many bytes through a stream of the continuation that is held, and gives back how long that took.
double move_through_stream(struct machines *machines, size_t size);
// What these processes have taken of the processors until now, in ns.
double processor_time_of(const pid_t *processes, size_t count);
// What cannot be written is the end of the program.
void write_all(int descriptor, const void *bytes, size_t size, const char *what);

#endif
