// SPDX-License-Identifier: LGPL-2.1-or-later
// How long it takes to send a file: through a stream, and by KDE Connect.
#include "../bench.h"
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t read_some(int descriptor, void *chunk, const char *what) {
    ssize_t count;
    do count = read(descriptor, chunk, CHUNK);
    while (count < 0 && errno == EINTR);
    if (count < 0) fail(what, &(DBusError){.message = g_strerror(errno)});
    return (size_t)count;
}

static void print_speed(const char *copy, double time) {
    struct stat status;
    if (stat(copy, &status) || status.st_size == 0) fail(copy, NULL);
    printf("%.1f\n", (double)status.st_size / time / 1e3);
}

struct sending {
    int file, stream;
};

static void *send_all(void *data) {
    static char chunk[CHUNK];
    const struct sending *sending = data;
    for (size_t count; (count = read_some(sending->file, chunk, "reading the file")) > 0;)
        write_all(sending->stream, chunk, count, "writing to the stream");
    shutdown(sending->stream, SHUT_WR);
    return NULL;
}

// From OpenStream until the end of the stream has come and all of it is in the copy.
int send_file(const char *file, const char *copy) {
    static char chunk[CHUNK];
    const int from = open(file, O_RDONLY | O_CLOEXEC);
    const int to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (from < 0 || to < 0) fail(from < 0 ? file : copy, &(DBusError){.message = g_strerror(errno)});
    struct machines machines = {0};
    set_up(&machines);
    hold_continuation(&machines);
    const double begin = now();
    time_opening(&machines);
    struct sending sending = {.file = from, .stream = machines.stream[ORIGIN]};
    GThread *thread = g_thread_new("sending", send_all, &sending);
    for (size_t count; (count = read_some(machines.stream[TARGET], chunk, "reading from the stream")) > 0;)
        write_all(to, chunk, count, "writing the copy");
    const double time = now() - begin;
    g_thread_join(thread);
    close_stream(&machines);
    print_speed(copy, time);
    return 0;
}

// From the call until the copy is there under its name, with all that belongs to it.
int share_file(const char *device, const char *file, const char *copy, size_t seconds) {
    DBusConnection *bus = connect_to_bus(NULL);
    struct stat original, status;
    if (stat(file, &original)) fail(file, &(DBusError){.message = g_strerror(errno)});
    char *path = g_strdup_printf("/modules/kdeconnect/devices/%s/share", device);
    char *address = g_filename_to_uri(file, NULL, NULL);
    DBusMessage *message = new_call("org.kde.kdeconnect", path, "org.kde.kdeconnect.device.share", "shareUrl");
    if (!address || !dbus_message_append_args(message, DBUS_TYPE_STRING, &address, DBUS_TYPE_INVALID)) fail(file, NULL);
    const double begin = now(), end = begin + (double)seconds * 1e3;
    dbus_message_unref(call(bus, message));
    while (stat(copy, &status) || status.st_size < original.st_size) {
        if (now() > end) fail(copy, &(DBusError){.message = "not complete in time"});
        usleep(2000);
    }
    print_speed(copy, now() - begin);
    return 0;
}
