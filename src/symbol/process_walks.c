// SPDX-License-Identifier: Apache-2.0
#include "symbol/processes_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beam/process_metrics.h"
#include "beam/process_walk.h"
#include "util/address_map.h"
#include "util/alloc.h"

#define SECOND           ((uint64_t)1000000000)
#define LONGEST_INTERVAL (64 * SECOND)

/* A read takes about 1 us. So a walk takes at most 1 or 2 ms, and all walks take at most 1 or 2 %
 * of a CPU. */
enum { PROCESSES_MAX = 1 << 16, READS_OF_PROCESS = 1000, READS_OF_SECOND = 10000 };

struct process_walks {
    struct vm *vm;
    struct address_map *walked; /* time of the last walk, by process */
    uint64_t least, interval;   /* between walks through the same process, ns */
    uint64_t since;             /* start of the current second */
    size_t reads;               /* left in the current second */
    uint8_t *bytes;             /* buffer for a Process struct */
};

struct process_walks *process_walks_new(struct vm *vm)
{
    struct process_walks *walks = xcalloc(1, sizeof(*walks));

    walks->vm = vm;
    walks->least = walks->interval = SECOND;
    walks->walked = address_map_new(PROCESSES_MAX);
    walks->bytes = xmalloc((size_t)vm->layout.sizeof_process);
    return walks;
}

void process_walks_free(struct process_walks *walks)
{
    if (!walks)
        return;
    address_map_free(walks->walked);
    free(walks->bytes);
    free(walks);
}

void process_walks_set_pace(struct process_walks *walks, uint64_t ns)
{
    walks->least = walks->interval = ns;
}

/* Samples arrive slightly out of order. */
static bool is_later_by(uint64_t time, uint64_t than, uint64_t ns)
{
    return time > than && time - than >= ns;
}

/* Begin a second. If the reads of the last second were used up, the processes with the earliest
 * samples would get all of them. Longer intervals leave reads to the others. */
static void begin_second(struct process_walks *walks, uint64_t time)
{
    if (walks->since && !walks->reads && walks->interval < LONGEST_INTERVAL)
        walks->interval *= 2;
    else if (walks->reads > READS_OF_SECOND * 3 / 4 && walks->interval > walks->least)
        walks->interval /= 2;
    walks->since = time;
    walks->reads = READS_OF_SECOND;
}

/* May this process be walked now? If so, this counts as its walk. */
static bool is_due(struct process_walks *walks, uint64_t address, uint64_t time)
{
    uint64_t last;

    if (is_later_by(time, walks->since, SECOND))
        begin_second(walks, time);
    if (!walks->reads || (address_map_get(walks->walked, address, &last) &&
                          !is_later_by(time, last, walks->interval)))
        return false;
    address_map_put(walks->walked, address, time);
    return true;
}

/* Read and walk the process as it is now. False if it is no longer the same process. */
static bool read_now(struct process_walks *walks, uint64_t address, uint64_t id,
                     struct metrics *metrics)
{
    size_t most = walks->reads < READS_OF_PROCESS ? walks->reads : READS_OF_PROCESS;
    size_t done;

    walks->reads--;
    if (!memory_read(walks->vm->memory, address, walks->bytes,
                     (size_t)walks->vm->layout.sizeof_process) ||
        memcmp(walks->bytes + walks->vm->layout.process_id, &id, sizeof(id)) != 0)
        return false;
    process_metrics_read(walks->vm, walks->bytes, NULL, metrics);
    done = process_walk_metrics(walks->vm, address, walks->bytes, most, metrics);
    walks->reads -= done < walks->reads ? done : walks->reads;
    return true;
}

void process_walks_add(struct process_walks *walks, uint64_t address, uint64_t id, uint64_t time,
                       struct metrics *metrics)
{
    static const enum metric walked[] = {METRIC_MSGQ, METRIC_MBUF, METRIC_HEAP, METRIC_MEMORY,
                                         METRIC_BINARIES};
    struct metrics now;

    if (!is_due(walks, address, time) || !read_now(walks, address, id, &now))
        return;
    for (size_t i = 0; i < sizeof(walked) / sizeof(*walked); i++) {
        if (!metrics_know(metrics, walked[i]) && metrics_know(&now, walked[i]))
            metrics_set(metrics, walked[i], now.values[walked[i]]);
    }
}
