// SPDX-License-Identifier: Apache-2.0
/* The matcher of patterns that runs in the kernel, bpf/match.h, on the memory of a fake target. */
#pragma once

#include "fake_target.h"
#include "wire_calls.h"

#define SEC(name)
#define __uint(name, value)                  int(*name)[value]
#define __type(name, type)                   type *name
#define __noinline                           static __attribute__((noinline, unused))
#define __sync_fetch_and_add(pointer, value) (*(pointer) += (value))
#define BPF_NOEXIST                          1
enum { BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_PERCPU_ARRAY };

static void *bpf_map_lookup_elem(const void *map, const void *key);
static long bpf_probe_read_user(void *to, __u32 size, const void *at);

/* A clock that ticks when it is read. */
static inline __u64 bpf_ktime_get_ns(void)
{
    static __u64 now;

    return ++now;
}

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value,
                                       unsigned long flags)
{
    (void)map, (void)key, (void)value, (void)flags;
    return -1;
}

/* The kernel's constant becomes a pointer, which can be set. */
#define argument_fields (*kernel_fields)
#include "../../bpf/match.h"
#undef argument_fields

static struct fake_target *kernel_target;
static struct wire_match kernel_pattern; /* of function 0 */
static __u64 kernel_search_ns;           /* of all matches: a tick for each tree */

static void *bpf_map_lookup_elem(const void *map, const void *key)
{
    static struct match_slots slots;

    if (map == &match_slots)
        return &slots;
    return map == &matches && *(const __u32 *)key == 0 ? &kernel_pattern : NULL;
}

/* As the kernel does, leave zeros where memory can't be read. */
static long bpf_probe_read_user(void *to, __u32 size, const void *at)
{
    if (fake_read(&kernel_target->memory, (uint64_t)(uintptr_t)at, to, size))
        return 0;
    memset(to, 0, size);
    return -1;
}

/* Match arguments, whose words are in the target, by `kernel_pattern`. */
static inline enum match_result kernel_match(struct fake_target *target, bool in_bits,
                                             uint64_t arguments, uint32_t arity)
{
    static struct wire_argument_fields fields = {.binary_of_size = 16};

    kernel_target = target;
    fields.in_bits = in_bits;
    kernel_fields = &fields;
    return match_call(0, arguments, arity, &kernel_search_ns);
}
