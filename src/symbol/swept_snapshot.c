// SPDX-License-Identifier: Apache-2.0
#include "symbol/swept_snapshot.h"

#include <string.h>

#include "symbol/unwind.h"

static void add_segment(struct swept_snapshot *made, enum wire_segment_kind kind, uint64_t address,
                        const uint8_t *bytes, size_t size)
{
    uint32_t at = made->sample.segment_count++;

    made->sample.segments[at] = made->snapshot.segments[at] =
        (struct wire_segment){address, (uint32_t)size, kind};
    made->snapshot.bytes[at] = bytes;
}

static void add_mfa(struct swept_snapshot *made, const struct vm *vm, struct code *code,
                    const uint8_t *process)
{
    uint64_t i, current;

    memcpy(&i, process + vm->layout.process_i, sizeof(i));
    memcpy(&current, process + vm->layout.process_current, sizeof(current));
    if (current && !unwind_goes_on_at(code, i) &&
        memory_read(vm->memory, current, made->mfa, sizeof(made->mfa)))
        add_segment(made, SEGMENT_MFA, current, made->mfa, sizeof(made->mfa));
}

void swept_snapshot_make(struct swept_snapshot *made, const struct vm *vm, struct code *code,
                         const struct swept_process *swept, uint64_t time)
{
    made->sample = (struct wire_sample){
        .time = time,
        .code_generation = code_generation(code),
        .process = swept->address,
        .pid = (uint32_t)vm->pid,
        .flags = WIRE_AT_REST,
    };
    made->snapshot.sample = &made->sample;
    made->snapshot.kernel_stack = NULL;
    add_segment(made, SEGMENT_PROCESS, swept->address, swept->bytes,
                (size_t)vm->layout.sizeof_process);
    add_mfa(made, vm, code, swept->bytes);
    for (size_t i = 0; i < swept->stack_count; i++)
        add_segment(made, SEGMENT_ERLANG, swept->stacks[i].address, swept->stacks[i].bytes,
                    swept->stacks[i].size);
}
