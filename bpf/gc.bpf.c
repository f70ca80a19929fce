// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Garbage collections and heap allocation: at the entry and the return of
 *
 *      garbage_collect(Process *p, ErlHeapFragment *live_hf_end, ...)     erl_gc.c 25:690, 27:720
 *      erts_garbage_collect_hibernate(Process *p, ...)
 *
 * through which all collections of a process heap go. What a process has allocated since its last
 * collection lies between Process.high_water, where that one left the heap's top, and htop, and in
 * heap fragments: so it is known at the next one without having seen the last.
 */
#include "event.h"

/* A collection that goes on, by thread. */
struct collection {
    __u64 began; /* ns */
    __u64 process;
    __u64 words;    /* in use before */
    __u64 binaries; /* words of off-heap binaries before */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, __u64);
    __type(value, struct collection);
} collections SEC(".maps");

/* Words of the heap, the old heap and heap fragments that are in use. */
static __always_inline __u64 words_in_use(const struct wire_target *target, __u64 process)
{
    __u64 heap = user_u64(process + target->process_heap);
    __u64 htop = user_u64(process + target->process_htop);
    __u64 old_heap = user_u64(process + target->process_old_heap);
    __u64 old_htop = user_u64(process + target->process_old_htop);

    return (htop - heap + old_htop - old_heap) / 8 + user_u64(process + target->process_mbuf_sz);
}

static __always_inline __u64 binary_words(const struct wire_target *target, __u64 process)
{
    return user_u64(process + target->process_off_heap_overhead);
}

SEC("uprobe")
int gc_begin(struct pt_regs *ctx)
{
    const struct wire_target *target = this_target();
    __u64 thread = bpf_get_current_pid_tgid();
    struct collection collection = {};
    struct event event = {};

    if (!target || !event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    collection.process = ctx->di;
    collection.words = words_in_use(target, collection.process);
    collection.binaries = binary_words(target, collection.process);
    collection.began = bpf_ktime_get_ns();
    if (bpf_map_update_elem(&collections, &thread, &collection, BPF_ANY))
        add(&event.counts->lost, 1);
    return 0;
}

static __always_inline __u64 less(__u64 before, __u64 after)
{
    return before > after ? before - after : 0;
}

SEC("uprobe")
int gc_end(struct pt_regs *ctx)
{
    const struct wire_target *target = this_target();
    __u64 thread = bpf_get_current_pid_tgid();
    struct collection *collection;
    struct event event = {};
    __u64 cookie = bpf_get_attach_cookie(ctx);
    bool counts;

    counts = target && event_begin(&event, cookie);
    collection = bpf_map_lookup_elem(&collections, &thread);
    if (!collection)
        return 0;
    if (counts) {
        __u64 after = words_in_use(target, collection->process);

        event.hit.duration = bpf_ktime_get_ns() - collection->began;
        event.hit.size = event.hit.duration;
        event.hit.kind = cookie >> 32;
        if (event.hit.kind == WIRE_GC_MINOR &&
            user_u16(collection->process + target->process_gen_gcs) == 0)
            event.hit.kind = WIRE_GC_MAJOR;
        event.hit.values[0] = event.hit.duration;
        event.hit.values[1] = 1;
        event.hit.values[2] = less(collection->words, after);
        event.hit.values[3] =
            8 * less(collection->binaries, binary_words(target, collection->process));
        event_count(&event);
        event_histogram(&event, event.hit.kind, event.hit.duration);
        event_sample(&event, ctx, 0);
    }
    bpf_map_delete_elem(&collections, &thread);
    return 0;
}

SEC("uprobe")
int alloc(struct pt_regs *ctx)
{
    const struct wire_target *target = this_target();
    struct event event = {};
    __u64 process = ctx->di, htop, high_water;

    if (!target || !event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    htop = user_u64(process + target->process_htop);
    high_water = user_u64(process + target->process_high_water);
    event.hit.values[0] = less(htop, high_water) / 8 + user_u64(process + target->process_mbuf_sz);
    event.hit.values[1] = 1;
    event.hit.size = event.hit.values[0];
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}
