// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* CPU samples: one at each tick that hits a thread of a target. */
#include "clock.h"
#include "entry.h"

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

/* Add the region of the tick: before all others, so that there is room for it. */
static __always_inline void put_tick(struct scratch *scratch, const struct tick *tick)
{
    __u64 used = scratch->used;

    if (!tick->counted || used > WIRE_KERNEL_DEPTH * sizeof(__u64))
        return;
    *(__u64 *)(scratch->bytes + used) = tick->counted;
    sample_add_region(scratch, REGION_TICK, 0, sizeof(__u64));
}

static __always_inline void sample_tick(struct bpf_perf_event_data *ctx, const struct tick *tick)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    __u32 at = bpf_get_smp_processor_id() * WIRE_SCRATCHES;
    struct scratch *scratch = scratch_at(at);

    if (!scratch)
        return;
    sample_begin(scratch, task);
    if ((__s64)PT_REGS_IP(&ctx->regs) < 0) {
        scratch->sample.flags |= WIRE_IN_KERNEL;
        put_kernel_stack(scratch, ctx);
        entry_registers(scratch, task, PT_REGS_SP(&ctx->regs));
    } else {
        user_registers(scratch, task);
    }
    put_tick(scratch, tick);
    sample_fill(at);
    sample_submit(at);
}

static __always_inline bool is_wanted(const struct wire_target *target)
{
    return !target->skipped || bpf_get_prandom_u32() >= target->skipped;
}

SEC("perf_event")
int sample_cpu(struct bpf_perf_event_data *ctx)
{
    const struct wire_target *target;
    struct tick tick;

    if (!tick_begin(ctx, &tick))
        return 0;
    target = this_target();
    if (target && is_wanted(target))
        sample_tick(ctx, &tick);
    tick_end(&tick);
    return 0;
}
