// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Messages: at the entry of
 *
 *      copy_struct_x(Eterm obj, Uint words, Eterm **hpp, ...)             copy.c 25:584, 27:610
 *      erts_queue_proc_message(Process *from, Process *to, ErtsProcLocks,
 *                              ErtsMessage *message, Eterm term)          erl_message.c 25:367
 *      erts_queue_proc_messages(from, to, locks, first, last, Uint count)
 *      beam_jit_remove_message(Process *p, ...)                           jit/beam_jit_common.cpp
 *
 * A message is the same ErtsMessage from sending to receiving, so its address tells which it is.
 * How many words it has is known from the copy that was just made to where it lies.
 */
#include "event.h"

/* The copy that a thread made last. */
struct copy {
    __u64 to; /* address */
    __u64 words;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, __u64);
    __type(value, struct copy);
} copies SEC(".maps");

/* A message in a queue, by address. The oldest are given up when there are too many. */
struct message {
    __u64 sent;     /* ns */
    __u64 from, to; /* pid terms; from is 0 if no process sent it */
    __u32 window;
    __u32 pid; /* of the VM */
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 131072);
    __type(key, __u64);
    __type(value, struct message);
} messages SEC(".maps");

SEC("uprobe")
int message_copy(struct pt_regs *ctx)
{
    __u64 thread = bpf_get_current_pid_tgid();
    struct event event = {};
    struct copy copy;

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    copy.words = ctx->si;
    copy.to = user_u64(ctx->dx);
    bpf_map_update_elem(&copies, &thread, &copy, BPF_ANY);
    return 0;
}

/* Words that were copied to where this term lies; 0 for one that has none of its own. */
static __always_inline __u64 words_of(__u64 term)
{
    __u64 thread = bpf_get_current_pid_tgid();
    const struct copy *copy = bpf_map_lookup_elem(&copies, &thread);

    /* Lists and boxed terms are tagged addresses (erl_term.h, TAG_PRIMARY_*). */
    if (!copy || (term & 3) == 0 || (term & 3) == 3)
        return 0;
    return (term & ~7ull) - copy->to < copy->words * 8 ? copy->words : 0;
}

static __always_inline __u64 pid_of(const struct wire_target *target, __u64 process)
{
    return process ? user_u64(process + target->process_id) : 0;
}

SEC("uprobe")
int message_send(struct pt_regs *ctx)
{
    const struct wire_target *target = this_target();
    __u64 address = ctx->cx;
    struct message message = {};
    struct event event = {};

    if (!target || !event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    message.sent = bpf_ktime_get_ns();
    message.from = pid_of(target, ctx->di);
    message.to = pid_of(target, ctx->si);
    message.window = event.slot->window;
    message.pid = bpf_get_current_pid_tgid() >> 32;
    bpf_map_update_elem(&messages, &address, &message, BPF_ANY);
    event.hit.kind = WIRE_MSG_SENT;
    event.hit.size = 1;
    event.hit.peer = message.to;
    event.hit.values[0] = 1;
    event.hit.values[1] = words_of(ctx->r8);
    event_count(&event);
    event_histogram(&event, WIRE_MSG_WORDS, event.hit.values[1]);
    event_sample(&event, ctx, 0);
    return 0;
}

SEC("uprobe")
int message_send_many(struct pt_regs *ctx)
{
    const struct wire_target *target = this_target();
    struct event event = {};

    if (!target || !event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    event.hit.kind = WIRE_MSG_SENT;
    event.hit.size = event.hit.values[0] = ctx->r9;
    event.hit.peer = pid_of(target, ctx->si);
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}

SEC("uprobe")
int message_receive(struct pt_regs *ctx)
{
    const struct wire_target *target = this_target();
    __u64 process = ctx->di, address;
    const struct message *message;
    struct event event = {};

    if (!target || !event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    address = user_u64(user_u64(process + target->process_msgq_save));
    message = bpf_map_lookup_elem(&messages, &address);
    if (!message)
        return 0;
    if (message->window == event.slot->window && message->pid == bpf_get_current_pid_tgid() >> 32 &&
        message->to == pid_of(target, process)) {
        event.hit.duration = bpf_ktime_get_ns() - message->sent;
        event.hit.kind = WIRE_MSG_RECEIVED;
        event.hit.size = 1;
        event.hit.peer = message->from;
        event.hit.values[2] = event.hit.duration;
        event_count(&event);
        event_histogram(&event, WIRE_MSG_DELAY, event.hit.duration);
        event_sample(&event, ctx, 0);
    }
    bpf_map_delete_elem(&messages, &address);
    return 0;
}
