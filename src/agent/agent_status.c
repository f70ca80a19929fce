// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_status.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/family.h"
#include "os/process.h"
#include "util/clock.h"

/* The seconds between two readings of all processes of the agent: of their CPU time, which takes
 * some 10 us for each, and of their memory, which takes some ms. */
enum { CPU_SECONDS = 5, MEMORY_SECONDS = 60 };

struct agent_status *agent_status_new(struct error *error)
{
    struct agent_status *status =
        mmap(NULL, sizeof(*status), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (status != MAP_FAILED)
        return status;
    error_set(error, ERROR_FAILED, "no memory can be shared: %s", strerror(errno));
    return NULL;
}

void agent_status_free(struct agent_status *status)
{
    if (status)
        munmap(status, sizeof(*status));
}

void agent_status_set_refusals(struct agent_status *status, const struct refusal_status *refusals,
                               size_t count)
{
    struct refusals_status *shared = &status->refusals;

    uint64_t by[REFUSAL_KINDS] = {0};

    for (size_t i = 0; i < count; i++)
        by[refusals[i].kind]++;
    for (int i = 0; i < REFUSAL_KINDS; i++)
        atomic_store(&status->refused_by[i], by[i]);
    atomic_store(&status->refused, count);
    if (count > STATUS_REFUSALS_MAX)
        count = STATUS_REFUSALS_MAX;
    if (shared->count == count &&
        (!count || !memcmp(shared->of, refusals, count * sizeof(*refusals))))
        return;
    seqlock_write_begin(&shared->lock);
    shared->count = count;
    if (count)
        memcpy(shared->of, refusals, count * sizeof(*refusals));
    seqlock_write_end(&shared->lock);
}

bool agent_status_refusals(const struct agent_status *status,
                           struct refusal_status refusals[STATUS_REFUSALS_MAX], size_t *count)
{
    enum { TRIES = 1000 };
    const struct refusals_status *shared = &status->refusals;

    for (int i = 0; i < TRIES; i++) {
        uint64_t version;

        if (!seqlock_read_begin(&shared->lock, &version))
            continue;
        *count = shared->count < STATUS_REFUSALS_MAX ? shared->count : STATUS_REFUSALS_MAX;
        memcpy(refusals, shared->of, *count * sizeof(*refusals));
        if (seqlock_read_end(&shared->lock, version))
            return true;
    }
    return false;
}

/* True once `seconds` since the last time. */
static bool is_due(uint64_t *due, unsigned int seconds)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (now < *due)
        return false;
    *due = now + seconds * 1000000000ULL;
    return true;
}

/* A counter never decreases: a process that ends between two reads is in neither. */
static void note_all_processes(struct agent_status *status)
{
    uint64_t cpu, bytes;

    if (is_due(&status->cpu_due, CPU_SECONDS) && family_cpu_time(getpid(), &cpu) &&
        cpu > status->all_cpu_ns)
        status->all_cpu_ns = cpu;
    if (is_due(&status->memory_due, MEMORY_SECONDS) && family_memory(getpid(), &bytes))
        status->all_bytes = bytes;
}

void agent_status_note(struct agent_status *status, const struct session *session,
                       const struct session_options *options, const struct targets *targets)
{
    struct session_status now = session_status(session);
    uint64_t resident;

    for (int i = 0; i < LOSS_COUNT; i++)
        status->losses[i] = now.losses[i];
    status->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (process_resident_bytes(getpid(), &resident))
        status->resident = resident;
    note_all_processes(status);
    status->budget_ppm = options->event_count ? (uint64_t)(options->budget * 1e6) : 0;
    node_board_write(&status->nodes_board, targets, session_profile(session));
}
