// SPDX-License-Identifier: Apache-2.0
#include "symbol/swept_snapshot.h"

#include <string.h>

#include "arch.h"
#include "symbol/unwind.h"

enum { MIN_NATIVE = 64 }; /* smallest useful size of a native stack, bytes */

static void add_region(struct swept_snapshot *made, enum wire_region_kind kind, uint64_t address,
                       const uint8_t *bytes, size_t size)
{
    uint32_t at = made->sample.region_count++;

    made->sample.regions[at] = made->snapshot.regions[at] =
        (struct wire_region){address, (uint32_t)size, kind};
    made->snapshot.bytes[at] = bytes;
}

static void add_mfa(struct swept_snapshot *made, const struct vm *vm, const uint8_t *process)
{
    uint64_t current = layout_word(process, vm->layout.process_current);

    if (current && memory_read(vm->memory, current, made->mfa, sizeof(made->mfa)))
        add_region(made, REGION_MFA, current, made->mfa, sizeof(made->mfa));
}

static void begin(struct swept_snapshot *made, const struct vm *vm, struct code *code,
                  const struct swept_process *swept, uint64_t time)
{
    made->sample = (struct wire_sample){
        .time = time,
        .code_generation = code_generation(code),
        .process = swept->address,
        .pid = (uint32_t)vm->pid,
    };
    made->snapshot.sample = &made->sample;
    made->snapshot.kernel_stack = NULL;
    add_region(made, REGION_PROCESS, swept->address, swept->bytes,
               (size_t)vm->layout.sizeof_process);
}

static void add_stacks(struct swept_snapshot *made, const struct swept_process *swept)
{
    for (size_t i = 0; i < swept->stack_count; i++)
        add_region(made, REGION_ERLANG, swept->stacks[i].address, swept->stacks[i].bytes,
                   swept->stacks[i].size);
}

void swept_snapshot_make(struct swept_snapshot *made, const struct vm *vm, struct code *code,
                         const struct swept_process *swept, uint64_t time)
{
    begin(made, vm, code, swept, time);
    made->sample.flags = WIRE_AT_REST;
    if (!unwind_goes_on_at(code, layout_word(swept->bytes, vm->layout.process_i)))
        add_mfa(made, vm, swept->bytes);
    add_stacks(made, swept);
}

/* Add two regions: the native stack from the stack pointer up, as much as can be read; and the
 * JIT's frame at the other end of the stack, just below the scheduler's registers. */
static bool add_native(struct swept_snapshot *made, const struct vm *vm,
                       const struct stopped_thread *thread)
{
    uint64_t from = thread->registers.value[CPU_SP],
             end = thread->scheduler->registers + JIT_FRAME_END;
    uint64_t size =
        end > from && end - from < sizeof(made->native) ? end - from : sizeof(made->native);

    while (size >= MIN_NATIVE && !memory_read(vm->memory, from, made->native, size))
        size /= 2; /* the thread's oldest frames are near the end of its stack */
    if (from & 7 || size < MIN_NATIVE)
        return false;
    add_region(made, REGION_NATIVE, from, (const uint8_t *)made->native, size);
    if (memory_read(vm->memory, end - sizeof(made->frame), made->frame, sizeof(made->frame)))
        add_region(made, REGION_NATIVE, end - sizeof(made->frame), (const uint8_t *)made->frame,
                   sizeof(made->frame));
    return true;
}

bool swept_snapshot_stopped(struct swept_snapshot *made, const struct vm *vm, struct code *code,
                            const struct swept_process *swept, const struct stopped_thread *thread,
                            uint64_t time)
{
    begin(made, vm, code, swept, time);
    made->sample.flags = WIRE_REGISTERS | (thread->all_registers ? 0 : WIRE_WAITS);
    made->sample.tid = (uint32_t)thread->tid;
    made->sample.scheduler = thread->scheduler->data;
    made->sample.registers = thread->registers;
    memcpy(made->sample.thread_name, thread->name, sizeof(made->sample.thread_name));
    if (!memory_read(vm->memory, thread->scheduler->data, made->scheduler, sizeof(made->scheduler)))
        return false;
    add_region(made, REGION_SCHEDULER, thread->scheduler->data, made->scheduler,
               sizeof(made->scheduler));
    add_mfa(made, vm, swept->bytes);
    add_stacks(made, swept);
    return add_native(made, vm, thread);
}
