// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Calls of one function of the VM, such as a BIF or a NIF, with the time they take; and hits of one
 * place in the VM's code.
 */
#include "event.h"

struct call_key {
    __u64 thread;
    __u64 slot;
};

/* A call that has not returned. The outermost call of a recursion has the time of all of it. */
struct open_call {
    __u64 began; /* ns */
    __u64 depth; /* nested calls that have not returned */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __type(key, struct call_key);
    __type(value, struct open_call);
} calls SEC(".maps");

SEC("uprobe")
int call_begin(struct pt_regs *ctx)
{
    struct call_key key = {.thread = bpf_get_current_pid_tgid()};
    struct open_call begun = {}, *call;
    struct event event = {};

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    key.slot = event.hit.slot;
    call = bpf_map_lookup_elem(&calls, &key);
    if (call && event_is_in_window(&event, call->began)) {
        call->depth++;
        return 0;
    }
    begun.began = bpf_ktime_get_ns();
    if (bpf_map_update_elem(&calls, &key, &begun, BPF_ANY)) {
        debug_print("no room for a call of slot %u", event.hit.slot);
        add(&event.counts->lost, 1);
    }
    return 0;
}

SEC("uprobe")
int call_end(struct pt_regs *ctx)
{
    struct call_key key = {.thread = bpf_get_current_pid_tgid()};
    struct event event = {};
    struct open_call *call;
    bool counts;

    counts = event_begin(&event, bpf_get_attach_cookie(ctx));
    key.slot = event.hit.slot;
    call = bpf_map_lookup_elem(&calls, &key);
    if (!call)
        return 0;
    if (counts && !event_is_in_window(&event, call->began)) {
        bpf_map_delete_elem(&calls, &key);
        return 0;
    }
    event.hit.values[1] = 1;
    if (call->depth) {
        call->depth--;
    } else {
        event.hit.duration = event.hit.values[0] = bpf_ktime_get_ns() - call->began;
        bpf_map_delete_elem(&calls, &key);
    }
    if (!counts)
        return 0;
    event.hit.size = event.hit.duration;
    event_count(&event);
    if (event.hit.duration)
        event_histogram(&event, 0, event.hit.duration);
    event_sample(&event, ctx, 0);
    return 0;
}

SEC("uprobe")
int place_hit(struct pt_regs *ctx)
{
    struct event event = {};

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    event.hit.size = event.hit.values[0] = 1;
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}
