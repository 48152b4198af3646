// SPDX-License-Identifier: LGPL-2.1-or-later
// How fast a document is brought over when its activity is continued, beside a stream of the same continuation.
#include "../bench.h"
#include "streams.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Makes the document, of so many MiB, and has it written to disk, so that nothing is left to be written later. It is as
// old as any: what was written just before would be read twice.
static char *make_document(const char *path, size_t mebibytes) {
    static char chunk[CHUNK];
    memset(chunk, 'a', CHUNK);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) fail(path, NULL);
    for (size_t size = 0; size < mebibytes << 20; size += CHUNK) write_all(file, chunk, CHUNK, path);
    if (fsync(file) || close(file)) fail(path, NULL);
    sleep(4);
    return need(g_filename_to_uri(path, NULL, NULL));
}

// Removes what has been received, which has to be one document of this size.
static void clear(const char *folder, size_t size) {
    struct stat status;
    struct dirent *entry;
    size_t count = 0;
    DIR *files = opendir(folder);
    if (!files) fail(folder, NULL);
    while ((entry = readdir(files))) {
        if (fstatat(dirfd(files), entry->d_name, &status, 0) || !S_ISREG(status.st_mode)) continue;
        if ((size_t)status.st_size == size) count++;
        unlinkat(dirfd(files), entry->d_name, 0);
    }
    closedir(files);
    if (count != 1) fail("the document", &(DBusError){.message = "not there, or not as large as it was"});
}

int measure_documents(size_t blocks, size_t mebibytes, const char *path, const char *folder, const pid_t daemons[4]) {
    const size_t size = mebibytes << 20;
    struct machines machines = {0};
    struct comparison speed = {0}, cost = {0};
    char *address = make_document(path, mebibytes);
    set_up(&machines);
    // The first block warms both up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) speed = cost = (struct comparison){0};
        const double before = processor_time_of(daemons, 4);
        add(&speed.subject, (double)size / continue_with_document(&machines, address) / 1e3);
        const double between = processor_time_of(daemons, 4);
        clear(folder, size);
        sync();
        add(&speed.echo, (double)size / move_through_stream(&machines, size) / 1e3);
        add(&cost.subject, (between - before) / (double)size);
        add(&cost.echo, (processor_time_of(daemons, 4) - between) / (double)size);
        end_block(&speed);
        end_block(&cost);
    }
    report(&speed, "speed");
    report(&cost, "cost");
    g_free(address);
    return 0;
}
