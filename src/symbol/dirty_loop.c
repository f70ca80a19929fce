// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    ANSWERS_MAX = 1 << 12,
    FUNCTION_MAX = 1 << 14, /* bytes; the loop has fewer than 1000 in 25, 27 and 29 */
};

/* Values of `answers`. */
enum { NOT_THE_LOOP = 1, THE_LOOP };

struct dirty_loop {
    struct vm *vm;
    struct runtime_names *names;
    struct address_map *answers; /* by address */
    uint64_t named;              /* return address into erts_call_dirty_nif(); 0: not seen yet */
};

struct dirty_loop *dirty_loop_new(struct vm *vm, struct runtime_names *names)
{
    struct dirty_loop *loop = xcalloc(1, sizeof(*loop));

    loop->vm = vm;
    loop->names = names;
    loop->answers = address_map_new(ANSWERS_MAX);
    return loop;
}

void dirty_loop_free(struct dirty_loop *loop)
{
    if (!loop)
        return;
    address_map_free(loop->answers);
    free(loop);
}

static bool is_named(const char *name, const char *wanted)
{
    return name && !strcmp(name, wanted);
}

/* Does the function [start, end) call erts_schedule()? */
static bool calls_schedule(struct dirty_loop *loop, uint64_t start, uint64_t end)
{
    uint8_t bytes[FUNCTION_MAX];
    const struct code_bytes code = {bytes, end - start, start};
    uint64_t target;

    if (end <= start || code.size > sizeof(bytes) ||
        !memory_read(loop->vm->memory, start, bytes, code.size))
        return false;
    for (size_t at = 0; code_bytes_next_call(&code, &at, &target); at++)
        if (is_named(runtime_names_find(loop->names, target), "erts_schedule"))
            return true;
    return false;
}

static struct elf_file *file_at(struct dirty_loop *loop, uint64_t address)
{
    struct mapping *mapping = mappings_find_code(loop->vm->mappings, address);

    return mapping ? mapping_file(loop->vm->mappings, mapping) : NULL;
}

static bool ask(struct dirty_loop *loop, uint64_t address)
{
    struct elf_file *file = file_at(loop, address);
    struct native_symbol symbol;
    uint64_t start, end;

    if (!file)
        return false;
    if (native_symbol_find(file, address, &symbol))
        return is_named(symbol.name, "erts_dirty_process_main");
    if (!native_code_find_function(file, address, &start, &end) ||
        !calls_schedule(loop, start, end))
        return false;
    runtime_names_learn(loop->names, start, "erts_dirty_process_main");
    return true;
}

static uint64_t code_address(const struct unwound_frame *frame)
{
    return frame->address - frame->is_return;
}

static bool is_loop(struct dirty_loop *loop, const struct unwound_frame *frame)
{
    uint64_t address = code_address(frame), answer;

    if (!address_map_get(loop->answers, address, &answer)) {
        answer = ask(loop, address) ? THE_LOOP : NOT_THE_LOOP;
        address_map_put(loop->answers, address, answer);
    }
    return answer == THE_LOOP;
}

/* Name erts_call_dirty_nif(). It sets ErtsSchedulerData.current_nif while it calls the NIF
 * (erl_nif.c). So while that field is set, the loop's callee is erts_call_dirty_nif(). */
static void name_callee(struct dirty_loop *loop, const struct snapshot *snapshot,
                        const struct unwound_frame *callee)
{
    struct elf_file *file;
    uint64_t start, end;

    if (callee->address == loop->named ||
        !snapshot_scheduler_word(snapshot, loop->vm->layout.sched_current_nif))
        return;
    file = file_at(loop, code_address(callee));
    if (!file || !native_code_find_function(file, code_address(callee), &start, &end))
        return;
    runtime_names_learn(loop->names, start, "erts_call_dirty_nif");
    loop->named = callee->address;
}

static bool on_dirty_scheduler(struct dirty_loop *loop, const struct snapshot *snapshot)
{
    return (uint32_t)snapshot_scheduler_word(snapshot, loop->vm->layout.sched_type) !=
           VM_SCHEDULER_NORMAL;
}

void dirty_loop_cut(struct dirty_loop *loop, const struct snapshot *snapshot,
                    struct unwound *unwound)
{
    struct unwound_frame *frames = unwound->frames;
    size_t first = 0, end, at;

    if (!on_dirty_scheduler(loop, snapshot))
        return;
    while (first < unwound->count && frames[first].kind == ADDRESS_KERNEL)
        first++;
    for (end = first; end < unwound->count && frames[end].kind == ADDRESS_NATIVE;)
        end++;
    for (at = end; at > first && !is_loop(loop, &frames[at - 1]);)
        at--;
    if (at == first)
        return;
    at--;
    if (at > first)
        name_callee(loop, snapshot, &frames[at - 1]);
    if (!snapshot->sample->process)
        return;
    memmove(frames + at, frames + end, (unwound->count - end) * sizeof(*frames));
    unwound->count -= end - at;
}
