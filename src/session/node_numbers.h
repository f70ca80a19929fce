// SPDX-License-Identifier: Apache-2.0
/*
 * The numbers of one VM for its operators: as they are now, or counted since the VM is recorded.
 * They have no pointers, so that they can be copied to another process. A number that is not known
 * is NAN.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/dump.h"

enum node_number {
    NUMBER_CPU_FREQUENCY, /* of its CPU samples, per second and CPU; 0: none are recorded */
    /* of each second */
    NUMBER_RUN_QUEUE,
    NUMBER_PROCESSES,
    NUMBER_SCHEDULERS, /* normal ones that the VM has, not those that are online */
    NUMBER_DIRTY_CPU_SCHEDULERS,
    NUMBER_DIRTY_IO_SCHEDULERS,
    NUMBER_CPU_SECONDS, /* counted by the kernel since the VM started */
    NUMBER_REDUCTIONS,  /* this and the next three: counted by the VM since it started */
    NUMBER_SWITCHES,
    NUMBER_COLLECTIONS,
    NUMBER_RECLAIMED, /* bytes */
    /* of some seconds */
    NUMBER_READ_AT, /* seconds since 1970: when the numbers from here on were read */
    NUMBER_PROCESS_LIMIT,
    NUMBER_PORTS,
    NUMBER_PORT_LIMIT,
    NUMBER_ATOMS,
    NUMBER_ATOM_LIMIT,
    NUMBER_RESIDENT, /* bytes */
    NUMBER_TABLES,
    NUMBER_TABLE_BYTES,
    NUMBER_TABLE_OBJECTS,
    NUMBER_PORT_QUEUES, /* bytes */
    NUMBER_BUSY_PORTS,
    NUMBER_BUSY_DISTRIBUTION_PORTS,
    NUMBER_QUEUED, /* messages in the queues of all processes */
    /* of events, estimated; the variance of the number before follows each */
    NUMBER_GC_VARIANCE, /* of the sum of `pauses` */
    NUMBER_DELAY_VARIANCE,
    NUMBER_LONG_SECONDS,
    NUMBER_LONG_VARIANCE,
    NUMBER_SENT,
    NUMBER_SENT_VARIANCE,
    NUMBER_RECEIVED,
    NUMBER_RECEIVED_VARIANCE,
    NODE_NUMBERS
};

/* What threads do, by CPU samples. WAIT: a scheduler spins, goes to sleep or wakes up. */
enum thread_kind { KIND_NORMAL, KIND_DIRTY_CPU, KIND_DIRTY_IO, KIND_OTHER, THREAD_KINDS };
enum thread_state { STATE_WORK, STATE_GC, STATE_WAIT, THREAD_STATES };

/* Times: the upper limits of buckets are 2^14, 2^16, 2^18... ns, and infinity. */
enum { TIME_BUCKETS = 11, FIRST_BUCKET_BIT = 14, BUCKET_BITS = 2 };
struct number_histogram {
    double counts[TIME_BUCKETS]; /* each bucket has those that are longer than the one before */
    double seconds;              /* NAN: the event is not recorded */
};

/* How a process is named in the list of queues. */
enum queue_name { QUEUE_OF_NAME, QUEUE_OF_LABEL, QUEUE_OF_INITIAL_CALL };

enum { QUEUES_MAX = 20, QUEUE_TEXT = 80, COSTS_MAX = 8, EVENT_TEXT = 48 };

struct node_numbers {
    double of[NODE_NUMBERS];
    double cpu_seconds[THREAD_KINDS][THREAD_STATES]; /* [0][0] is NAN: not sampled */
    struct number_histogram pauses, delays;
    size_t allocator_count;
    struct number_allocator {
        char name[24];
        double carriers, blocks; /* bytes */
    } allocators[ALLOCATORS_MAX];
    size_t queue_count;
    struct number_queue {
        char text[QUEUE_TEXT];
        uint32_t by; /* enum queue_name */
        uint32_t processes;
        uint64_t longest;
    } queues[QUEUES_MAX]; /* no two have the same `by` and text; the longest first */
    size_t cost_count;
    struct number_cost {
        char event[EVENT_TEXT];
        double seconds; /* of the probes of the event */
    } costs[COSTS_MAX];
};
