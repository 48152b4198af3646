// SPDX-License-Identifier: LGPL-2.1-or-later
// The programs that measure what goes through streams, which meson-helpers/bench runs.
#include "../bench.h"
#include "../link/tls.h"
#include "streams.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage:\n"
    "  streams throughput BLOCKS MIB CERTIFICATE BRIDGE BRIDGE\n"
    "      Moves so many MiB a block through a stream and, in turn, through TLS by GIO, without and with a socket pair at\n"
    "      each end. Prints two lines for either, of MB/s and of ns a byte: a name, the ratio, median and 99th\n"
    "      percentile, those of TLS. BRIDGE is a process.\n"
    "  streams documents BLOCKS MIB PATH FOLDER BROKER BROKER BRIDGE BRIDGE\n"
    "      Makes a document at PATH and has it brought over in each block, into FOLDER, and moves as much through a\n"
    "      stream. Prints two lines as above, the last two figures of the stream. BROKER is a process.\n"
    "  streams send FILE COPY\n"
    "      Sends a file through a stream, and prints the MB/s.\n"
    "  streams share DEVICE FILE COPY SECONDS\n"
    "      Has KDE Connect of this session send a file, which becomes COPY in that time, and prints the MB/s.\n"
    "CERTIFICATE is a file with a certificate and its key.\n"
    "BENCH_ORIGIN and BENCH_TARGET are the addresses of the machines' buses.\n";

int main(int count, char **arguments) {
    const char *verb = count > 1 ? arguments[1] : "";
    signal(SIGPIPE, SIG_IGN);
    choose_ciphers();
    if (count == 7 && strcmp(verb, "throughput") == 0)
        return measure_throughput((size_t)atoi(arguments[2]), (size_t)atoi(arguments[3]), arguments[4],
                                  (pid_t[]){atoi(arguments[5]), atoi(arguments[6])});
    if (count == 10 && strcmp(verb, "documents") == 0)
        return measure_documents(
            (size_t)atoi(arguments[2]), (size_t)atoi(arguments[3]), arguments[4], arguments[5],
            (pid_t[]){atoi(arguments[6]), atoi(arguments[7]), atoi(arguments[8]), atoi(arguments[9])});
    if (count == 4 && strcmp(verb, "send") == 0) return send_file(arguments[2], arguments[3]);
    if (count == 6 && strcmp(verb, "share") == 0)
        return share_file(arguments[2], arguments[3], arguments[4], (size_t)atoi(arguments[5]));
    fputs(usage, stderr);
    return 2;
}
