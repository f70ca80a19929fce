// SPDX-License-Identifier: Apache-2.0
/* A pause of a session: between the end of a segment and the begin of the next one nothing is
 * sampled. What the targets do meanwhile counts for neither. */
#include "session/session_internal.h"
#include "session/wall.h"

void session_pause(struct session *session)
{
    if (session->sampler && !session->guarded)
        sampler_unwant(session->sampler);
    for (size_t i = 0; i < session->targets->count; i++) {
        const struct target *target = session->targets->of[i];

        if (target->cpu_time)
            vm_cpu_time_stop(target->cpu_time);
        if (target->probes && !target->ended)
            event_probes_pause(target->probes);
    }
    call_events_stop(session->calls);
    session_look_at_all(session);
    session->paused = true;
}

static void resume_all(const struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        const struct target *target = session->targets->of[i];

        if (target->cpu_time && !target->ended)
            vm_cpu_time_resume(target->cpu_time);
        if (target->wall)
            wall_resume(target->wall);
        if (target->probes && !target->ended)
            event_probes_resume(target->probes);
    }
    if (session->sampler && !session->guarded)
        sampler_want(session->sampler);
    call_events_resume(session->calls);
}

void session_resume(struct session *session)
{
    if (!session->changed) /* what has begun anew does not rest */
        resume_all(session);
    session->changed = session->paused = false;
}
