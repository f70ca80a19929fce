// SPDX-License-Identifier: Apache-2.0
#include "session/session_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beam/vm.h"
#include "os/process.h"
#include "session/node_name.h"
#include "util/alloc.h"
#include "util/clock.h"

/* A process that was examined, with its executable at that time: a shell can become a VM, and a VM
 * can become another VM. */
struct seen {
    pid_t pid;
    struct executable executable;
    struct process_identity identity; /* of a VM */
    bool is_vm, settled;
    uint64_t since; /* ns, CLOCK_MONOTONIC: when it had this executable first */
    uint64_t due;   /* the same: when to try to add it */
    uint64_t pause; /* ns to the next try, if that one fails */
};

struct arrivals {
    struct seen *seen; /* ascending by pid */
    size_t count;
    uint64_t due;         /* ns, CLOCK_MONOTONIC: of the next look */
    uint64_t noted_since; /* the same: when the current second of notes began */
    unsigned noted;       /* in it */
};

/* The seconds that a new VM has until its tables exist, and until it can be added. */
enum { TABLES_SECONDS = 5, START_SECONDS = 60 };

/* A VM is ready some 50 to 500 ms after it began. Each try opens it, which takes some ms. */
enum {
    PAUSE_FIRST_NS = 25000000,
    PAUSE_MOST_NS = 100000000, /* for SOON_SECONDS */
    SOON_SECONDS = 3,
    PAUSE_LATER_NS = 1000000000,
};

/* A VM without a name that a rule excludes is opened again after 1 s, and then after twice as long
 * each time. There can be many, and to open one takes some 20 ms. */
static const uint64_t ASK_PAUSE_MOST_NS = 2048000000000;

/* A look at 1,000 processes takes some 5 ms. The time between two looks is this many times as long.
 * If the kernel reports new VMs, looks may be rarer: RARE_NS apart, if a look takes little time.
 * Some are still needed, because it reports only programs with the usual names of VMs. */
enum { PAUSE = 200, PAUSE_IF_REPORTED = 2000 };
static const uint64_t RARE_NS = 10000000000;

/* In a second, at most this many processes are looked at because they have begun a program: any
 * user can begin many. The next look at all processes finds the others. */
enum { NOTES_MOST = 256 };

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

/* True if a process is the one that was seen before. Most programs are not VMs: only their
 * executables are compared. */
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
    now->since = now->due = clock_ns(CLOCK_MONOTONIC);
    now->pause = PAUSE_FIRST_NS;
    return true;
}

/* Look at all processes, and forget those that have ended. */
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

struct arrivals *arrivals_new(const struct targets *targets)
{
    struct arrivals *arrivals = xcalloc(1, sizeof(*arrivals));

    look(arrivals);
    for (size_t i = 0; i < arrivals->count; i++) {
        struct seen *seen = &arrivals->seen[i];
        const struct refused_vm *refused = refusals_find(&targets->refused, seen->pid);

        seen->settled = targets_find(targets, seen->pid) || (refused && !refused->is_nameless);
    }
    return arrivals;
}

static bool may_note(struct arrivals *arrivals)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (now - arrivals->noted_since >= 1000000000) {
        arrivals->noted_since = now;
        arrivals->noted = 0;
    }
    return arrivals->noted++ < NOTES_MOST;
}

void arrivals_note(struct arrivals *arrivals, pid_t pid)
{
    struct seen now, *at = find(arrivals, pid);
    size_t place = 0;

    if (!may_note(arrivals) || !look_at(arrivals, pid, &now))
        return;
    if (at) {
        *at = now;
        return;
    }
    while (place < arrivals->count && arrivals->seen[place].pid < pid)
        place++;
    arrivals->seen = xreallocarray(arrivals->seen, arrivals->count + 1, sizeof(*arrivals->seen));
    memmove(&arrivals->seen[place + 1], &arrivals->seen[place],
            (arrivals->count - place) * sizeof(*arrivals->seen));
    arrivals->seen[place] = now;
    arrivals->count++;
}

/* The time until the next look after one that took `took` ns. */
static uint64_t pause_after(uint64_t took, bool are_reported)
{
    uint64_t pause = took * (are_reported ? PAUSE_IF_REPORTED : PAUSE);

    return are_reported && pause < RARE_NS ? RARE_NS : pause;
}

void arrivals_look(struct arrivals *arrivals, bool are_reported)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);

    if (began < arrivals->due)
        return;
    look(arrivals);
    arrivals->due = began + pause_after(clock_ns(CLOCK_MONOTONIC) - began, are_reported);
}

/* Return the VM that is due first; NULL if none waits. */
static const struct seen *first_due(const struct arrivals *arrivals)
{
    const struct seen *first = NULL;

    for (size_t i = 0; i < arrivals->count; i++) {
        const struct seen *seen = &arrivals->seen[i];

        if (seen->is_vm && !seen->settled && (!first || seen->due < first->due))
            first = seen;
    }
    return first;
}

pid_t arrivals_next(const struct arrivals *arrivals)
{
    const struct seen *first = first_due(arrivals);

    return first && first->due <= clock_ns(CLOCK_MONOTONIC) ? first->pid : 0;
}

uint64_t arrivals_wait(const struct arrivals *arrivals)
{
    const struct seen *first = first_due(arrivals);
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    return !first ? UINT64_MAX : first->due > now ? first->due - now : 0;
}

double arrivals_seconds(const struct arrivals *arrivals, pid_t pid)
{
    const struct seen *seen = find(arrivals, pid);

    return seen ? (double)(clock_ns(CLOCK_MONOTONIC) - seen->since) / 1e9 : 0;
}

bool arrivals_failed(struct arrivals *arrivals, pid_t pid, const struct error *error)
{
    struct seen *seen = find(arrivals, pid);
    double seconds = arrivals_seconds(arrivals, pid);

    if (!seen)
        return false;
    seen->due = clock_ns(CLOCK_MONOTONIC) + (seconds < SOON_SECONDS ? seen->pause : PAUSE_LATER_NS);
    if (seen->pause < PAUSE_MOST_NS)
        seen->pause *= 2;
    seen->settled = seconds > (error->code == ERROR_UNSUPPORTED ? TABLES_SECONDS : START_SECONDS);
    return seen->settled;
}

void arrivals_postpone(struct arrivals *arrivals, pid_t pid)
{
    struct seen *seen = find(arrivals, pid);

    if (seen)
        seen->due = clock_ns(CLOCK_MONOTONIC) + PAUSE_LATER_NS;
}

void arrivals_settle(struct arrivals *arrivals, pid_t pid)
{
    struct seen *seen = find(arrivals, pid);

    if (seen)
        seen->settled = true;
}

void arrivals_ask_again(struct arrivals *arrivals, pid_t pid)
{
    struct seen *seen = find(arrivals, pid);

    if (!seen)
        return;
    seen->pause = node_name_pause(seen->pause, ASK_PAUSE_MOST_NS);
    seen->due = clock_ns(CLOCK_MONOTONIC) + seen->pause;
}

void arrivals_again(struct arrivals *arrivals, pid_t pid)
{
    struct seen *seen = find(arrivals, pid);

    if (!seen)
        return;
    seen->settled = false;
    seen->since = seen->due = clock_ns(CLOCK_MONOTONIC);
    seen->pause = PAUSE_FIRST_NS;
}
