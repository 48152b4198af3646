// SPDX-License-Identifier: LGPL-2.1-or-later
// What it costs when an activity becomes current, in time and on the bridge's processor, however many peers are told.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// The processor time of a process, in microseconds.
static double processor_time(const char *process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(atoi(process), &clock) || clock_gettime(clock, &time)) fail("the clock of a process", NULL);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double time_rested_echo(struct machines *machines) {
    idle(machines, REST);
    return time_echo(machines->bus[ORIGIN]);
}

// Prints a second line: the microseconds that the bridge takes each time.
int measure_becoming(size_t blocks, size_t count, const char *bridge) {
    struct machines machines = {0};
    struct comparison comparison = {0};
    struct series costs = {0};
    set_up(&machines);
    char *activities[] = {create_activity(&machines), create_activity(&machines)};
    // The first block warms both up.
    for (size_t block = 0; block <= blocks; block++) {
        if (block == 1) comparison = (struct comparison){0}, costs = (struct series){0};
        const double begin = processor_time(bridge);
        for (size_t index = 0; index < count; index++) {
            const double end = now() + OFFER_INTERVAL;
            add(&comparison.subject, become_current(&machines, activities[(block * count + index) % 2]));
            do add(&comparison.echo, time_rested_echo(&machines));
            while (now() < end);
        }
        add(&costs, (processor_time(bridge) - begin) / (double)count);
        end_block(&comparison);
    }
    report(&comparison, "becoming");
    printf("cost %.1f\n", quantile(&costs, 0.5));
    return 0;
}
