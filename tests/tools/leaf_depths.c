// SPDX-License-Identifier: Apache-2.0
/*
 * leaf_depths PID: read names of modules, one a line, and print as JSON what is known of the frames
 * of all their functions together (symbol/unwind_internal.h):
 *
 *     functions, stubs   functions with code of their own; functions of BIFs and NIFs
 *     instructions       of the former; `known` of them have a depth
 *     contradictions     instructions that two paths reach with different depths
 *     seconds, longest   time for all functions, and for the slowest one
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/code.h"
#include "native/stack_depth.h"
#include "symbol/unwind_internal.h"
#include "util/clock.h"

struct sums {
    struct leaf_frames *frames;
    uint64_t functions, stubs, instructions, known, contradictions, unreadable, ns, longest;
};

/* A stub executes only the jump to its C code at the start. */
static bool is_stub(const struct stack_depths *depths)
{
    return depths->count == 2 && depths->runs[0].words == 0 &&
           depths->runs[1].words == STACK_DEPTH_UNKNOWN && depths->runs[1].offset < 0x40;
}

static bool add(void *context, const struct code_place *place)
{
    struct sums *sums = context;
    struct code_place function = *place;
    const struct stack_depths *depths;
    uint64_t start = clock_ns(CLOCK_MONOTONIC), taken;

    if (function.kind != CODE_FUNCTION || function.is_function_header)
        return true;
    depths = leaf_frame_depths(sums->frames, &function);
    taken = clock_ns(CLOCK_MONOTONIC) - start;
    sums->ns += taken;
    if (taken > sums->longest)
        sums->longest = taken;
    if (!depths || !depths->count) {
        sums->unreadable++;
    } else if (is_stub(depths)) {
        sums->stubs++;
    } else {
        sums->functions++;
        sums->instructions += depths->instructions;
        sums->known += depths->known;
        sums->contradictions += depths->contradictions;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct vm *vm = NULL;
    struct code *code = NULL;
    struct sums sums = {0};
    struct error error;
    char module[1024];

    if (argc != 2) {
        fprintf(stderr, "usage: leaf_depths PID <MODULES\n");
        return 2;
    }
    if (!(vm = vm_open(atoi(argv[1]), 0, &error)) || !(code = code_new(vm, &error))) {
        fprintf(stderr, "leaf_depths: %s\n", error.text);
        vm_close(vm);
        return 1;
    }
    sums.frames = leaf_frames_new(vm, code);
    while (fgets(module, sizeof(module), stdin)) {
        module[strcspn(module, "\n")] = 0;
        code_each(code, module, add, &sums);
    }
    printf("{\"functions\":%" PRIu64 ",\"stubs\":%" PRIu64 ",\"instructions\":%" PRIu64
           ",\"known\":%" PRIu64 ",\"contradictions\":%" PRIu64 ",\"unreadable\":%" PRIu64
           ",\"seconds\":%.3f,\"longest\":%.4f}\n",
           sums.functions, sums.stubs, sums.instructions, sums.known, sums.contradictions,
           sums.unreadable, (double)sums.ns / 1e9, (double)sums.longest / 1e9);
    leaf_frames_free(sums.frames);
    code_free(code);
    vm_close(vm);
    return 0;
}
