// SPDX-License-Identifier: LGPL-2.1-or-later
// The programs of the benchmark, which meson-helpers/bench runs.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage:\n"
    "  bench echo                         answers org.example.Echo.Echo with its arguments\n"
    "  bench update BLOCKS CALLS          times Activity.Update, in turn with the echo\n"
    "  bench offers BLOCKS OFFERS         times offers, in turn with the echo\n"
    "  bench continuations BLOCKS COUNT   times continuations, in turn with the echo\n"
    "  bench cold BLOCKS COUNT            times continuations in an application that does not run, in turn with starting it\n"
    "                                     by gdbus\n"
    "  bench openings BLOCKS COUNT        times openings of streams, in turn with the echo\n"
    "  bench continue COUNT               continues an activity so many times\n"
    "  bench repeat OPERATION COUNT       does so often what is counted: update, current, offer, continuation\n"
    "  bench phases COUNT                 the medians in ms from Continue until the target is told that something comes, the\n"
    "                                     origin is asked to save, it has come, and the origin is told\n"
    "  bench becoming BLOCKS COUNT BRIDGE times becoming current, in turn with the echo; on a second line the µs that the\n"
    "                                     process BRIDGE takes\n"
    "  bench texts BLOCKS COUNT DEVICE    times offers, and on a second line continuations, in turn with texts that KDE\n"
    "                                     Connect sends to the device\n"
    "  bench fill COUNT                   keeps so many activities, until the end of its input\n"
    "  bench hold                         keeps an activity current\n"
    "  bench starts COUNT NAME COMMAND…   times a program from exec to owning NAME\n"
    "  bench types COUNT                  times registrations of so many types together\n"
    "  bench crowd CLIENTS EACH PROCESS   creates activities: KiB a client, KiB an activity, ms a call\n"
    "  bench hoard PROCESSES EACH PROCESS fills the broker's quotas on so many connections: MiB of payload, the broker's\n"
    "                                     growth as a multiple of that, and what is left in % when they have gone\n"
    "  bench user CALLS                   times what the user asks of both daemons: median and 99th percentile\n"
    "  bench disturbed BLOCKS CALLS COMMAND…   times Activity.Update without and beside a program, by the 99th percentile\n"
    "What is timed in turn with the echo prints a name, a ratio, and four times in ms: median and 99th percentile,\n"
    "then those of the echo.\n"
    "Between machines: BENCH_ORIGIN and BENCH_TARGET are the addresses of their buses; the echo is at the origin.\n";

static size_t number(const char *text) {
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end || value == 0 || value > 1000000) fail(text, &(DBusError){.message = "not a number that makes sense"});
    return value;
}

int main(int count, char **arguments) {
    const char *verb = count > 1 ? arguments[1] : "";
    if (count == 2 && strcmp(verb, "echo") == 0) return serve_echo();
    if (count == 2 && strcmp(verb, "hold") == 0) return hold_activity();
    if (count == 3 && strcmp(verb, "continue") == 0) return run_continuations(number(arguments[2]));
    if (count == 3 && strcmp(verb, "phases") == 0) return measure_phases(number(arguments[2]));
    if (count == 3 && strcmp(verb, "fill") == 0) return fill(number(arguments[2]));
    if (count == 5 && strcmp(verb, "becoming") == 0)
        return measure_becoming(number(arguments[2]), number(arguments[3]), arguments[4]);
    if (count == 5 && strcmp(verb, "texts") == 0)
        return measure_texts(number(arguments[2]), number(arguments[3]), arguments[4]);
    if (count == 3 && strcmp(verb, "types") == 0) return measure_types(number(arguments[2]));
    if (count == 5 && strcmp(verb, "crowd") == 0)
        return measure_crowd(number(arguments[2]), number(arguments[3]), arguments[4]);
    if (count == 5 && strcmp(verb, "hoard") == 0)
        return measure_hoard(number(arguments[2]), number(arguments[3]), arguments[4]);
    if (count == 3 && strcmp(verb, "user") == 0) return measure_user(number(arguments[2]));
    if (count > 4 && strcmp(verb, "disturbed") == 0)
        return measure_disturbance(number(arguments[2]), number(arguments[3]), arguments + 4);
    if (count == 4 && strcmp(verb, "repeat") == 0) return repeat_operation(arguments[2], number(arguments[3]));
    if (count == 4) {
        const size_t blocks = number(arguments[2]), samples = number(arguments[3]);
        if (strcmp(verb, "update") == 0) return measure_update(blocks, samples);
        if (strcmp(verb, "offers") == 0) return measure_offers(blocks, samples);
        if (strcmp(verb, "continuations") == 0) return measure_continuations(blocks, samples);
        if (strcmp(verb, "cold") == 0) return measure_cold(blocks, samples);
        if (strcmp(verb, "openings") == 0) return measure_openings(blocks, samples);
    }
    if (count > 4 && strcmp(verb, "starts") == 0)
        return measure_starts(number(arguments[2]), arguments[3], arguments + 4);
    fputs(usage, stderr);
    return 2;
}
