// SPDX-License-Identifier: Apache-2.0
/*
 *  erts_allctrs_info[number]                                        Allctr_t: an instance
 *    thr_spec = 0: extra ─────────────────────────────────────────> alloc_no | name_prefix
 *    else:         extra ──> ErtsAllocatorThrSpec_t                 sbcs, mbcs: CarriersStats_t
 *                              allctr ──> [ 0 .. thr_spec - 1 ] ──> cpool.stat: its pooled carriers
 */
#include "beam/allocators.h"

#include <stdio.h>
#include <string.h>

#include "vm_constants.h"

/* Structs that are the same in 25 to 29, as DWARF of 25.2.3, 27.3.4.1 and 29.1.1 shows. */

/* ErtsAllocatorInfo_t (erl_alloc.h 25.2.3:140, 27.3.4.1:140, 29.1.1:144). */
struct allocator_info {
    uint32_t is_alloc_util, enabled;
    uint32_t thr_spec; /* number of instances; 0: a single one */
    uint32_t unused;
    uint64_t extra;
};
_Static_assert(sizeof(struct allocator_info) * (ERTS_ALC_A_COUNT + 1) == ALLOCATORS_BYTES, "all");
_Static_assert((int)ERTS_ALC_A_COUNT <= (int)ALLOCATORS_MAX, "room for all");

/* ErtsAllocatorThrSpec_t (erl_alloc.h 25.2.3:163, 27.3.4.1:163, 29.1.1:167). */
struct thread_specific {
    uint32_t enabled, dd, number, size;
    uint64_t instances; /* array of pointers */
};

/* CarriersStats_t (erl_alloc_util.h 25.2.3:541, 27.3.4.1:547, 29.1.1:552). */
struct stat_values {
    uint64_t count, bytes;
};
struct carriers_stats {
    struct stat_values carriers[3], max, max_ever; /* by where they are from */
    struct {
        struct stat_values now, max, max_ever;
    } blocks[ERTS_ALC_A_COUNT]; /* by the allocator that gave them out */
};

/* The parts of an instance that are read. */
struct instance {
    uint32_t number;
    struct carriers_stats single, multi;
    uint64_t pool_blocks[ERTS_ALC_A_COUNT], pool_carriers;
};

/* The array, by number of the allocator. Element 0 is not used. The element of sys_alloc, which is
 * malloc(), leads to no instance. */
struct infos {
    struct allocator_info of[ERTS_ALC_A_COUNT + 1];
};
enum { ERTS_ALC_A_SYSTEM = 1 };

static bool is_known(const struct layout *layout)
{
    const int32_t needed[] = {
        layout->allocator_name_prefix,   layout->allocator_number, layout->allocator_pool_blocks,
        layout->allocator_pool_carriers, layout->allocator_single, layout->allocator_multi,
    };

    return layout_rows_fit(needed, sizeof(needed) / sizeof(*needed), INT32_MAX) &&
           layout->sizeof_carriers_stats == sizeof(struct carriers_stats);
}

/* Get the addresses of an allocator's first instances, `max` at most; 0 for one that does not
 * exist. Return how many there are, 0 if the element does not fit. */
static uint32_t find_instances(struct memory *memory, const struct allocator_info *info,
                               uint32_t number, uint64_t *addresses, uint32_t max)
{
    struct thread_specific specific;
    uint32_t count = info->thr_spec < max ? info->thr_spec : max;

    if (!info->thr_spec) {
        addresses[0] = info->extra;
        return 1;
    }
    if (info->thr_spec > ERTS_AU_MAX_PREF_ALLOC_INSTANCES ||
        !memory_read(memory, info->extra, &specific, sizeof(specific)) || specific.enabled != 1 ||
        specific.number != number || specific.size != info->thr_spec ||
        !memory_read(memory, specific.instances, addresses, count * sizeof(*addresses)))
        return 0;
    return count;
}

/* ---- the root ---- */

static bool has_number(struct memory *memory, const struct layout *layout, uint64_t instance,
                       uint32_t number)
{
    uint32_t stored;

    return memory_read_u32(memory, instance + (uint64_t)layout->allocator_number, &stored) &&
           stored == number;
}

static bool is_info(const struct allocator_info *info, uint32_t number)
{
    if (info->enabled > 1 || info->is_alloc_util != (info->enabled && number != ERTS_ALC_A_SYSTEM))
        return false;
    return info->is_alloc_util ? info->extra != 0 : !info->extra && !info->thr_spec;
}

bool allocators_are(struct memory *memory, const struct layout *layout, const uint8_t *bytes)
{
    struct infos infos;
    uint32_t found = 0;
    uint64_t first;

    memcpy(&infos, bytes, sizeof(infos));
    if (!is_known(layout) || !infos.of[ERTS_ALC_A_SYSTEM].enabled)
        return false;
    for (uint32_t number = 1; number <= ERTS_ALC_A_COUNT; number++)
        if (!is_info(&infos.of[number], number))
            return false;
    for (uint32_t number = 1; number <= ERTS_ALC_A_COUNT; number++) {
        if (!infos.of[number].is_alloc_util)
            continue;
        if (!find_instances(memory, &infos.of[number], number, &first, 1) ||
            !has_number(memory, layout, first, number))
            return false;
        found++;
    }
    return found;
}

/* ---- counts of the instances ---- */

/* Add to a sum. Return false if a process can't have so many bytes. A sum that overflows shows that
 * the address is not an instance's. */
static bool add(uint64_t *sum, uint64_t bytes)
{
    const uint64_t address_space = (uint64_t)1 << 47;

    *sum += bytes;
    return bytes < address_space && *sum < address_space;
}

static bool read_instance(struct vm *vm, uint64_t address, struct instance *instance)
{
    const struct layout *layout = &vm->layout;
    struct memory_span spans[] = {
        {address + (uint64_t)layout->allocator_number, &instance->number, sizeof(instance->number),
         false},
        {address + (uint64_t)layout->allocator_pool_blocks, instance->pool_blocks,
         sizeof(instance->pool_blocks), false},
        {address + (uint64_t)layout->allocator_pool_carriers, &instance->pool_carriers,
         sizeof(instance->pool_carriers), false},
        {address + (uint64_t)layout->allocator_single, &instance->single, sizeof(instance->single),
         false},
        {address + (uint64_t)layout->allocator_multi, &instance->multi, sizeof(instance->multi),
         false},
    };
    size_t count = sizeof(spans) / sizeof(spans[0]), read = 0;

    memory_read_spans(vm->memory, spans, count);
    for (size_t i = 0; i < count; i++)
        read += spans[i].is_read;
    return read == count;
}

/* Add the carriers and blocks of an instance to its allocator, and its blocks to the allocators
 * that gave them out. */
static bool add_instance(const struct instance *instance, struct allocator *allocator,
                         uint64_t allocated[ERTS_ALC_A_COUNT])
{
    bool fits = add(&allocator->pooled, instance->pool_carriers);

    for (size_t i = 0; i < sizeof(instance->multi.carriers) / sizeof(struct stat_values); i++)
        fits = add(&allocator->multi, instance->multi.carriers[i].bytes) &&
               add(&allocator->single, instance->single.carriers[i].bytes) && fits;
    for (size_t i = 0; i < ERTS_ALC_A_COUNT; i++) {
        uint64_t blocks = 0;

        fits = add(&blocks, instance->multi.blocks[i].now.bytes) &&
               add(&blocks, instance->single.blocks[i].now.bytes) &&
               add(&blocks, instance->pool_blocks[i]) && add(&allocator->blocks, blocks) &&
               add(&allocated[i], blocks) && fits;
    }
    allocator->instances++;
    return fits;
}

/* Read the name, whose form is "eheap_" + "alloc". */
static bool read_name(struct vm *vm, uint64_t instance, char *name, size_t size)
{
    char prefix[16];
    uint64_t text;
    size_t length;

    if (!memory_read_u64(vm->memory, instance + (uint64_t)vm->layout.allocator_name_prefix,
                         &text) ||
        !memory_read_string(vm->memory, text, prefix, sizeof(prefix)))
        return false;
    length = strspn(prefix, "abcdefghijklmnopqrstuvwxyz_");
    if (!length || prefix[length])
        return false;
    snprintf(name, size, "%salloc", prefix);
    return true;
}

static bool read_allocator(struct vm *vm, const struct allocator_info *info, uint32_t number,
                           struct allocator *allocator, uint64_t allocated[ERTS_ALC_A_COUNT])
{
    uint64_t addresses[ERTS_AU_MAX_PREF_ALLOC_INSTANCES];
    uint32_t count =
        find_instances(vm->memory, info, number, addresses, ERTS_AU_MAX_PREF_ALLOC_INSTANCES);

    if (!count || !read_name(vm, addresses[0], allocator->name, sizeof(allocator->name)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct instance instance;

        if (addresses[i] &&
            (!read_instance(vm, addresses[i], &instance) || instance.number != number ||
             !add_instance(&instance, allocator, allocated)))
            return false;
    }
    return true;
}

int allocators_read(struct vm *vm, struct allocators *ret, struct error *error)
{
    uint64_t allocated[ERTS_ALC_A_COUNT] = {0};
    uint32_t numbers[ERTS_ALC_A_COUNT];
    struct allocators all = {.count = 0};
    struct infos infos;

    if (!is_known(&vm->layout))
        return error_set(error, ERROR_UNSUPPORTED, "the allocators of OTP %d are not known",
                         vm->build.otp_release);
    if (!vm->roots.allocators)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the allocators were not found in the memory of the VM");
    if (!memory_read(vm->memory, vm->roots.allocators, &infos, sizeof(infos)))
        return error_set(error, ERROR_UNSUPPORTED, "the list of allocators can't be read");
    for (uint32_t number = 1; number <= ERTS_ALC_A_COUNT; number++) {
        if (!infos.of[number].is_alloc_util)
            continue;
        if (!read_allocator(vm, &infos.of[number], number, &all.of[all.count], allocated))
            return error_set(error, ERROR_UNSUPPORTED, "allocator %u can't be read", number);
        numbers[all.count++] = number;
    }
    for (size_t i = 0; i < all.count; i++)
        all.of[i].allocated = allocated[numbers[i] - 1];
    *ret = all;
    return 0;
}
