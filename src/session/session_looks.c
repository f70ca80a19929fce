// SPDX-License-Identifier: Apache-2.0
/* What a session looks at from time to time. */
#include <unistd.h>

#include "os/process.h"
#include "session/session_internal.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/memory_limit.h"

/* A look at the threads of a VM opens a file for each of them. If looks are to be rare, a VM
 * that has used less CPU time than this since the last one waits. */
static const uint64_t LITTLE_NS = 10000000;

void session_look_at_targets(struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        struct target *target = session->targets->of[i];
        bool has_rested = !target->ended && target_has_rested(target, READER_LIFE);

        if (target->ended || (!has_rested && !target_runs(target)))
            continue; /* another process can have its pid */
        symbolizer_look(target->symbolizer, has_rested);
        target_look(target, has_rested, session->segment, session->options->warn);
        if (!has_rested)
            target_look_for_traces(target, session->programs);
    }
}

void session_look_at_threads(struct session *session)
{
    uint64_t most_ns = session->options->threads_ns && !session->paused ? LITTLE_NS : 1;

    session->threads_ns = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < session->targets->count; i++) {
        struct target *target = session->targets->of[i];
        bool has_rested;

        if (target->ended)
            continue;
        has_rested = target_has_hardly_run(target, READER_THREADS, most_ns);
        if (has_rested || target_runs(target))
            symbolizer_look_at_threads(target->symbolizer, has_rested);
    }
}

/* Look at threads first: this reads the activity of each target anew, and the look at targets uses
 * that reading. */
void session_look_at_all(struct session *session)
{
    session_look_at_threads(session);
    session_look_at_targets(session);
}

/* What a VM may take apart from the recording, in bytes. Idle VMs take some 0.4 MB. */
static const uint64_t VM_BYTES = 1 << 20;

/* If this process takes more memory than it may, for whatever reason, keep the tables from growing.
 */
static void look_at_memory(struct session *session)
{
    uint64_t bytes, most = memory_limit() + session->targets->count * VM_BYTES;

    if (!process_own_bytes(getpid(), &bytes) || bytes <= most ||
        profile_is_full(session->segment->profile))
        return;
    log_decision("memory", "%llu bytes are in use: the recording takes no new stacks",
                 (unsigned long long)bytes);
    profile_fill(session->segment->profile);
}

/* Warn once of a process whose lock keeps probes from being attached. A look can also find one that
 * has just mapped memory. */
static void look_at_locks(struct session *session)
{
    enum { LOOKS = 3 };
    pid_t pid = session->options->event_count ? memory_locks_taken(session->memory_locks) : 0;

    session->holder_looks = pid && pid == session->holder ? session->holder_looks + 1 : 1;
    session->holder = pid;
    if (pid && session->holder_looks == LOOKS)
        session->options->warn("while process %d holds the lock of its memory map, probes are not "
                               "attached to any VM: no process of this host could start meanwhile",
                               (int)pid);
}

/* Notice code that was loaded, which reads memory of the VM. A sample that shows new code makes the
 * code of its VM be read at once. */
static void follow_code(struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        struct target *target = session->targets->of[i];

        if (target->ended)
            continue;
        if (!target_is_at_rest(target))
            symbolizer_refresh(target->symbolizer);
        symbolizer_rest(target->symbolizer, target_is_at_rest(target));
    }
}

int session_limit_timeout(const struct session *session, int timeout_ms)
{
    enum { CHANGING_MS = 100 };
    static const uint64_t CHANGING_NS = 1000000000; /* since the last change */
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    for (size_t i = 0; timeout_ms > CHANGING_MS && i < session->targets->count; i++) {
        const struct target *target = session->targets->of[i];
        uint64_t noticed = symbolizer_code_noticed(target->symbolizer);

        if (noticed && !target->ended && now - noticed < CHANGING_NS)
            timeout_ms = CHANGING_MS;
    }
    return timeout_ms;
}

int session_each_second(struct session *session, struct error *error)
{
    for (size_t i = 0; i < session->targets->count; i++)
        target_note_rest(session->targets->of[i]);
    follow_code(session);
    busiest_note(&session->busiest, session->segment->profile);
    if (session->sampler)
        sampler_follow_cpus(session->sampler);
    look_at_memory(session);
    look_at_locks(session);
    return membership_step(session, error);
}
