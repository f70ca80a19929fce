// SPDX-License-Identifier: Apache-2.0
#include "symbol/snapshot.h"

#include <string.h>

#include "arch.h"
#include "beam/process_trace.h"
#include "symbol/unwind.h"

bool snapshot_open(struct snapshot *snapshot, const void *data, size_t size)
{
    const struct wire_sample *sample = data;
    const uint8_t *at = (const uint8_t *)data + sizeof(*sample);
    size_t left;

    if (size < sizeof(*sample) || sample->kernel_depth > WIRE_KERNEL_DEPTH ||
        sample->region_count > WIRE_REGIONS)
        return false;
    left = size - sizeof(*sample);
    snapshot->sample = sample;
    snapshot->kernel_stack = (const uint64_t *)(const void *)at;
    if (sample->kernel_depth * sizeof(uint64_t) > left)
        return false;
    at += sample->kernel_depth * sizeof(uint64_t);
    left -= sample->kernel_depth * sizeof(uint64_t);
    for (uint32_t i = 0; i < sample->region_count; i++) {
        if (sample->regions[i].size > left)
            return false;
        snapshot->regions[i] = sample->regions[i];
        snapshot->bytes[i] = at;
        at += sample->regions[i].size;
        left -= sample->regions[i].size;
    }
    return true;
}

/* Replace region `i`, which contains these words, by a struct of `size` bytes. */
static void expand(struct snapshot *snapshot, uint32_t i, const struct wire_words *words,
                   enum wire_region_kind kind, uint64_t *whole, size_t size)
{
    struct wire_region *region = &snapshot->regions[i];

    if (words->count > WIRE_WORDS || region->size != words->count * sizeof(uint64_t))
        return;
    memset(whole, 0, size);
    for (uint32_t k = 0; k < words->count; k++)
        if (words->offsets[k] + sizeof(uint64_t) <= size)
            memcpy((uint8_t *)whole + words->offsets[k], snapshot->bytes[i] + k * sizeof(uint64_t),
                   sizeof(uint64_t));
    *region = (struct wire_region){region->address, (uint32_t)size, kind};
    snapshot->bytes[i] = (const uint8_t *)whole;
}

void snapshot_expand(struct snapshot *snapshot, const struct wire_words *process_words,
                     size_t process_size, const struct wire_words *scheduler_words)
{
    if (process_size > sizeof(snapshot->process))
        process_size = sizeof(snapshot->process);
    for (uint32_t i = 0; i < snapshot->sample->region_count; i++) {
        if (snapshot->regions[i].kind == REGION_PROCESS_WORDS)
            expand(snapshot, i, process_words, REGION_PROCESS, snapshot->process, process_size);
        else if (snapshot->regions[i].kind == REGION_SCHEDULER_WORDS)
            expand(snapshot, i, scheduler_words, REGION_SCHEDULER, snapshot->scheduler,
                   sizeof(snapshot->scheduler));
    }
}

const uint8_t *snapshot_region(const struct snapshot *snapshot, enum wire_region_kind kind,
                               size_t size)
{
    for (uint32_t i = 0; i < snapshot->sample->region_count; i++)
        if (snapshot->regions[i].kind == kind)
            return snapshot->regions[i].size >= size ? snapshot->bytes[i] : NULL;
    return NULL;
}

uint64_t snapshot_scheduler_word(const struct snapshot *snapshot, int32_t offset)
{
    const uint8_t *bytes = snapshot_region(snapshot, REGION_SCHEDULER, WIRE_SCHEDULER_BYTES);
    uint64_t value = 0;

    if (bytes && offset >= 0 && (size_t)offset <= WIRE_SCHEDULER_BYTES - sizeof(value))
        memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

/* Read the true return address of a stack slot where the kernel has put its own for a uretprobe.
 * False if it has not. */
static bool replaced_return(const struct snapshot *snapshot, uint64_t address, uint64_t *word)
{
    for (uint32_t i = 0; i < snapshot->sample->region_count; i++) {
        const struct wire_region *region = &snapshot->regions[i];

        if (region->kind != REGION_RETURN || region->address != address ||
            region->size != sizeof(*word))
            continue;
        memcpy(word, snapshot->bytes[i], sizeof(*word));
        return true;
    }
    return false;
}

static bool is_stack(const struct wire_region *region)
{
    return region->kind == REGION_NATIVE || region->kind == REGION_ERLANG;
}

bool snapshot_word(const struct snapshot *snapshot, uint64_t address, uint64_t *word)
{
    for (uint32_t i = 0; i < snapshot->sample->region_count; i++) {
        const struct wire_region *region = &snapshot->regions[i];
        uint64_t offset = address - region->address;

        if (!is_stack(region) || address < region->address || region->size < sizeof(*word) ||
            offset > region->size - sizeof(*word))
            continue;
        if (!replaced_return(snapshot, address, word))
            memcpy(word, snapshot->bytes[i] + offset, sizeof(*word));
        return true;
    }
    return false;
}

uint64_t snapshot_next_erlang(const struct snapshot *snapshot, uint64_t address)
{
    uint64_t next = 0;

    for (uint32_t i = 0; i < snapshot->sample->region_count; i++) {
        const struct wire_region *region = &snapshot->regions[i];
        uint64_t end = region->address + region->size, from = region->address;

        if (region->kind != REGION_ERLANG || end < address + sizeof(uint64_t))
            continue;
        if (from < address)
            from = address;
        if (!next || from < next)
            next = from;
    }
    return next;
}

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

static void begin(struct swept_snapshot *made, const struct vm *vm,
                  const struct swept_process *swept, uint64_t time)
{
    made->sample = (struct wire_sample){
        .time = time,
        .code_generation = swept->code_generation,
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
    begin(made, vm, swept, time);
    made->sample.flags = WIRE_AT_REST;
    if (!unwind_resumes_at(code, layout_word(swept->bytes, vm->layout.process_i)))
        add_mfa(made, vm, swept->bytes);
    add_stacks(made, swept);
}

void swept_snapshot_add_trace(struct swept_snapshot *made, const struct vm *vm,
                              const struct wire_trace_atoms *atoms,
                              const struct swept_process *swept)
{
    enum process_trace found =
        process_trace_read(vm, atoms, swept->address, swept->bytes, &made->trace);

    if (found == PROCESS_TRACE_FOUND)
        add_region(made, REGION_TRACE, 0, (const uint8_t *)&made->trace, sizeof(made->trace));
    if (found == PROCESS_TRACE_UNKNOWN)
        made->sample.flags |= WIRE_TRACE_UNKNOWN;
}

/* Add two regions: the native stack from the stack pointer up, as much as can be read; and the
 * JIT's frame at the other end of the stack, just below the scheduler's registers. */
static bool add_native(struct swept_snapshot *made, const struct vm *vm,
                       const struct stopped_thread *thread)
{
    uint64_t from = thread->registers.value[CPU_SP],
             end = thread->scheduler->registers + JIT_FRAME_END;
    uint64_t size;

    /* In Erlang code on a stack of its own, the machine stack has little more than the frame. */
    if (end > from && end - from < MIN_NATIVE)
        from = end - MIN_NATIVE;
    size = end > from && end - from < sizeof(made->native) ? end - from : sizeof(made->native);

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

bool swept_snapshot_stopped(struct swept_snapshot *made, const struct vm *vm,
                            const struct swept_process *swept, const struct stopped_thread *thread,
                            uint64_t time)
{
    begin(made, vm, swept, time);
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
