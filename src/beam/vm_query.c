// SPDX-License-Identifier: Apache-2.0
/* Queries of an open VM, possible at any time. */
#include <inttypes.h>
#include <stdio.h>

#include "beam/atom.h"
#include "beam/term.h"
#include "beam/vm.h"

void vm_node_name(struct vm *vm, char *name, size_t size)
{
    char text[256 * 4] = "";
    uint64_t node, atom;

    if (vm->roots.this_node && memory_read_u64(vm->memory, vm->roots.this_node, &node) &&
        memory_read_u64(vm->memory, node + vm->layout.node_sysname, &atom) && term_is_atom(atom))
        atom_table_text(vm->memory, &vm->layout, vm->roots.atom_table, term_atom_index(atom), text,
                        sizeof(text));
    snprintf(name, size, "%s", text);
}

const char *vm_layout_source(const struct vm *vm)
{
    return vm->layout_from_dwarf ? "dwarf" : "table";
}

void vm_assumption(const struct vm *vm, char *text, size_t size)
{
    text[0] = '\0';
    if (vm->assumed_release)
        snprintf(text, size,
                 "process %d is OTP %d (erts %s), which is newer than all known releases: it is "
                 "treated as OTP %d, and results may be wrong",
                 vm->pid, vm->build.otp_release, vm->build.erts, vm->assumed_release);
}

uint32_t vm_process_count(struct vm *vm)
{
    uint32_t count;

    if (!memory_read_u32(vm->memory, vm->roots.proc_table + vm->layout.ptab_count, &count))
        return 0;
    return count;
}

int64_t vm_run_queue_length(struct vm *vm)
{
    int64_t sum = 0;

    if (vm->layout.run_queue_len < 0)
        return -1;
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &vm->schedulers[i];
        uint64_t queue;
        uint32_t length;

        if (scheduler->type != VM_SCHEDULER_NORMAL)
            continue;
        if (!memory_read_u64(vm->memory, scheduler->data + vm->layout.sched_run_queue, &queue) ||
            !memory_read_u32(vm->memory, queue + vm->layout.run_queue_len, &length) ||
            length > INT32_MAX)
            return -1;
        sum += length;
    }
    return sum;
}

const struct vm_scheduler *vm_scheduler_of(struct vm *vm, uint64_t process)
{
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &vm->schedulers[i];
        uint64_t current;

        if (scheduler->type == VM_SCHEDULER_NORMAL &&
            memory_read_u64(vm->memory,
                            scheduler->data + (uint64_t)vm->layout.sched_current_process,
                            &current) &&
            current == process)
            return scheduler;
    }
    return NULL;
}

/* ErtsSchedulerData.reductions grows in erts_schedule() (erl_process.c 26:9600). */
bool vm_reductions(struct vm *vm, uint64_t *reductions)
{
    *reductions = 0;
    if (vm->layout.sched_reductions < 0)
        return false;
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &vm->schedulers[i];
        uint64_t own;

        if (scheduler->type != VM_SCHEDULER_NORMAL)
            continue;
        if (!memory_read_u64(vm->memory, scheduler->data + vm->layout.sched_reductions, &own))
            return false;
        *reductions += own;
    }
    return true;
}

/* Read the frame layout if the symbol file is that of the VM's own code: its first u32 is 0, and
 * the frame layout is at byte 8 (beam_jit_metadata.cpp 25:62). In its old
 * form this file is {0, normal_exit}, and there is one frame layout only. */
static bool read_emulator_entry(struct vm *vm, uint64_t file, uint64_t size, enum vm_frames *frames)
{
    uint32_t kind, layout;

    if (!memory_read_u32(vm->memory, file, &kind) || kind != 0)
        return false;
    if (vm->features.old_gdb_jit) {
        *frames = VM_FRAMES_RA;
        return true;
    }
    if (size < 12 || !memory_read_u32(vm->memory, file + 8, &layout) || layout > 1)
        return false;
    *frames = layout ? VM_FRAMES_FP : VM_FRAMES_RA;
    return true;
}

enum vm_frames vm_frames(struct vm *vm)
{
    enum { ENTRIES_MAX = 1 << 20 };
    uint64_t entry[4], address = 0;
    enum vm_frames frames;

    if (!vm->roots.jit_descriptor ||
        !memory_read_u64(vm->memory, vm->roots.jit_descriptor + 16, &address))
        return VM_FRAMES_UNKNOWN;
    for (int i = 0; address && i < ENTRIES_MAX; i++) {
        if (!memory_read(vm->memory, address, entry, sizeof(entry)))
            return VM_FRAMES_UNKNOWN;
        if (read_emulator_entry(vm, entry[2], entry[3], &frames))
            return frames;
        address = entry[0];
    }
    return VM_FRAMES_UNKNOWN;
}
