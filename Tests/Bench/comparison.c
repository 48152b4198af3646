// SPDX-License-Identifier: LGPL-2.1-or-later
// Times in blocks, and their ratio: the machine's speed changes while it is measured, and both change with it.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void add(struct series *series, double time) {
    // Room for a power of two.
    if ((series->count & (series->count - 1)) == 0)
        series->times = need(realloc(series->times, 2 * (series->count + 1) * sizeof time));
    series->times[series->count++] = time;
}

static int compare(const void *one, const void *other) {
    const double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static double quantile_of(double *values, size_t count, double part) {
    if (count == 0) fail("there is nothing to compare", NULL);
    qsort(values, count, sizeof *values, compare);
    return values[(size_t)((double)(count - 1) * part)];
}

double quantile(const struct series *series, double part) { return quantile_of(series->times, series->count, part); }

void end_block(struct comparison *comparison) {
    struct series *const both[] = {&comparison->subject, &comparison->echo};
    double medians[2];
    for (int which = 0; which < 2; which++) {
        medians[which] =
            quantile_of(both[which]->times + both[which]->block, both[which]->count - both[which]->block, 0.5);
        both[which]->block = both[which]->count;
    }
    add(&comparison->ratios, medians[0] / medians[1]);
}

void report(const struct comparison *comparison, const char *name) {
    printf("%s %.2f %.3f %.3f %.3f %.3f\n", name, quantile(&comparison->ratios, 0.5),
           quantile(&comparison->subject, 0.5), quantile(&comparison->subject, 0.99), quantile(&comparison->echo, 0.5),
           quantile(&comparison->echo, 0.99));
}
