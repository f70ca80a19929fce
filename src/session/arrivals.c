// SPDX-License-Identifier: Apache-2.0
#include "session/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "beam/vm.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/clock.h"

/* A process that was looked at, and its executable then: a shell can become a VM, and a VM another
 * VM. */
struct seen {
    pid_t pid;
    struct executable executable;
    struct process_identity identity; /* of a VM */
    bool is_vm, given_up;
    uint64_t since; /* ns, CLOCK_MONOTONIC: when it had this executable first */
};

struct arrivals {
    struct seen *seen; /* ascending by pid */
    size_t count;
    uint64_t due; /* ns, CLOCK_MONOTONIC: of the next look */
};

/* The seconds that a VM has to start: until it looks like a supported one, and until it can be
 * added. */
enum { TABLES_SECONDS = 5, START_SECONDS = 60 };

/* A look at 1,000 processes takes some 5 ms. The time between two looks is this many times as
 * long. */
enum { PAUSE = 200 };

void arrivals_free(struct arrivals *arrivals)
{
    if (!arrivals)
        return;
    free(arrivals->seen);
    free(arrivals);
}

static int compare(const void *key, const void *element)
{
    pid_t pid = *(const pid_t *)key, other = ((const struct seen *)element)->pid;

    return (pid > other) - (pid < other);
}

static struct seen *find(const struct arrivals *arrivals, pid_t pid)
{
    if (!arrivals->count)
        return NULL;
    return bsearch(&pid, arrivals->seen, arrivals->count, sizeof(*arrivals->seen), compare);
}

/* True if what was known of a process still holds. Most programs are no VMs; a change of their
 * executable is enough to notice. */
static bool is_same(const struct seen *before, const struct seen *now)
{
    return before && before->executable.device == now->executable.device &&
           before->executable.inode == now->executable.inode &&
           (!before->is_vm || process_is(now->pid, &before->identity));
}

/* Look at a process, or take over what is known of it. */
static bool look_at(const struct arrivals *arrivals, pid_t pid, struct seen *now)
{
    const struct seen *before = find(arrivals, pid);
    struct error ignored; /* it has ended, or may not be read */
    struct build build;

    *now = (struct seen){.pid = pid};
    if (!process_executable(pid, &now->executable))
        return false;
    if (is_same(before, now)) {
        *now = *before;
        return true;
    }
    now->identity = process_identity(pid);
    now->is_vm = vm_identify(pid, &build, &ignored) == 1;
    now->since = clock_ns(CLOCK_MONOTONIC);
    return true;
}

/* Look at all processes. Those that have ended are forgotten. */
static void look(struct arrivals *arrivals)
{
    struct error ignored; /* without /proc no VM arrives */
    size_t count = 0, used = 0;
    pid_t *pids = process_list(&count, &ignored);
    struct seen *seen;

    if (!pids)
        return;
    seen = xcalloc(count + 1, sizeof(*seen));
    for (size_t i = 0; i < count; i++)
        used += look_at(arrivals, pids[i], &seen[used]);
    free(pids);
    free(arrivals->seen);
    arrivals->seen = seen;
    arrivals->count = used;
}

static bool is_target(const struct targets *targets, pid_t pid)
{
    const struct target *target = targets_find(targets, pid);

    return target && !target->ended;
}

struct arrivals *arrivals_new(const struct targets *targets)
{
    struct arrivals *arrivals = xcalloc(1, sizeof(*arrivals));

    look(arrivals);
    for (size_t i = 0; i < arrivals->count; i++)
        arrivals->seen[i].given_up = !is_target(targets, arrivals->seen[i].pid);
    return arrivals;
}

pid_t *arrivals_look(struct arrivals *arrivals, const struct targets *targets, size_t *count)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    pid_t *found = NULL;
    size_t room = 0;

    *count = 0;
    if (began < arrivals->due)
        return NULL;
    look(arrivals);
    arrivals->due = began + PAUSE * (clock_ns(CLOCK_MONOTONIC) - began);
    for (size_t i = 0; i < arrivals->count; i++) {
        const struct seen *seen = &arrivals->seen[i];

        if (!seen->is_vm || seen->given_up || is_target(targets, seen->pid))
            continue;
        found = xgrow(found, &room, *count, sizeof(*found));
        found[(*count)++] = seen->pid;
    }
    return found;
}

double arrivals_seconds(const struct arrivals *arrivals, pid_t pid)
{
    const struct seen *seen = find(arrivals, pid);

    return seen ? (double)(clock_ns(CLOCK_MONOTONIC) - seen->since) / 1e9 : 0;
}

void arrivals_give_up(struct arrivals *arrivals, pid_t pid)
{
    struct seen *seen = find(arrivals, pid);

    if (seen)
        seen->given_up = true;
}

bool arrivals_failed(struct arrivals *arrivals, pid_t pid, const struct error *error)
{
    struct seen *seen = find(arrivals, pid);

    if (!seen)
        return false;
    seen->given_up = arrivals_seconds(arrivals, pid) >
                     (error->code == ERROR_UNSUPPORTED ? TABLES_SECONDS : START_SECONDS);
    return seen->given_up;
}
