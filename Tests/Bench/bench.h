// SPDX-License-Identifier: LGPL-2.1-or-later
// What the parts of the benchmark have in common. All times are in milliseconds.
#ifndef HANDOFF_BENCH_H
#define HANDOFF_BENCH_H

#include <dbus/dbus.h>
#include <stdbool.h>
#include <stddef.h>

#define ECHO_NAME "org.example.Echo"
// An application that the bus of the target can start.
#define COLD_NAME "org.example.Bench.Cold"
// What sends a text at KDE Connect, and says that one has come.
#define SHARE_INTERFACE "org.kde.kdeconnect.device.share"
#define BROKER_NAME "org.example.Handoff"
#define BROKER_PATH "/org/example/Handoff"

// support.c

// Ends the program, saying what went wrong.
_Noreturn void fail(const char *what, const DBusError *error);
// Gives back the pointer, unless there is no memory.
void *need(void *pointer);
// The monotonic clock.
double now(void);
// Connects to the bus at this address, or to that of the session for NULL.
DBusConnection *connect_to_bus(const char *address);
DBusMessage *new_call(const char *name, const char *path, const char *interface, const char *member);
// Gives back the reply, and takes the message. An error is the end.
DBusMessage *call(DBusConnection *bus, DBusMessage *message);
void append_empty(DBusMessageIter *arguments, const char *element);
void append_entry(DBusMessageIter *dictionary, const char *key, int type, const void *value);
// {"UserInfo": <{"document": <s>, "page": <u>, "zoom": <d>, "bookmarked": <b>}>}, with another page each time.
void append_properties(DBusMessageIter *arguments);
// The name, types and object with which an application registers.
void append_registration(DBusMessageIter *arguments);
// The type of a new activity, which has no properties yet.
void append_creation(DBusMessageIter *arguments);
// The path in the reply to CreateActivity, to be freed.
char *created_path(DBusMessage *reply);
// How long a call with append_properties takes, from building the message to having the reply.
double time_call(DBusConnection *bus, const char *name, const char *path, const char *interface, const char *member);
double time_echo(DBusConnection *bus);

// comparison.c

// Times of one kind, and where the block at hand begins.
struct series {
    double *times;
    size_t count, block;
};

// Times of something in blocks, in turn with blocks of the echo.
struct comparison {
    struct series echo, subject, ratios;
};

void add(struct series *series, double time);
// Ends a block of both: its ratio is that of the medians.
void end_block(struct comparison *comparison);
// Sorts what it is given, and gives back the value that this part of them does not exceed.
double quantile(const struct series *series, double part);
// Prints the name, the ratio (the median of the blocks'), and the median and 99th percentile of subject and echo.
void report(const struct comparison *comparison, const char *name);

// What is timed about handoffs, and how long nothing happens before, in ms: a peer may make ten offers in a second, and
// nothing is still warm from what came before.
#define OFFER_INTERVAL 110
#define REST 3

// machines.c: one program that is an application on each of two machines.

enum side { ORIGIN, TARGET, SIDES };

struct machines {
    DBusConnection *bus[SIDES];
    // The reply that is waited for, by the serial number of its call.
    dbus_uint32_t serial[SIDES];
    DBusMessage *reply[SIDES];
    // The activity of the origin that is current, and its offer at the target.
    char *activity, *offer;
    // The continuation that the target was handed last.
    char *continuation;
    // Both ends of a stream, -1 without one. As soon as the origin is given its end, it writes one byte.
    int stream[SIDES];
    // When the target saw the offer, was handed the activity, and could read of the stream; 0 for not yet.
    double seen, arrived, greeted;
    // Since when the cold application has its name at the target; 0 while it has not.
    double owned;
    // When the origin was asked to save, the target told that something comes, and the origin that it goes on.
    double asked, announced, told;
    // When a text of KDE Connect came to the target.
    double shared;
    // What has become of the continuation: asked to save, told the outcome, told that it goes on, and over.
    bool saved, finished, continued, let_go;
};

// Connects both, by the addresses in BENCH_ORIGIN and BENCH_TARGET, and registers the application on both.
void set_up(struct machines *machines);
// Calls the broker of this side while the other one is served too.
DBusMessage *ask(struct machines *machines, enum side side, DBusMessage *message);
// Serves both until the condition holds, ten seconds at most.
void await(struct machines *machines, bool (*holds)(const struct machines *machines), const char *what);
// Serves both for so long.
void idle(struct machines *machines, double time);

// handoff.c

// Makes a new activity current, which replaces the former: from BecomeCurrent on the origin to InterfacesAdded at the
// target.
double time_offer(struct machines *machines);
// The path of a new activity of the origin, to be freed.
char *create_activity(struct machines *machines);
// Makes this activity of the origin current: from BecomeCurrent there to InterfacesAdded at the target.
double become_current(struct machines *machines, const char *activity);
// From Continue at the target to its ContinueActivity, until it is over; 0 if its application was asked to save before.
double continue_once(struct machines *machines);
// The same until one that did ask it after Continue, which had to be asked for the text.
double continue_with_save(struct machines *machines);
// Has the target continue an activity with streams, and keep the continuation.
void hold_continuation(struct machines *machines);
// The same with the document at this address: from Continue to ContinueActivity, two minutes at most.
double continue_with_document(struct machines *machines, const char *address);

// stream.c

// Opens a stream of the continuation that is held: from OpenStream at the target to the first byte there, which is
// taken.
double time_opening(struct machines *machines);
// Closes both ends, the target's first, and waits until the origin's has noticed.
void close_stream(struct machines *machines);

// children.c

// One of several processes, as it sees the other side, or as that sees it.
struct child {
    int process, read_from, write_to;
};

struct children {
    struct child *all;
    size_t count;
};

// Has so many processes run something each.
struct children begin_children(size_t count, void (*run)(size_t number, struct child *child));
// In a child: waits until it is to do its next step; false when it is to end.
bool await_order(struct child *child);
// In a child: the step is done.
void report_done(struct child *child, size_t result);
// Has one after the other do the next step, and gives back the sum of what they report.
size_t order_step(struct children *children);
void end_children(struct children *children);

// crowd.c

// What a process takes in memory, in bytes; the kind is one of /proc/PID/smaps_rollup.
double memory_of(const char *process, const char *kind);
// Registers an application with so many types.
void register_types(DBusConnection *bus, size_t first, size_t count);
// A call of CreateActivity with a text of so many bytes in UserInfo.
DBusMessage *new_creation(size_t payload);

// The programs.

int serve_echo(void);
int measure_update(size_t blocks, size_t calls);
int measure_offers(size_t blocks, size_t offers);
int measure_continuations(size_t blocks, size_t continuations);
int run_continuations(size_t count);
int measure_phases(size_t count);
int measure_becoming(size_t blocks, size_t count, const char *bridge);
int measure_texts(size_t blocks, size_t count, const char *device);
int fill(size_t activities);
int repeat_operation(const char *operation, size_t count);
int hold_activity(void);
int measure_cold(size_t blocks, size_t count);
int measure_openings(size_t blocks, size_t openings);
int measure_types(size_t count);
int measure_crowd(size_t clients, size_t activities, const char *broker);
int measure_hoard(size_t processes, size_t connections, const char *broker);
int measure_user(size_t calls);
int measure_disturbance(size_t blocks, size_t calls, char **command);
int measure_starts(size_t count, const char *name, char **command);

#endif
