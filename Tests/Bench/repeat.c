// SPDX-License-Identifier: LGPL-2.1-or-later
// One operation a number of times and nothing else, for what is counted in other processes meanwhile.
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static void update(struct machines *machines, size_t count) {
    char *activity = create_activity(machines);
    while (count-- > 0)
        time_call(machines->bus[ORIGIN], BROKER_NAME, activity, BROKER_NAME ".Activity", "Update");
    free(activity);
}

// By turns, so that each time another activity takes the place of the current one.
static void switch_current(struct machines *machines, size_t count) {
    char *activities[] = {create_activity(machines), create_activity(machines)};
    for (size_t index = 0; index < count; index++, idle(machines, OFFER_INTERVAL))
        become_current(machines, activities[index % 2]);
    free(activities[0]);
    free(activities[1]);
}

static void offer(struct machines *machines, size_t count) {
    for (; count > 0; count--, idle(machines, OFFER_INTERVAL)) time_offer(machines);
}

static void continue_offer(struct machines *machines, size_t count) {
    time_offer(machines);
    while (count-- > 0) continue_once(machines);
}

int repeat_operation(const char *operation, size_t count) {
    static const struct {
        const char *name;
        void (*run)(struct machines *machines, size_t count);
    } operations[] = {
        {"update", update}, {"current", switch_current}, {"offer", offer}, {"continuation", continue_offer}};
    struct machines machines = {0};
    for (size_t index = 0; index < sizeof operations / sizeof *operations; index++) {
        if (strcmp(operations[index].name, operation) != 0) continue;
        set_up(&machines);
        operations[index].run(&machines, count);
        return 0;
    }
    fail(operation, &(DBusError){.message = "no such operation"});
}
