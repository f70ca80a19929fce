// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* CPU samples: on each perf event that hits a thread of a target. */
#include "sample.h"

static __always_inline void put_kernel_stack(struct scratch *scratch, void *ctx)
{
    long bytes = bpf_get_stack(ctx, scratch->bytes, WIRE_KERNEL_DEPTH * sizeof(__u64), 0);

    if (bytes < 0 || bytes >= (long)(WIRE_KERNEL_DEPTH * sizeof(__u64)))
        scratch->sample.flags |= WIRE_KERNEL_STACK_CUT;
    if (bytes < 0)
        return;
    scratch->sample.kernel_depth = bytes / sizeof(__u64);
    scratch->used = scratch->sample.kernel_depth * sizeof(__u64);
}

SEC("perf_event")
int sample_cpu(struct bpf_perf_event_data *ctx)
{
    __u32 pid = bpf_get_current_pid_tgid() >> 32;
    struct task_struct *task = (void *)bpf_get_current_task();
    __u32 at = bpf_get_smp_processor_id() * WIRE_SCRATCHES;
    struct scratch *scratch;

    if (!bpf_map_lookup_elem(&targets, &pid))
        return 0;
    scratch = scratch_at(at);
    if (!scratch)
        return 0;
    sample_begin(scratch, task);
    if ((__s64)ctx->regs.ip < 0) {
        scratch->sample.flags |= WIRE_IN_KERNEL;
        put_kernel_stack(scratch, ctx);
    }
    user_registers(scratch, task);
    sample_fill(at);
    sample_submit(at);
    return 0;
}
