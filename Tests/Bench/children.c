// SPDX-License-Identifier: LGPL-2.1-or-later
// Programs of their own that do a step at a time: what a process may have together, one of them alone may not.
#include "bench.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct children begin_children(size_t count, void (*run)(size_t number, struct child *child)) {
    struct children children = {.count = count, .all = need(calloc(count, sizeof *children.all))};
    for (size_t index = 0; index < count; index++) {
        int orders[2], reports[2];
        if (pipe(orders) || pipe(reports)) fail("pipe", NULL);
        const pid_t process = fork();
        if (process < 0) fail("fork", NULL);
        if (process == 0) {
            // Or those that were made before would not see the end.
            for (size_t other = 0; other < index; other++) close(children.all[other].write_to);
            close(orders[1]);
            close(reports[0]);
            struct child child = {.process = getpid(), .read_from = orders[0], .write_to = reports[1]};
            run(index, &child);
            _exit(0);
        }
        close(orders[0]);
        close(reports[1]);
        children.all[index] = (struct child){.process = process, .read_from = reports[0], .write_to = orders[1]};
    }
    return children;
}

bool await_order(struct child *child) {
    char byte;
    return read(child->read_from, &byte, 1) == 1;
}

void report_done(struct child *child, size_t result) {
    if (write(child->write_to, &result, sizeof result) != sizeof result) fail("reporting", NULL);
}

size_t order_step(struct children *children) {
    size_t sum = 0;
    for (size_t index = 0; index < children->count; index++) {
        size_t result;
        if (write(children->all[index].write_to, "", 1) != 1) fail("ordering", NULL);
        if (read(children->all[index].read_from, &result, sizeof result) != sizeof result) fail("a step", NULL);
        sum += result;
    }
    return sum;
}

void end_children(struct children *children) {
    for (size_t index = 0; index < children->count; index++) close(children->all[index].write_to);
    for (size_t index = 0; index < children->count; index++) waitpid(children->all[index].process, NULL, 0);
    free(children->all);
}
