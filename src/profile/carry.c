// SPDX-License-Identifier: Apache-2.0
#include "profile/carry.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

void carry_free(struct carry *carry)
{
    free(carry->stacks.ids);
    free(carry->processes.ids);
    free(carry->threads.ids);
}

/* The element of `id`: its id in `to`, or 0 if it was not copied yet. */
static uint32_t *place_of(struct carried *carried, uint32_t id)
{
    carried->ids = xgrow(carried->ids, &carried->room, id, sizeof(*carried->ids));
    return &carried->ids[id];
}

string_id carry_string(struct carry *carry, string_id id)
{
    return id ? profile_string_z(carry->to, profile_text(carry->from, id)) : 0;
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

target_id carry_target(struct carry *carry, target_id id)
{
    struct target_entry target;

    if (!id)
        return 0;
    target = *profile_get_target(carry->from, id);
    target.node = carry_string(carry, target.node);
    target.otp_release = carry_string(carry, target.otp_release);
    target.erts = carry_string(carry, target.erts);
    target.flavor = carry_string(carry, target.flavor);
    target.executable = carry_string(carry, target.executable);
    target.container = carry_string(carry, target.container);
    target.layout = carry_string(carry, target.layout);
    target.host = carry_string(carry, target.host);
    if (!target.host && carry->host)
        target.host = profile_string_z(carry->to, carry->host);
    return same_target(carry->to, &target);
}

thread_id carry_thread(struct carry *carry, thread_id id)
{
    struct thread_entry thread;

    if (!id)
        return 0;
    thread = *profile_get_thread(carry->from, id);
    thread.target = carry_target(carry, thread.target);
    thread.name = carry_string(carry, thread.name);
    return profile_thread(carry->to, &thread);
}

/* A list of ids. A chain is read from its leaf, but built from its root; it can be long. */
struct chain {
    uint32_t *ids;
    size_t count, room;
};

static void chain_add(struct chain *chain, uint32_t id)
{
    chain->ids = xgrow(chain->ids, &chain->room, chain->count, sizeof(*chain->ids));
    chain->ids[chain->count++] = id;
}

static ancestor_id carry_ancestors(struct carry *carry, ancestor_id id)
{
    struct chain chain = {0};
    ancestor_id up = 0;

    for (; id; id = profile_get_ancestor(carry->from, id)->up)
        chain_add(&chain, id);
    while (chain.count) {
        const struct ancestor *own = profile_get_ancestor(carry->from, chain.ids[--chain.count]);

        up = profile_ancestor(carry->to, up, carry_string(carry, own->name));
    }
    free(chain.ids);
    return up;
}

static process_id carry_one_process(struct carry *carry, process_id id, process_id parent)
{
    struct process_entry process = *profile_get_process(carry->from, id);

    process.target = carry_target(carry, process.target);
    process.pid = carry_string(carry, process.pid);
    process.name = carry_string(carry, process.name);
    process.label = carry_string(carry, process.label);
    process.initial_call = carry_string(carry, process.initial_call);
    process.application = carry_string(carry, process.application);
    process.parent = parent;
    process.ancestors = carry_ancestors(carry, process.ancestors);
    return profile_process(carry->to, &process);
}

static process_id carry_process(struct carry *carry, process_id id)
{
    struct chain chain = {0};
    process_id result = 0;

    for (; id; id = profile_get_process(carry->from, id)->parent)
        chain_add(&chain, id);
    while (chain.count)
        result = carry_one_process(carry, chain.ids[--chain.count], result);
    free(chain.ids);
    return result;
}

static module_id carry_module(struct carry *carry, module_id id)
{
    struct module module;

    if (!id)
        return 0;
    module = *profile_get_module(carry->from, id);
    module.path = carry_string(carry, module.path);
    module.build_id = carry_string(carry, module.build_id);
    return profile_module(carry->to, &module);
}

static frame_id carry_frame(struct carry *carry, frame_id id)
{
    struct frame frame = *profile_get_frame(carry->from, id);

    frame.symbol = carry_string(carry, frame.symbol);
    frame.module = carry_module(carry, frame.module);
    frame.file = carry_string(carry, frame.file);
    return profile_frame(carry->to, &frame);
}

static stack_id carry_stack(struct carry *carry, stack_id id)
{
    struct chain chain = {0};
    stack_id result = 0;

    for (; id; id = profile_get_stack(carry->from, id)->parent)
        chain_add(&chain, profile_get_stack(carry->from, id)->frame);
    while (chain.count)
        result = profile_stack(carry->to, result, carry_frame(carry, chain.ids[--chain.count]));
    free(chain.ids);
    return result;
}

/* The id in `to` for `id`; made and remembered if it was not copied yet. */
static uint32_t known(struct carry *carry, struct carried *carried, uint32_t id,
                      uint32_t (*make)(struct carry *carry, uint32_t id))
{
    uint32_t result = *place_of(carried, id);

    if (!result && id)
        result = *place_of(carried, id) = make(carry, id);
    return result;
}

event_id carry_event(struct carry *carry, event_id id)
{
    struct event_entry event = *profile_get_event(carry->from, id);

    event.name = carry_string(carry, event.name);
    for (uint32_t i = 0; i < event.value_count; i++)
        event.values[i].name = carry_string(carry, event.values[i].name);
    return profile_event(carry->to, &event);
}

void carry_sample(struct carry *carry, struct sample *sample)
{
    sample->stack = known(carry, &carry->stacks, sample->stack, carry_stack);
    sample->process = known(carry, &carry->processes, sample->process, carry_process);
    sample->peer = known(carry, &carry->processes, sample->peer, carry_process);
    sample->thread = known(carry, &carry->threads, sample->thread, carry_thread);
    sample->detail = carry_string(carry, sample->detail);
}
