// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Counts calls of Erlang functions, by caller and by process: runs at each hit of a hardware
 * breakpoint on a function's entry (src/capture/call_counter.h). */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "registers.h"
#include "wire_calls.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The offset of the pid term in struct process. */
const volatile __u32 process_id;

/* The number of the code map: user space adds one each time that the VM's code has changed. Equal
 * return addresses may be in different code at different times. */
__u32 code;

/* The weight of a call now. */
__u64 weight = WIRE_CALL_WEIGHT;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_CALL_SITES);
    __type(key, __u64);
    __type(value, struct wire_call_site);
} sites SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WIRE_CALL_COUNTS);
    __type(key, __u32);
    __type(value, struct wire_call_counts);
} counts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, WIRE_CALL_ENTRIES);
    __type(key, struct wire_call_key);
    __type(value, struct wire_call_row);
} callers SEC(".maps"), processes SEC(".maps");

static __always_inline bool is_still_there(const struct wire_call_site *site, __u64 entry)
{
    __u64 mfa[WIRE_CALL_MFA_WORDS];

    return !bpf_probe_read_user(mfa, sizeof(mfa), (void *)(entry - sizeof(mfa))) &&
           mfa[0] == site->mfa[0] && mfa[1] == site->mfa[1] && mfa[2] == site->mfa[2];
}

/* Count a call, unless the map is full. The kernel handles a breakpoint of user code with
 * interrupts off, so nothing else changes this CPU's row. Two CPUs may add the key at once. */
static __always_inline void count_in(void *map, const struct wire_call_key *key)
{
    struct wire_call_row none = {}, *row = bpf_map_lookup_elem(map, key);

    if (!row) {
        bpf_map_update_elem(map, key, &none, BPF_NOEXIST);
        row = bpf_map_lookup_elem(map, key);
    }
    if (!row)
        return;
    row->calls++;
    row->weight += weight;
}

/* At the entry, the CPU's stack pointer is the Erlang stack's, and the word there is the return
 * address: of the call, or, if a tail call led here, of the call before it. */
SEC("perf_event")
int count_call(struct bpf_perf_event_data *context)
{
    __u64 entry = PT_REGS_IP(&context->regs), top = PT_REGS_SP(&context->regs);
    __u64 process = jit_process(&context->regs);
    struct wire_call_site *site = bpf_map_lookup_elem(&sites, &entry);
    struct wire_call_key caller = {}, by = {};
    struct wire_call_counts *sums, *all;
    __u32 function, of_all = WIRE_CALL_ALL;

    if (!site)
        return 0;
    function = site->function;
    sums = bpf_map_lookup_elem(&counts, &function);
    all = bpf_map_lookup_elem(&counts, &of_all);
    if (!sums || !all)
        return 0;
    all->calls++;
    if (!is_still_there(site, entry)) {
        sums->strangers++;
        return 0;
    }
    sums->calls++;
    sums->weight += weight;
    caller.function = by.function = function;
    caller.code = code;
    if (bpf_probe_read_user(&caller.who, sizeof(caller.who), (void *)top))
        caller.who = 0;
    if (bpf_probe_read_user(&by.who, sizeof(by.who), (void *)(process + process_id)))
        by.who = 0;
    count_in(&callers, &caller);
    count_in(&processes, &by);
    return 0;
}
