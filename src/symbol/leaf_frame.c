// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_internal.h"

#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "arch/decoder.h"
#include "arch/jit_code.h"
#include "beam/atom.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/parser.h"
#include "native/stack_depth.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    FUNCTION_BYTES_MAX = 4 << 20,
    FUNCTIONS_MAX = 1 << 14, /* in the cache */
    TARGETS_MAX = 1 << 16,
    STUBS_MAX = 2, /* one after the other */
};

enum { TARGET_LIGHT_BIF = STACK_TARGET_NO_WAY_BACK + 1 }; /* beyond enum stack_target */

struct function_depths {
    uint64_t start;
    struct stack_depths depths;
};

struct leaf_frames {
    const struct vm *vm;
    struct code *code;
    struct atoms *atoms;
    uint64_t epoch;
    struct address_map *by_start; /* function -> 1 + index of `functions` */
    struct function_depths *functions;
    size_t count, room;
    struct address_map *targets; /* address -> enum stack_target */
};

struct leaf_frames *leaf_frames_new(struct vm *vm, struct code *code)
{
    struct leaf_frames *frames = xcalloc(1, sizeof(*frames));

    frames->vm = vm;
    frames->code = code;
    frames->atoms = atoms_new(vm);
    frames->by_start = address_map_new(FUNCTIONS_MAX);
    frames->targets = address_map_new(TARGETS_MAX);
    return frames;
}

static void forget(struct leaf_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        stack_depths_free(&frames->functions[i].depths);
    frames->count = 0;
    address_map_clear(frames->by_start);
    address_map_clear(frames->targets);
}

void leaf_frames_free(struct leaf_frames *frames)
{
    if (!frames)
        return;
    forget(frames);
    free(frames->functions);
    address_map_free(frames->by_start);
    address_map_free(frames->targets);
    atoms_free(frames->atoms);
    free(frames);
}

bool leaf_frames_are_known(const struct leaf_frames *frames)
{
    return frames->vm->features.has_leaf_frames;
}

/* ---- the targets of calls and jumps ---- */

/* The target of a jump to a fragment in a module's table. 0 if there is no such jump. */
static uint64_t stub_target(const struct leaf_frames *frames, uint64_t address)
{
    uint8_t bytes[CPU_JUMP_BYTES_MAX];
    uint64_t target;

    return memory_read(frames->vm->memory, address, bytes, sizeof(bytes)) &&
                   code_bytes_jump(&(struct code_bytes){bytes, sizeof(bytes), address}, &target)
               ? target
               : 0;
}

/* Find the place that a call or jump leads to. False if it is in no known code. */
static bool find_target(struct leaf_frames *frames, uint64_t *address, struct code_place *place)
{
    for (int i = 0; i <= STUBS_MAX; i++) {
        if (!code_find(frames->code, *address, place))
            return false;
        if (place->kind != CODE_HEADER)
            return true;
        *address = stub_target(frames, *address);
        if (!*address)
            return false;
    }
    return false;
}

/* The class of a fragment that pauses at a function's entry or raises function_clause. With frame
 * pointers, the caller's frame pointer is already on the stack there, so the depth is not 0. */
static int class_at_entry(const struct leaf_frames *frames)
{
    return code_frame_pointers(frames->code) ? STACK_TARGET_NO_WAY_BACK : STACK_TARGET_PAUSE;
}

static int class_of_fragment(const struct leaf_frames *frames, enum fragment fragment)
{
    switch (fragment) {
    case FRAGMENT_CALL_LIGHT_BIF:
        return TARGET_LIGHT_BIF;
    case FRAGMENT_TEST_YIELD:
        return class_at_entry(frames);
    case FRAGMENT_DISPATCH_RETURN:
        return STACK_TARGET_PAUSE;
    case FRAGMENT_RAISE:
        return STACK_TARGET_NO_WAY_BACK;
    default:
        return STACK_TARGET_OTHER;
    }
}

/* The code at the beginning of a function's header raises function_clause. */
static int class_of(struct leaf_frames *frames, uint64_t address)
{
    struct code_place place;

    if (!find_target(frames, &address, &place))
        return STACK_TARGET_OTHER;
    if (place.kind == CODE_FRAGMENT)
        return class_of_fragment(frames, place.fragment);
    if (place.is_function_header)
        return address - place.start < JIT_ENTRY_OFFSET ? class_at_entry(frames)
                                                        : STACK_TARGET_FUNCTION;
    return address == place.start ? STACK_TARGET_FUNCTION : STACK_TARGET_OTHER;
}

/* True for BIFs that only raise, so that compilers put no code behind their call
 * (erl_bifs:is_exit_bif/3 of the compiler; OTP 25 puts a return there, later releases don't). An
 * Export contains module, function and arity. */
static bool is_exit_bif(struct leaf_frames *frames, uint64_t export)
{
    static const char *const names[] = {"error", "exit", "throw"};
    const struct layout *layout = &frames->vm->layout;
    const char *module, *function;
    uint64_t words[3];

    export += (uint64_t)layout->export_info + (uint64_t)layout->code_info_mfa;
    if (!memory_read(frames->vm->memory, export, words, sizeof(words)) ||
        !(module = atom_text(frames->atoms, words[0])) || strcmp(module, "erlang") != 0 ||
        !(function = atom_text(frames->atoms, words[1])))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(function, names[i]))
            return words[2] == 1 || (i == 0 && words[2] <= 3);
    return false;
}

static int classify(struct leaf_frames *frames, uint64_t address)
{
    uint64_t value;
    int target;

    if (address_map_get(frames->targets, address, &value))
        return (int)value;
    target = class_of(frames, address);
    address_map_put(frames->targets, address, (uint64_t)target);
    return target;
}

/* call_light_bif_shared calls the BIF whose Export it gets in a register (x86/instr_bif.cpp
 * emit_call_light_bif). */
static enum stack_target call_target(void *context, uint64_t address, uint64_t export)
{
    struct leaf_frames *frames = context;
    int target = classify(frames, address);

    if (target == TARGET_LIGHT_BIF)
        return is_exit_bif(frames, export) ? STACK_TARGET_NO_WAY_BACK : STACK_TARGET_OTHER;
    return (enum stack_target)target;
}

/* ---- functions ---- */

static void analyze(struct leaf_frames *frames, const struct code_place *place,
                    struct stack_depths *depths)
{
    size_t size = place->end - place->start;
    struct stack_code code = {.size = size,
                              .start = place->start,
                              .native_stack = frames->vm->features.native_stack,
                              .target = call_target,
                              .context = frames};
    uint8_t *bytes;

    memset(depths, 0, sizeof(*depths));
    if (size > FUNCTION_BYTES_MAX)
        return;
    bytes = xmalloc(size);
    code.bytes = bytes;
    code.decoder = parser_decoder(mappings_parser(frames->vm->mappings));
    if (memory_read(frames->vm->memory, place->start, bytes, size))
        stack_depths_find(&code, depths);
    decoder_free(code.decoder);
    free(bytes);
}

const struct stack_depths *leaf_frame_depths(struct leaf_frames *frames,
                                             const struct code_place *place)
{
    struct function_depths *function;
    uint64_t value;

    if (frames->epoch != code_epoch(frames->code)) {
        frames->epoch = code_epoch(frames->code);
        forget(frames);
    }
    if (address_map_get(frames->by_start, place->start, &value))
        return &frames->functions[value - 1].depths;
    if (frames->count == FUNCTIONS_MAX)
        forget(frames);
    frames->functions =
        xgrow(frames->functions, &frames->room, frames->count, sizeof(*frames->functions));
    function = &frames->functions[frames->count];
    function->start = place->start;
    analyze(frames, place, &function->depths);
    if (!code_is_current(frames->code, place->start)) {
        stack_depths_free(&function->depths);
        return NULL;
    }
    address_map_put(frames->by_start, place->start, ++frames->count);
    return &function->depths;
}

int32_t leaf_frame_words(struct leaf_frames *frames, uint64_t address)
{
    const struct stack_depths *depths;
    struct code_place place;

    if (!code_find(frames->code, address, &place) || place.kind != CODE_FUNCTION)
        return STACK_DEPTH_UNKNOWN;
    if (place.is_function_header)
        return 0;
    depths = leaf_frame_depths(frames, &place);
    return depths ? stack_depth_at(depths, address - place.start) : STACK_DEPTH_UNKNOWN;
}

/* The return address of the call precedes the frame, or is the first word of it. */
int32_t leaf_frame_caller_words(struct leaf_frames *frames, uint64_t address)
{
    int32_t words = leaf_frame_words(frames, address);

    if (frames->vm->features.native_stack)
        return words == STACK_DEPTH_UNKNOWN ? words : words + 1;
    return words > 0 ? words : STACK_DEPTH_UNKNOWN;
}

/* ---- calls ---- */

/* The start of a function's code; `place` is its header or its code. */
static uint64_t function_start(const struct code_place *place)
{
    return place->is_function_header ? place->end : place->start;
}

/* A call of another function than the wanted one. */
static enum call_proof through_other(struct leaf_frames *frames, const struct code_place *place)
{
    const struct stack_depths *depths;
    struct code_place code;

    if (!code_find(frames->code, function_start(place), &code))
        return CALL_POSSIBLE;
    depths = leaf_frame_depths(frames, &code);
    return depths && depths->count && !depths->jumps_out ? CALL_DISPROVEN : CALL_POSSIBLE;
}

/* The target of the direct call before the return address. */
static enum call_proof direct_call(struct leaf_frames *frames, uint64_t target, uint64_t callee)
{
    struct code_place place, wanted;

    if (!find_target(frames, &target, &place) || !code_find(frames->code, callee, &wanted))
        return CALL_POSSIBLE;
    if (place.kind == CODE_FRAGMENT) /* a collection calls no Erlang code; BIFs can */
        return place.fragment == FRAGMENT_GARBAGE_COLLECT ? CALL_DISPROVEN : CALL_POSSIBLE;
    if (function_start(&place) == function_start(&wanted))
        return CALL_PROVEN;
    return through_other(frames, &place);
}

/* Find the target of the call before the return address. False if it is computed. */
static bool called(const struct leaf_frames *frames, uint64_t return_address, uint64_t *target)
{
    uint8_t bytes[JIT_APART_CALL_BYTES];
    bool native = frames->vm->features.native_stack;
    const size_t size = native ? CPU_CALL_BYTES : sizeof(bytes);
    const struct code_bytes call = {bytes, size, return_address - size};
    size_t at = 0;

    return memory_read(frames->vm->memory, call.address, bytes, size) &&
           (native ? code_bytes_next_call(&call, &at, target)
                   : jit_code_apart_call(bytes, return_address, target));
}

enum call_proof leaf_frame_call(struct leaf_frames *frames, uint64_t return_address,
                                uint64_t callee)
{
    uint64_t target;

    return called(frames, return_address, &target) ? direct_call(frames, target, callee)
                                                   : CALL_POSSIBLE;
}
