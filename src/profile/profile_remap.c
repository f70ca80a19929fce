// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_remap.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

void profile_remap_free(struct profile_remap *remap)
{
    free(remap->stacks.ids);
    free(remap->processes.ids);
    free(remap->threads.ids);
    free(remap->targets.ids);
}

/* The element of `id`: its id in `to`, or 0 if it was not copied yet. */
static uint32_t *place_of(struct carried *carried, uint32_t id)
{
    carried->ids = xgrow(carried->ids, &carried->room, id, sizeof(*carried->ids));
    return &carried->ids[id];
}

string_id profile_remap_string(struct profile_remap *remap, string_id id)
{
    return id ? profile_string_z(remap->to, profile_text(remap->from, id)) : 0;
}

/* The target that is equal except for the number of processes; added if there is none. */
static target_id same_target(struct profile *profile, const struct target_entry *target)
{
    struct target_entry own = *target;

    for (target_id id = 1; id <= profile_counts(profile).targets; id++) {
        const struct target_entry *other = profile_get_target(profile, id);

        own.processes = other->processes;
        if (!memcmp(&own, other, sizeof(own)))
            return id;
    }
    return profile_target(profile, target);
}

static target_id copy_target(struct profile_remap *remap, target_id id)
{
    struct target_entry target = *profile_get_target(remap->from, id);

    target.node = profile_remap_string(remap, target.node);
    target.otp_release = profile_remap_string(remap, target.otp_release);
    target.erts = profile_remap_string(remap, target.erts);
    target.flavor = profile_remap_string(remap, target.flavor);
    target.executable = profile_remap_string(remap, target.executable);
    target.container = profile_remap_string(remap, target.container);
    target.layout = profile_remap_string(remap, target.layout);
    target.attributes = profile_remap_string(remap, target.attributes);
    target.host = profile_remap_string(remap, target.host);
    if (!target.host && remap->host)
        target.host = profile_string_z(remap->to, remap->host);
    return same_target(remap->to, &target);
}

target_id profile_remap_target(struct profile_remap *remap, target_id id)
{
    target_id *own = place_of(&remap->targets, id);

    if (id && !*own)
        *own = copy_target(remap, id);
    return *own;
}

thread_id profile_remap_thread(struct profile_remap *remap, thread_id id)
{
    struct thread_entry thread;

    if (!id)
        return 0;
    thread = *profile_get_thread(remap->from, id);
    thread.target = profile_remap_target(remap, thread.target);
    thread.name = profile_remap_string(remap, thread.name);
    return profile_thread(remap->to, &thread);
}

/* A list of ids. A chain is read from its leaf, but built from its root; it can be long. */
struct id_chain {
    uint32_t *ids;
    size_t count, room;
};

static void chain_add(struct id_chain *chain, uint32_t id)
{
    chain->ids = xgrow(chain->ids, &chain->room, chain->count, sizeof(*chain->ids));
    chain->ids[chain->count++] = id;
}

static ancestor_id profile_remap_ancestors(struct profile_remap *remap, ancestor_id id)
{
    struct id_chain chain = {0};
    ancestor_id up = 0;

    for (; id; id = profile_get_ancestor(remap->from, id)->up)
        chain_add(&chain, id);
    while (chain.count) {
        const struct ancestor *own = profile_get_ancestor(remap->from, chain.ids[--chain.count]);

        up = profile_ancestor(remap->to, up, profile_remap_string(remap, own->name));
    }
    free(chain.ids);
    return up;
}

static process_id profile_remap_one_process(struct profile_remap *remap, process_id id,
                                            process_id parent)
{
    struct process_entry process = *profile_get_process(remap->from, id);

    process.target = profile_remap_target(remap, process.target);
    process.pid = profile_remap_string(remap, process.pid);
    process.name = profile_remap_string(remap, process.name);
    process.label = profile_remap_string(remap, process.label);
    process.initial_call = profile_remap_string(remap, process.initial_call);
    process.application = profile_remap_string(remap, process.application);
    process.parent = parent;
    process.ancestors = profile_remap_ancestors(remap, process.ancestors);
    return profile_process(remap->to, &process);
}

/* Copy a process and its parents, up to one that was copied before. */
process_id profile_remap_process(struct profile_remap *remap, process_id id)
{
    struct id_chain chain = {0};
    process_id result = 0;

    for (; id && !*place_of(&remap->processes, id);
         id = profile_get_process(remap->from, id)->parent)
        chain_add(&chain, id);
    if (id)
        result = *place_of(&remap->processes, id);
    while (chain.count) {
        id = chain.ids[--chain.count];
        result = profile_remap_one_process(remap, id, result);
        *place_of(&remap->processes, id) = result;
    }
    free(chain.ids);
    return result;
}

static module_id profile_remap_module(struct profile_remap *remap, module_id id)
{
    struct module module;

    if (!id)
        return 0;
    module = *profile_get_module(remap->from, id);
    module.path = profile_remap_string(remap, module.path);
    module.build_id = profile_remap_string(remap, module.build_id);
    return profile_module(remap->to, &module);
}

static frame_id profile_remap_frame(struct profile_remap *remap, frame_id id)
{
    struct frame frame = *profile_get_frame(remap->from, id);
    const char *name = remap->alike ? alike_frames_name(remap->alike, remap->from, &frame) : NULL;

    if (name) {
        frame.unresolved = 0;
        frame.likeness = 0;
    }
    frame.symbol =
        name ? profile_string_z(remap->to, name) : profile_remap_string(remap, frame.symbol);
    frame.module = profile_remap_module(remap, frame.module);
    frame.file = profile_remap_string(remap, frame.file);
    return profile_frame(remap->to, &frame);
}

/* Copy a stack and its callers, up to one that was copied before. */
static stack_id profile_remap_stack(struct profile_remap *remap, stack_id id)
{
    struct id_chain chain = {0};
    stack_id result = 0;

    for (; id && !*place_of(&remap->stacks, id); id = profile_get_stack(remap->from, id)->parent)
        chain_add(&chain, id);
    if (id)
        result = *place_of(&remap->stacks, id);
    while (chain.count) {
        id = chain.ids[--chain.count];
        result =
            profile_stack(remap->to, result,
                          profile_remap_frame(remap, profile_get_stack(remap->from, id)->frame));
        *place_of(&remap->stacks, id) = result;
    }
    free(chain.ids);
    return result;
}

/* The id in `to` for `id`; made and remembered if it was not copied yet. */
static uint32_t known(struct profile_remap *remap, struct carried *carried, uint32_t id,
                      uint32_t (*make)(struct profile_remap *remap, uint32_t id))
{
    uint32_t result = *place_of(carried, id);

    if (!result && id)
        result = *place_of(carried, id) = make(remap, id);
    return result;
}

event_id profile_remap_event(struct profile_remap *remap, event_id id)
{
    struct event_entry event = *profile_get_event(remap->from, id);

    event.name = profile_remap_string(remap, event.name);
    for (uint32_t i = 0; i < event.value_count; i++)
        event.values[i].name = profile_remap_string(remap, event.values[i].name);
    return profile_event(remap->to, &event);
}

void profile_remap_sample(struct profile_remap *remap, struct sample *sample)
{
    sample->stack = known(remap, &remap->stacks, sample->stack, profile_remap_stack);
    sample->process = known(remap, &remap->processes, sample->process, profile_remap_process);
    sample->peer = known(remap, &remap->processes, sample->peer, profile_remap_process);
    sample->thread = known(remap, &remap->threads, sample->thread, profile_remap_thread);
    sample->detail = profile_remap_string(remap, sample->detail);
    if (sample->trace_span)
        sample->trace_span =
            profile_trace_span(remap->to, profile_get_trace_span(remap->from, sample->trace_span));
}
