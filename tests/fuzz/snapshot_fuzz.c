// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind samples that no kernel would deliver (libFuzzer). Inputs that begin with 0 are raw
 * samples. Other inputs are recipes, which reach the code after the checks too: each byte gives a
 * word, small ones give addresses that the fake VM has, and the native code is that of this
 * program.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/fake_sample.h"
#include "beam/code.h"
#include "beam/layout.h"
#include "imitated_code.h"
#include "native/cfi.h"
#include "symbol/frames_internal.h"
#include "symbol/threads_internal.h"
#include "symbol/unwind.h"

enum { STACK = 0x20000000, NATIVE = 0x30000000, WORDS = 24 };

static struct {
    struct vm vm;
    struct unwinder *unwinder;
    struct state_functions *functions;
    uint64_t words[WORDS];
} fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void start(void)
{
    struct fake_target *target = fake_target_new();
    uint64_t code, *word = fuzz.words;
    struct error error;
    struct code *map;

    fake_vm(&fuzz.vm, target, 27);
    code = fake_room(target, FUNCTIONS * FUNCTION);
    fake_load(target, &fuzz.vm, fake_emulator(code + 7 * FUNCTION + 8, true));
    fake_load(target, &fuzz.vm,
              fake_symfile("m", code, FUNCTIONS * FUNCTION, imitated_code, FUNCTIONS));
    fake_put(target, code + FUNCTION + 0x10, "\x48\x89\xec", 3);
    fuzz.vm.mappings = mappings_new(getpid(), &target->memory, &error);
    map = code_new(&fuzz.vm, &error);
    check(map != NULL && fuzz.vm.mappings != NULL);
    fuzz.unwinder = unwinder_new(&fuzz.vm, map);
    fuzz.functions = state_functions_new(&fuzz.vm, map, NULL);
    for (enum state_function i = FUNCTION_OTHER + 1; i < STATE_FUNCTIONS; i++)
        state_functions_add(fuzz.functions, i, NATIVE + i);
    *word++ = 0;
    for (uint64_t i = 0; i < FUNCTIONS; i++)
        *word++ = code + i * FUNCTION + 8;
    *word++ = code + FUNCTION + 0x10;
    *word++ = code + FUNCTION + 0x13;
    *word++ = STACK;
    *word++ = STACK + 64;
    *word++ = STACK + 0x1000;
    *word++ = NATIVE;
    *word++ = NATIVE + 8;
    *word++ = NATIVE + 64;
    *word++ = (uint64_t)(uintptr_t)LLVMFuzzerTestOneInput;
    *word++ = (uint64_t)(uintptr_t)LLVMFuzzerTestOneInput + 40;
    *word++ = (uint64_t)(uintptr_t)start + 30;
    *word++ = (uint64_t)(uintptr_t)qsort + 50;
    *word++ = UINT64_MAX;
    *word++ = UINT64_MAX - 15;
    check(word <= fuzz.words + WORDS);
}

/* Give the frames classes that follow from their addresses. */
static enum microstate find_state(const struct snapshot *snapshot, const struct unwound *unwound)
{
    struct thread_sample sample = {.layout = &fuzz.vm.layout,
                                   .functions = fuzz.functions,
                                   .snapshot = snapshot,
                                   .unwound = unwound};
    uint8_t *classes = malloc(unwound->count);
    enum microstate state;

    for (size_t i = 0; i < unwound->count; i++)
        classes[i] = (uint8_t)(unwound->frames[i].address % FRAME_CLASSES);
    sample.classes = classes;
    state = microstate_of(&sample);
    free(classes);
    return state;
}

static void unwind_sample(const void *bytes, size_t size)
{
    const struct wire_words process_words = layout_process_words(&fuzz.vm.layout);
    const struct wire_words scheduler_words = layout_scheduler_words(&fuzz.vm.layout);
    const struct unwound *unwound;
    struct snapshot snapshot;
    char name[64];

    if (!snapshot_open(&snapshot, bytes, size))
        return;
    snapshot_expand(&snapshot, &process_words, (size_t)fuzz.vm.layout.sizeof_process,
                    &scheduler_words);
    unwound = unwind(fuzz.unwinder, &snapshot);
    check(unwound->count < 1 << 18);
    for (size_t i = 0; i < unwound->count; i++)
        check(unwound->frames[i].kind < ADDRESS_KINDS);
    activity_of(&snapshot, find_state(&snapshot, unwound));
    activity_name_port(&fuzz.vm, &snapshot, name, sizeof(name));
}

/* ---- recipes ---- */

struct recipe {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct recipe *recipe)
{
    return recipe->at < recipe->end ? *recipe->at++ : 0;
}

static uint64_t next_word(struct recipe *recipe)
{
    uint8_t byte = next_byte(recipe);

    return byte < WORDS ? fuzz.words[byte] : fuzz.words[byte % WORDS] + byte;
}

static void add_region(struct fake_sample *sample, struct recipe *recipe)
{
    static const size_t sizes[] = {
        0, 7, 8, 64, 128, 1024, WIRE_SCHEDULER_BYTES, WIRE_PROCESS_BYTES, 6 * 8, 20 * 8};
    uint8_t bytes[WIRE_PROCESS_BYTES];
    uint32_t kind = next_byte(recipe) % (REGION_PROCESS_WORDS + 1);
    uint64_t address = next_word(recipe);
    size_t size = sizes[next_byte(recipe) % (sizeof(sizes) / sizeof(*sizes))];

    for (size_t i = 0; i + 8 <= sizeof(bytes); i += 8) {
        uint64_t word = recipe->at < recipe->end && i < size ? next_word(recipe) : 0;

        memcpy(bytes + i, &word, sizeof(word));
    }
    fake_region(sample, kind, address, bytes, size);
}

static void cook(struct recipe *recipe)
{
    struct fake_sample sample = {0};

    sample.head.flags = next_byte(recipe);
    sample.head.process = next_byte(recipe);
    sample.head.scheduler = next_byte(recipe);
    sample.head.kernel_depth = next_byte(recipe) % 3;
    for (int i = 0; i < 17; i++)
        sample.head.registers.value[i] = next_word(recipe);
    while (recipe->at < recipe->end && sample.head.region_count < WIRE_REGIONS)
        add_region(&sample, recipe);
    fake_sample_pack(&sample);
    unwind_sample(sample.bytes, sample.size);
    fake_sample_free(&sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recipe recipe = {data + 1, data + size};
    void *copy;

    if (!fuzz.unwinder)
        start();
    if (!size)
        return 0;
    if (data[0]) {
        cook(&recipe);
        return 0;
    }
    copy = malloc(size); /* aligned, and ends with the sample */
    memcpy(copy, data + 1, size - 1);
    unwind_sample(copy, size - 1);
    free(copy);
    return 0;
}
