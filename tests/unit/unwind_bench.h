// SPDX-License-Identifier: Apache-2.0
/*
 * Unwinds a hand-made sample.
 *
 * The fake VM has one module and the JIT's fragments. The C code is a function of this program,
 * interrupted at its first instruction, where its return address is the newest word of the native
 * stack.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "fake_code.h"
#include "fake_sample.h"
#include "native/cfi.h"
#include "symbol/unwind.h"

enum {
    STACK = 0x20001000, /* leaf end of the Erlang stack, unless stated otherwise */
    HEAP = 0x20000000,
    HEND = 0x20100000,
    NATIVE = 0x30000000,    /* leaf end of the native stack */
    REGISTERS = NATIVE + 8, /* ErtsSchedulerData.registers: right above the JIT's C frame */
    EXPORT = 0x40000100,
    ATOM_MODULE = 100 << 6 | 0xb,
    ATOM_FUNCTION = 7 << 6 | 0xb,
    PAGE = 0x100, /* of code, for each function and fragment */
};

/* Places in the code, in units of PAGE. */
enum place {
    HEADER,
    FUNCTION_F,
    FUNCTION_G,
    LIGHT_BIF,
    BIF,
    NIF,
    COLLECT,
    PLUS,
    LENGTH,
    INIT_BITS,
    MAIN,
    TRACE,
    TIME_TRACE,
    TO_TRACE,
    RAISE,
    EXIT,
    PLACES
};

static const char *const names[PLACES] = {
    [HEADER] = "m::codeHeader",
    [FUNCTION_F] = "m:f/1",
    [FUNCTION_G] = "m:g/2",
    [LIGHT_BIF] = "global::call_light_bif_shared",
    [BIF] = "global::call_bif_shared",
    [NIF] = "global::call_nif_shared",
    [COLLECT] = "global::garbage_collect",
    [PLUS] = "global::plus_body_shared",
    [LENGTH] = "global::i_length_body_shared",
    [INIT_BITS] = "global::bs_init_bits_shared",
    [MAIN] = "global::process_main",
    [TRACE] = "global::return_trace_shared",
    [TIME_TRACE] = "global::return_time_trace_shared",
    [TO_TRACE] = "global::return_to_trace_shared",
    [RAISE] = "global::raise_exception_shared",
    [EXIT] = "global::normal_exit",
};

struct bench {
    struct fake_target *target;
    struct vm vm;
    struct code *code;
    struct unwinder *unwinder;
    uint64_t module, global;
    struct fake_sample sample;
    uint8_t process[WIRE_PROCESS_BYTES], scheduler[WIRE_SCHEDULER_BYTES];
    const struct unwound *result;
};

/* Code of the VM other than Erlang code. */
__attribute__((noinline, unused)) static int native_function(int value)
{
    __asm__ volatile("");
    return value + 1;
}

static inline uint64_t native_pc(void)
{
    return (uint64_t)(uintptr_t)native_function;
}

static inline uint64_t code_at(const struct bench *bench, enum place place, uint64_t offset)
{
    return (place < LIGHT_BIF ? bench->module : bench->global - LIGHT_BIF * PAGE) +
           (uint64_t)place * PAGE + offset;
}

static inline void put_word(uint8_t *bytes, int32_t offset, uint64_t value)
{
    assert_true(offset >= 0);
    memcpy(bytes + offset, &value, sizeof(value));
}

static inline void open_bench_with(struct bench *bench, bool frame_pointers)
{
    struct fake_range module[LIGHT_BIF] = {0}, global[PLACES - LIGHT_BIF] = {0};
    struct error error;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    fake_vm(&bench->vm, bench->target, 27);
    bench->module = fake_room(bench->target, LIGHT_BIF * PAGE);
    bench->global = fake_room(bench->target, (PLACES - LIGHT_BIF) * PAGE);
    for (int i = 0; i < LIGHT_BIF; i++)
        module[i] = (struct fake_range){(uint32_t)i * PAGE, (uint32_t)(i + 1) * PAGE, names[i]};
    for (int i = 0; i < PLACES - LIGHT_BIF; i++)
        global[i] =
            (struct fake_range){(uint32_t)i * PAGE, (uint32_t)(i + 1) * PAGE, names[i + LIGHT_BIF]};
    fake_load(bench->target, &bench->vm, fake_emulator(code_at(bench, EXIT, 8), frame_pointers));
    fake_load(bench->target, &bench->vm,
              fake_symfile("global", bench->global, sizeof(global) / sizeof(*global) * PAGE, global,
                           PLACES - LIGHT_BIF));
    fake_load(bench->target, &bench->vm,
              fake_symfile("m", bench->module, LIGHT_BIF * PAGE, module, LIGHT_BIF));
    bench->vm.mappings = mappings_new(getpid(), &bench->target->memory, &error);
    bench->code = code_new(&bench->vm, &error);
    bench->unwinder = unwinder_new(&bench->vm, bench->code);
    assert_non_null(bench->code);
    bench->sample.head.flags = WIRE_REGISTERS;
    put_word(bench->scheduler, bench->vm.layout.sched_registers, REGISTERS);
    put_word(bench->process, bench->vm.layout.process_stop, STACK);
    put_word(bench->process, bench->vm.layout.process_heap, HEAP);
    put_word(bench->process, bench->vm.layout.process_hend, HEND);
}

static inline void open_bench(struct bench *bench)
{
    open_bench_with(bench, false);
}

static inline void close_bench(struct bench *bench)
{
    fake_sample_free(&bench->sample);
    unwinder_free(bench->unwinder);
    code_free(bench->code);
    mappings_free(bench->vm.mappings);
    free(bench->target);
}

/* Give the function a frame of this many words throughout: "sub rsp, imm" is its first
 * instruction. */
static inline void set_frame(struct bench *bench, enum place place, uint8_t words)
{
    const uint8_t code[] = {0x48, 0x83, 0xec, (uint8_t)(words * 8)};

    fake_put(bench->target, code_at(bench, place, 0), code, sizeof(code));
}

static inline void set_register(struct bench *bench, int number, uint64_t value)
{
    bench->sample.head.registers.value[number] = value;
}

/* The thread is interrupted in C code called from JIT code at `return_address`; the first words of
 * the scheduler's registers follow. */
static inline void stop_in_c(struct bench *bench, uint64_t return_address)
{
    const uint64_t words[] = {return_address, 0, 0, EXPORT};

    set_register(bench, CPU_RIP, native_pc());
    set_register(bench, CPU_RSP, NATIVE);
    fake_region(&bench->sample, REGION_NATIVE, NATIVE, words, sizeof(words));
}

/* The thread is interrupted two C calls deep; the outer C function returns to `return_address`. */
static inline void stop_deep_in_c(struct bench *bench, uint64_t return_address)
{
    const uint64_t words[] = {native_pc() + 1, return_address, 0, 0, EXPORT};

    set_register(bench, CPU_RIP, native_pc());
    set_register(bench, CPU_RSP, NATIVE - 8);
    fake_region(&bench->sample, REGION_NATIVE, NATIVE - 8, words, sizeof(words));
}

/* Set the Erlang stack: words from `address` on, followed by normal_exit. */
static inline void set_stack(struct bench *bench, uint64_t address, const uint64_t *words,
                             size_t count)
{
    struct buffer bytes = {0};
    uint64_t bottom = code_at(bench, EXIT, 8);

    buffer_put(&bytes, words, count * sizeof(*words));
    buffer_put(&bytes, &bottom, sizeof(bottom));
    fake_region(&bench->sample, REGION_ERLANG, address, bytes.data, bytes.size);
    buffer_free(&bytes);
}
#define SET_STACK(bench, address, ...)                                                             \
    set_stack(bench, address, (const uint64_t[]){__VA_ARGS__},                                     \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline void run(struct bench *bench)
{
    struct snapshot snapshot;

    fake_region(&bench->sample, REGION_SCHEDULER, 0x1000, bench->scheduler,
                sizeof(bench->scheduler));
    fake_region(&bench->sample, REGION_PROCESS, 0x2000, bench->process,
                (size_t)bench->vm.layout.sizeof_process);
    assert_true(fake_sample_open(&bench->sample, &snapshot));
    bench->result = unwind(bench->unwinder, &snapshot);
}

static inline void check_frames(const struct bench *bench, const struct unwound_frame *frames,
                                size_t count)
{
    for (size_t i = 0; i < count && i < bench->result->count; i++) {
        assert_int_equal(bench->result->frames[i].kind, frames[i].kind);
        assert_int_equal(bench->result->frames[i].address, frames[i].address);
        assert_int_equal(bench->result->frames[i].is_return, frames[i].is_return);
    }
    assert_int_equal(bench->result->count, count);
}
#define CHECK_FRAMES(bench, ...)                                                                   \
    check_frames(bench, (const struct unwound_frame[]){__VA_ARGS__},                               \
                 sizeof((const struct unwound_frame[]){__VA_ARGS__}) /                             \
                     sizeof(struct unwound_frame))
#define LEAF(address)                                                                              \
    {                                                                                              \
        address, ADDRESS_CODE, false                                                               \
    }
#define CALLER(address)                                                                            \
    {                                                                                              \
        address, ADDRESS_CODE, true                                                                \
    }
#define NATIVE_LEAF                                                                                \
    {                                                                                              \
        native_pc(), ADDRESS_NATIVE, false                                                         \
    }

#define NATIVE_CALLER                                                                              \
    {                                                                                              \
        native_pc() + 1, ADDRESS_NATIVE, true                                                      \
    }

/* Set Process.current, as the words that the kernel side copied from its target. */
static inline void set_current(struct bench *b, uint64_t module, uint64_t function, uint64_t arity)
{
    uint64_t words[3] = {module, function, arity};

    fake_region(&b->sample, REGION_MFA, 0x40000200, words, sizeof(words));
}

static inline uint64_t packed(uint32_t arity)
{
    return unwound_mfa_pack(
        &(struct unwound_mfa){.module = ATOM_MODULE, .function = ATOM_FUNCTION, .arity = arity});
}

/* Interrupt JIT code, with its stack at STACK. */
static inline void stop_in_jit(struct bench *b)
{
    set_register(b, CPU_RIP, code_at(b, FUNCTION_F, 0x10));
    set_register(b, CPU_RSP, STACK);
}
