// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "beam/vm_parts.h"
#include "util/alloc.h"

/* Read the scheduler at `address`; false if there is none with this type and number. */
static bool read_scheduler(const struct vm *vm, uint64_t address, enum vm_scheduler_type type,
                           uint32_t number, struct vm_scheduler *scheduler)
{
    const struct layout *layout = &vm->layout;
    int32_t number_at = type == VM_SCHEDULER_NORMAL ? layout->sched_no : layout->sched_dirty_no;
    struct vm_scheduler read = {.data = address, .type = type, .number = number};
    uint64_t stored_number;
    uint32_t stored_type;

    if (!memory_read_u32(vm->memory, address + layout->sched_type, &stored_type) ||
        !memory_read_u64(vm->memory, address + number_at, &stored_number) ||
        !memory_read_u64(vm->memory, address + layout->sched_tid, &read.tid) ||
        stored_type != (uint32_t)type || stored_number != number)
        return false;
    if (layout->sched_registers >= 0 &&
        !memory_read_u64(vm->memory, address + layout->sched_registers, &read.registers))
        return false;
    *scheduler = read;
    return true;
}

/* Threads are started one after the other. */
static bool all_run(const struct vm_scheduler *schedulers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (schedulers[i].tid == 0)
            return false;
    }
    return true;
}

/* The schedulers of a type lie side by side and are numbered from 1; the array ends where the next
 * number is not found. */
int vm_read_schedulers(struct vm *vm, struct error *error)
{
    struct vm_scheduler *schedulers = xmalloc(VM_SCHEDULERS_MAX * sizeof(*schedulers));
    uint32_t count = 0, counts[3] = {0};

    for (int type = 0; type < 3; type++) {
        uint64_t address = vm->roots.schedulers[type];

        while (count < VM_SCHEDULERS_MAX &&
               read_scheduler(vm, address, type, counts[type] + 1, &schedulers[count])) {
            counts[type]++;
            count++;
            address += vm->layout.sizeof_sched_aligned;
        }
    }
    if (counts[0] == 0 || !all_run(schedulers, count)) {
        free(schedulers);
        return error_set(error, ERROR_UNSUPPORTED, "the VM has not started its schedulers");
    }
    vm->schedulers = xreallocarray(schedulers, count, sizeof(*schedulers));
    vm->scheduler_count = count;
    for (int type = 0; type < 3; type++)
        vm->scheduler_counts[type] = counts[type];
    return 0;
}
