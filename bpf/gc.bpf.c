// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Garbage collections and heap allocation. Programs are at the entry and the return of these two
 * functions, which do nearly all collections of a process heap:
 *
 *      garbage_collect(Process *p, ErlHeapFragment *live_hf_end, ...)
 *                                                          erl_gc.c 25.2.3:676, 27.3.4.1:725
 *      erts_garbage_collect_hibernate(Process *p, ...)
 *
 * The programs do not see the collection of a hibernated process whose literals were purged with
 * their module (erts_garbage_collect_literals(), erl_gc.c 25.2.3:1347, 27.3.4.1:1401, 29.1.1:1389).
 *
 * The terms that a process has allocated since its last collection lie in heap fragments, and on
 * the heap between Process.high_water and htop: a collection sets high_water to the heap's top. So
 * a collection shows what was allocated even if the one before was not seen. Another program is at
 * the entry of
 *
 *      erts_heap_alloc(Process *p, Uint need, Uint more)          utils.c 25.2.3:132, 29.1.1:135
 *
 * which gives heap fragments to C code (for maps and big integers, for example) where the heap is
 * full. It does not collect: the collection comes later, in a function that did not allocate these
 * words.
 */
#include "event.h"

/* A collection in progress, by thread. */
struct collection {
    __u64 began; /* ns */
    __u64 process;
    __u64 heap;
    __u64 words;    /* in use before the collection */
    __u64 binaries; /* words of off-heap binaries before the collection */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, __u64);
    __type(value, struct collection);
} collections SEC(".maps");

/* The off-heap binaries of a process after its last collection. */
struct held_binaries {
    __u64 pid; /* pid term; the struct may belong to another process by now */
    __u64 words;
    __u32 window;
    __u32 unused;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, __u64); /* Process * */
    __type(value, struct held_binaries);
} held_binaries SEC(".maps");

/* Words that were allocated since the last collection and are charged before the next one. The last
 * collection left `high_water`. */
struct charged {
    __u64 pid; /* term */
    __u64 high_water;
    __u64 on_heap, in_fragments;
    __u32 window;
    __u32 unused;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, __u64); /* Process * */
    __type(value, struct charged);
} charged_fragments SEC(".maps");

/* The words in use on the abandoned heap: a process leaves its heap when its collection is put off
 * until it runs on a dirty scheduler (delay_garbage_collection(), erl_gc.c 27.3.4.1:498;
 * young_gen_usage(), 27.3.4.1:604). The last word of the heap is the number of words in use, unless
 * the heap is full. */
static __always_inline __u64 abandoned_words(struct event *event, __u64 process)
{
    __u64 heap = user_u64(event, process + event->target->process_abandoned_heap), size;

    if (!heap)
        return 0;
    size = user_u64(event, process + event->target->process_heap_sz);
    if (user_u32(event, process + event->target->process_flags) & F_ABANDONED_HEAP_USE)
        return user_u64(event, heap + 8 * (size - 1));
    return size;
}

/* The words in use on the heap, on the old heap and in heap fragments. */
static __always_inline __u64 words_in_use(struct event *event, __u64 process)
{
    __u64 heap = user_u64(event, process + event->target->process_heap);
    __u64 htop = user_u64(event, process + event->target->process_htop);
    __u64 old_heap = user_u64(event, process + event->target->process_old_heap);
    __u64 old_htop = user_u64(event, process + event->target->process_old_htop);

    return (htop - heap + old_htop - old_heap) / 8 + abandoned_words(event, process) +
           user_u64(event, process + event->target->process_mbuf_sz);
}

/* The words of off-heap binaries. The VM counts those since the last collection and the older ones
 * in two fields. */
static __always_inline __u64 binary_words(struct event *event, __u64 process)
{
    return user_u64(event, process + event->target->process_off_heap_overhead) +
           user_u64(event, process + event->target->process_bin_old_vheap);
}

static __always_inline __u64 less(__u64 before, __u64 after)
{
    return before > after ? before - after : 0;
}

SEC("uprobe")
int gc_begin(struct pt_regs *ctx)
{
    __u64 thread = bpf_get_current_pid_tgid();
    struct collection collection = {};
    struct event event = {};

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    collection.process = PT_REGS_PARM1(ctx);
    collection.heap = user_u64(&event, collection.process + event.target->process_heap);
    collection.words = words_in_use(&event, collection.process);
    collection.binaries = binary_words(&event, collection.process);
    if (event_failed(&event))
        return 0;
    collection.began = bpf_ktime_get_ns();
    if (bpf_map_update_elem(&collections, &thread, &collection, BPF_ANY))
        add(&event.counts->lost, 1);
    return 0;
}

/* True if the function has collected. Where collecting is disabled now, or left to a dirty
 * scheduler, garbage_collect() only gives the process another piece of heap
 * (delay_garbage_collection(), erl_gc.c 27.3.4.1:498). Left to a dirty scheduler, the function for
 * hibernation does nothing. */
static __always_inline bool was_collected(struct event *event, const struct collection *collection,
                                          __u32 kind)
{
    if (kind == WIRE_GC_HIBERNATE)
        return user_u64(event, collection->process + event->target->process_heap) !=
               collection->heap;
    return user_u64(event, collection->process + event->target->process_abandoned_heap) == 0;
}

/* The exact kind of a collection. A major collection resets the count of minor ones (do_minor,
 * do_major: GEN_GCS). */
static __always_inline __u32 kind_of(struct event *event, __u64 process, __u32 kind)
{
    bool dirty =
        user_u32(event, process + event->target->process_state) & ERTS_PSFLG_DIRTY_RUNNING_SYS;

    if (kind == WIRE_GC_HIBERNATE)
        return kind;
    if (user_u16(event, process + event->target->process_gen_gcs) == 0)
        return dirty ? WIRE_GC_DIRTY_MAJOR : WIRE_GC_MAJOR;
    return dirty ? WIRE_GC_DIRTY_MINOR : WIRE_GC_MINOR;
}

static __always_inline void collected(struct event *event, const struct collection *collection,
                                      __u32 kind)
{
    struct wire_hit *hit = &event->hit;
    __u64 after = words_in_use(event, collection->process);
    __u64 binaries = binary_words(event, collection->process);

    hit->duration = bpf_ktime_get_ns() - collection->began;
    hit->size = hit->duration;
    hit->kind = kind_of(event, collection->process, kind);
    hit->values[0] = hit->duration;
    hit->values[1] = 1;
    hit->values[2] = less(collection->words, after);
    hit->values[3] = 8 * less(collection->binaries, binaries);
    hit->values[4] = collection->words;
    hit->values[5] = after;
}

SEC("uprobe")
int gc_end(struct pt_regs *ctx)
{
    __u64 thread = bpf_get_current_pid_tgid();
    struct collection *collection;
    struct event event = {};
    __u64 cookie = bpf_get_attach_cookie(ctx);
    bool counts;

    counts = event_begin(&event, cookie);
    collection = bpf_map_lookup_elem(&collections, &thread);
    if (!collection)
        return 0;
    if (counts && event_is_in_window(&event, collection->began) &&
        was_collected(&event, collection, cookie >> 32)) {
        collected(&event, collection, cookie >> 32);
        if (!event_failed(&event)) {
            event_count(&event);
            event_histogram(&event, event.hit.kind, event.hit.duration);
            event_sample(&event, ctx, 0);
        }
    }
    bpf_map_delete_elem(&collections, &thread);
    return 0;
}

/* The words of off-heap binaries that the process got since its last collection; 0 if that
 * collection was not seen. */
static __always_inline __u64 new_binaries(struct event *event, __u64 process)
{
    const struct held_binaries *held = bpf_map_lookup_elem(&held_binaries, &process);

    if (!held || held->window != event->slot->window ||
        held->pid != user_u64(event, process + event->target->process_id))
        return 0;
    return less(user_u64(event, process + event->target->process_off_heap_overhead), held->words);
}

/* The words that were allocated on the heap since the last collection. A NIF's environment that
 * belongs to no process has a pseudo process, whose high_water is 0 (setup_nif_env(), erl_nif.c
 * 25.2.3:563). */
static __always_inline __u64 new_on_heap(struct event *event, __u64 process)
{
    __u64 high_water = user_u64(event, process + event->target->process_high_water);

    if (high_water < user_u64(event, process + event->target->process_heap))
        return 0;
    return less(user_u64(event, process + event->target->process_htop), high_water) / 8;
}

/* Find the words that have been charged since the last collection. */
static __always_inline void find_charged(struct event *event, __u64 process,
                                         struct charged *charged)
{
    const struct charged *before = bpf_map_lookup_elem(&charged_fragments, &process);

    charged->pid = user_u64(event, process + event->target->process_id);
    charged->high_water = user_u64(event, process + event->target->process_high_water);
    charged->window = event->slot->window;
    if (!before || before->window != charged->window || before->pid != charged->pid ||
        before->high_water != charged->high_water)
        return;
    charged->on_heap = before->on_heap;
    charged->in_fragments = before->in_fragments;
}

SEC("uprobe")
int alloc_begin(struct pt_regs *ctx)
{
    struct charged charged = {};
    struct event event = {};
    __u64 process = PT_REGS_PARM1(ctx), words;

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    /* The words were counted when the collection was put off. */
    if (user_u64(&event, process + event.target->process_abandoned_heap))
        return 0;
    find_charged(&event, process, &charged);
    bpf_map_delete_elem(&charged_fragments, &process);
    words =
        new_on_heap(&event, process) + user_u64(&event, process + event.target->process_mbuf_sz);
    event.hit.values[0] = less(words, charged.on_heap + charged.in_fragments);
    event.hit.values[1] = 1;
    event.hit.values[2] = 8 * new_binaries(&event, process);
    event.hit.size = event.hit.values[0];
    if (event_failed(&event))
        return 0;
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}

/* The words to charge for a fragment. If the process gets the fragment because its heap is full,
 * the new words on the heap are charged too. */
static __always_inline __u64 charge_fragment(struct event *event, __u64 process, __u64 need,
                                             struct charged *charged)
{
    __u64 in_fragments = user_u64(event, process + event->target->process_mbuf_sz) + need;
    __u64 words = less(in_fragments, charged->in_fragments);

    charged->in_fragments = in_fragments;
    if (event->hit.kind == WIRE_ALLOC_HEAP) {
        __u64 on_heap = new_on_heap(event, process);

        words += less(on_heap, charged->on_heap);
        charged->on_heap = on_heap;
    }
    return words;
}

SEC("uprobe")
int alloc_fragment(struct pt_regs *ctx)
{
    struct charged charged = {};
    struct event event = {};
    __u64 process = PT_REGS_PARM1(ctx), heap, abandoned;

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    heap = user_u64(&event, process + event.target->process_heap);
    abandoned = user_u64(&event, process + event.target->process_abandoned_heap);
    /* A dirty NIF allocates for a process without a heap (ErtsSchedulerData.dirty_shadow_process).
     * These words count when the real process has them. */
    if (event_failed(&event) || !heap || abandoned)
        return 0;
    find_charged(&event, process, &charged);
    /* Arithmetic gets its results in fragments whether the heap is full or not. */
    event.hit.kind =
        PT_REGS_PARM3(ctx) == ERTS_HEAP_FRAG_ONLY_XTRA ? WIRE_ALLOC_FRAGMENT : WIRE_ALLOC_HEAP;
    event.hit.values[0] = charge_fragment(&event, process, PT_REGS_PARM2(ctx), &charged);
    event.hit.size = event.hit.values[0];
    if (event_failed(&event))
        return 0;
    if (bpf_map_update_elem(&charged_fragments, &process, &charged, BPF_ANY)) {
        debug_print("no room for the words of process %llx", process);
        return 0;
    }
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}

SEC("uprobe")
int alloc_end(struct pt_regs *ctx)
{
    struct held_binaries held = {};
    struct event event = {};
    __u64 process;

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    process = current_process(&event);
    if (event_failed(&event) || !process)
        return 0;
    held.pid = user_u64(&event, process + event.target->process_id);
    held.words = user_u64(&event, process + event.target->process_off_heap_overhead);
    if (event_failed(&event))
        return 0;
    held.window = event.slot->window;
    bpf_map_update_elem(&held_binaries, &process, &held, BPF_ANY);
    return 0;
}
