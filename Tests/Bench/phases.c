// SPDX-License-Identifier: LGPL-2.1-or-later
// What takes how long in a continuation, as the applications on both sides see it.
#include "bench.h"

#include <stdio.h>

int measure_phases(size_t count) {
    enum { ANNOUNCED, ASKED, ARRIVED, TOLD, PHASES };
    struct machines machines = {0};
    struct series times[PHASES] = {0};
    set_up(&machines);
    time_offer(&machines);
    for (int warm = 0; warm < 10; warm++) continue_with_save(&machines);
    while (count-- > 0) {
        const double whole = continue_with_save(&machines), continued = machines.arrived - whole;
        add(&times[ANNOUNCED], machines.announced - continued);
        add(&times[ASKED], machines.asked - continued);
        add(&times[ARRIVED], whole);
        add(&times[TOLD], machines.told - continued);
    }
    printf("phases");
    for (int phase = 0; phase < PHASES; phase++) printf(" %.3f", quantile(&times[phase], 0.5));
    printf("\n");
    return 0;
}
