// SPDX-License-Identifier: Apache-2.0
#include "profile/carry.h"

#include <stdlib.h>

#include "util/alloc.h"

/* Text of a profile moves when strings are added to it, but never that of another one. */
string_id carry_string(const struct profile *from, string_id id, struct profile *to)
{
    return id ? profile_string_z(to, profile_text(from, id)) : 0;
}

target_id carry_target(const struct profile *from, target_id id, struct profile *to)
{
    struct target_entry target;

    if (!id)
        return 0;
    target = *profile_get_target(from, id);
    target.node = carry_string(from, target.node, to);
    target.otp_release = carry_string(from, target.otp_release, to);
    target.erts = carry_string(from, target.erts, to);
    target.flavor = carry_string(from, target.flavor, to);
    target.executable = carry_string(from, target.executable, to);
    target.container = carry_string(from, target.container, to);
    target.layout = carry_string(from, target.layout, to);
    return profile_target(to, &target);
}

thread_id carry_thread(const struct profile *from, thread_id id, struct profile *to)
{
    struct thread_entry thread;

    if (!id)
        return 0;
    thread = *profile_get_thread(from, id);
    thread.target = carry_target(from, thread.target, to);
    thread.name = carry_string(from, thread.name, to);
    return profile_thread(to, &thread);
}

/* Chains are read from their near end and made from the far one; they can be long. */
struct chain {
    uint32_t *ids;
    size_t count, room;
};

static void chain_add(struct chain *chain, uint32_t id)
{
    chain->ids = xgrow(chain->ids, &chain->room, chain->count, sizeof(*chain->ids));
    chain->ids[chain->count++] = id;
}

static ancestor_id carry_ancestors(const struct profile *from, ancestor_id id, struct profile *to)
{
    struct chain chain = {0};
    ancestor_id up = 0;

    for (; id; id = profile_get_ancestor(from, id)->up)
        chain_add(&chain, id);
    while (chain.count) {
        const struct ancestor *own = profile_get_ancestor(from, chain.ids[--chain.count]);

        up = profile_ancestor(to, up, carry_string(from, own->name, to));
    }
    free(chain.ids);
    return up;
}

static process_id carry_one_process(const struct profile *from, process_id id, process_id parent,
                                    struct profile *to)
{
    struct process_entry process = *profile_get_process(from, id);

    process.target = carry_target(from, process.target, to);
    process.pid = carry_string(from, process.pid, to);
    process.name = carry_string(from, process.name, to);
    process.label = carry_string(from, process.label, to);
    process.initial_call = carry_string(from, process.initial_call, to);
    process.application = carry_string(from, process.application, to);
    process.parent = parent;
    process.ancestors = carry_ancestors(from, process.ancestors, to);
    return profile_process(to, &process);
}

static process_id carry_process(const struct profile *from, process_id id, struct profile *to)
{
    struct chain chain = {0};
    process_id result = 0;

    for (; id; id = profile_get_process(from, id)->parent)
        chain_add(&chain, id);
    while (chain.count)
        result = carry_one_process(from, chain.ids[--chain.count], result, to);
    free(chain.ids);
    return result;
}

static module_id carry_module(const struct profile *from, module_id id, struct profile *to)
{
    struct module module;

    if (!id)
        return 0;
    module = *profile_get_module(from, id);
    module.path = carry_string(from, module.path, to);
    module.build_id = carry_string(from, module.build_id, to);
    return profile_module(to, &module);
}

static frame_id carry_frame(const struct profile *from, frame_id id, struct profile *to)
{
    struct frame frame = *profile_get_frame(from, id);

    frame.symbol = carry_string(from, frame.symbol, to);
    frame.module = carry_module(from, frame.module, to);
    frame.file = carry_string(from, frame.file, to);
    return profile_frame(to, &frame);
}

static stack_id carry_stack(const struct profile *from, stack_id id, struct profile *to)
{
    struct chain chain = {0};
    stack_id result = 0;

    for (; id; id = profile_get_stack(from, id)->parent)
        chain_add(&chain, profile_get_stack(from, id)->frame);
    while (chain.count)
        result = profile_stack(to, result, carry_frame(from, chain.ids[--chain.count], to));
    free(chain.ids);
    return result;
}

void carry_sample(const struct profile *from, struct sample *sample, struct profile *to)
{
    sample->stack = carry_stack(from, sample->stack, to);
    sample->process = carry_process(from, sample->process, to);
    sample->peer = carry_process(from, sample->peer, to);
    sample->thread = carry_thread(from, sample->thread, to);
    sample->detail = carry_string(from, sample->detail, to);
}
