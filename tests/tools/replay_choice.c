// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "native/cfi.h"
#include "replay_capture.h"
#include "util/address_map.h"
#include "util/alloc.h"
#include "util/hash.h"

enum {
    STATES_MAX = 32,
    A_STATE = 24, /* samples kept of each state */
    A_PLACE = 3,  /* samples kept of each state at one place in the code */
};

struct replay_choice {
    struct {
        const char *name;
        unsigned count;
    } states[STATES_MAX];
    struct address_map *places; /* hash of state and place -> samples kept */
};

struct replay_choice *replay_choice_new(void)
{
    struct replay_choice *choice = xcalloc(1, sizeof(*choice));

    choice->places = address_map_new(1 << 16);
    return choice;
}

void replay_choice_free(struct replay_choice *choice)
{
    address_map_free(choice->places);
    free(choice);
}

/* ---- states ---- */

static uint64_t word(const uint8_t *bytes, int32_t offset)
{
    uint64_t value = 0;

    if (bytes && offset >= 0)
        memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

static bool on_erlang_stack(const struct vm *vm, const struct snapshot *snapshot)
{
    const uint8_t *process =
        snapshot_region(snapshot, REGION_PROCESS, (size_t)vm->layout.sizeof_process);
    uint64_t sp = snapshot_register(snapshot, CPU_RSP);

    return sp > word(process, vm->layout.process_heap) &&
           sp <= word(process, vm->layout.process_hend);
}

/* Return the caller of the oldest native frame, or NULL. */
static const struct unwound_frame *first_erlang(const struct unwound *unwound)
{
    for (size_t i = 0; i < unwound->count; i++)
        if (unwound->frames[i].kind != ADDRESS_KERNEL && unwound->frames[i].kind != ADDRESS_NATIVE)
            return &unwound->frames[i];
    return NULL;
}

static const char *state_of_call(struct code *code, const struct unwound_frame *caller)
{
    struct code_place place;

    if (caller->kind == ADDRESS_EXPORT)
        return "light_bif";
    if (caller->kind == ADDRESS_MFA)
        return "bif_or_nif";
    if (code_find(code, caller->address - 1, &place) && strstr(place.symbol, "garbage_collect"))
        return "gc";
    return code_call_class(code, caller->address) == CALL_STALE ? "stale" : "fresh";
}

const char *replay_state(const struct vm *vm, struct code *code, const struct snapshot *snapshot,
                         const struct unwound *unwound)
{
    const uint8_t *scheduler = snapshot_region(snapshot, REGION_SCHEDULER, WIRE_SCHEDULER_BYTES);
    const struct unwound_frame *erlang = first_erlang(unwound);

    if (!snapshot->sample->process)
        return snapshot->sample->kernel_depth ? "idle_in_kernel" : "idle";
    if (unwound->native_broken)
        return "native_broken";
    if (unwound->truncated)
        return "deep";
    if ((uint32_t)word(scheduler, vm->layout.sched_type) != VM_SCHEDULER_NORMAL)
        return "dirty";
    if (snapshot->sample->kernel_depth)
        return "kernel";
    if (!erlang)
        return "no_erlang";
    if (erlang != unwound->frames)
        return state_of_call(code, erlang);
    return on_erlang_stack(vm, snapshot) ? "jit" : "jit_on_native_stack";
}

/* ---- the choice ---- */

static unsigned *count_of(struct replay_choice *choice, const char *state)
{
    for (int i = 0; i < STATES_MAX; i++) {
        if (!choice->states[i].name)
            choice->states[i].name = state;
        if (!strcmp(choice->states[i].name, state))
            return &choice->states[i].count;
    }
    abort();
}

/* Return a hash of the state, the Erlang frame that called out, and its caller; of the leaf if
 * there is no Erlang frame. */
static uint64_t place_of(const char *state, const struct unwound *unwound)
{
    const struct unwound_frame *erlang = first_erlang(unwound);
    const struct unwound_frame *end = unwound->frames + unwound->count;
    uint64_t words[3] = {hash_bytes(state, strlen(state))};

    if (erlang)
        words[1] = erlang->address;
    else if (unwound->count)
        words[1] = unwound->frames[0].address;
    if (erlang && erlang + 1 < end)
        words[2] = erlang[1].address;
    return hash_bytes(words, sizeof(words)) | 1;
}

bool replay_choose(struct replay_choice *choice, const char *state, const struct unwound *unwound)
{
    unsigned *count = count_of(choice, state);
    uint64_t place = place_of(state, unwound), kept = 0;

    address_map_get(choice->places, place, &kept);
    if (*count >= A_STATE || kept >= A_PLACE)
        return false;
    ++*count;
    address_map_put(choice->places, place, kept + 1);
    return true;
}
