// SPDX-License-Identifier: Apache-2.0
/*
 * Each state of symbol/unwind.h, in a hand-made sample.
 *
 * The fake VM has one module and the JIT's fragments. The C code is a function of this program,
 * interrupted at its first instruction, where its return address is the newest word of the native
 * stack.
 */
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
    [EXIT] = "global::normal_exit",
};

struct bench {
    struct fake_target *target;
    struct vm vm;
    struct code *code;
    struct cfi *cfi;
    struct unwinder *unwinder;
    uint64_t module, global;
    struct fake_sample sample;
    uint8_t process[WIRE_PROCESS_BYTES], scheduler[WIRE_SCHEDULER_BYTES];
    const struct unwound *result;
};

/* Code of the VM other than Erlang code. */
__attribute__((noinline)) static int native_function(int value)
{
    __asm__ volatile("");
    return value + 1;
}

static uint64_t native_pc(void)
{
    return (uint64_t)(uintptr_t)native_function;
}

static uint64_t code_at(const struct bench *bench, enum place place, uint64_t offset)
{
    return (place < LIGHT_BIF ? bench->module : bench->global - LIGHT_BIF * PAGE) +
           (uint64_t)place * PAGE + offset;
}

static void put_word(uint8_t *bytes, int32_t offset, uint64_t value)
{
    assert_true(offset >= 0);
    memcpy(bytes + offset, &value, sizeof(value));
}

static void open_bench_with(struct bench *bench, bool frame_pointers)
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
    bench->cfi = cfi_new(bench->vm.mappings);
    bench->unwinder = unwinder_new(&bench->vm, bench->code, bench->cfi);
    assert_non_null(bench->code);
    bench->sample.head.flags = WIRE_REGISTERS;
    put_word(bench->scheduler, bench->vm.layout.sched_registers, REGISTERS);
    put_word(bench->process, bench->vm.layout.process_stop, STACK);
    put_word(bench->process, bench->vm.layout.process_heap, HEAP);
    put_word(bench->process, bench->vm.layout.process_hend, HEND);
}

static void open_bench(struct bench *bench)
{
    open_bench_with(bench, false);
}

static void close_bench(struct bench *bench)
{
    fake_sample_free(&bench->sample);
    unwinder_free(bench->unwinder);
    cfi_free(bench->cfi);
    code_free(bench->code);
    mappings_free(bench->vm.mappings);
    free(bench->target);
}

/* Give the function a frame of this many words throughout: "sub rsp, imm" is its first
 * instruction. */
static void set_frame(struct bench *bench, enum place place, uint8_t words)
{
    const uint8_t code[] = {0x48, 0x83, 0xec, (uint8_t)(words * 8)};

    fake_put(bench->target, code_at(bench, place, 0), code, sizeof(code));
}

static void set_register(struct bench *bench, int number, uint64_t value)
{
    bench->sample.head.registers.value[number] = value;
}

/* The thread is interrupted in C code called from JIT code at `return_address`; the first words of
 * the scheduler's registers follow. */
static void stop_in_c(struct bench *bench, uint64_t return_address)
{
    const uint64_t words[] = {return_address, 0, 0, EXPORT};

    set_register(bench, CPU_RIP, native_pc());
    set_register(bench, CPU_RSP, NATIVE);
    fake_region(&bench->sample, REGION_NATIVE, NATIVE, words, sizeof(words));
}

/* The thread is interrupted two C calls deep; the outer C function returns to `return_address`. */
static void stop_deep_in_c(struct bench *bench, uint64_t return_address)
{
    const uint64_t words[] = {native_pc() + 1, return_address, 0, 0, EXPORT};

    set_register(bench, CPU_RIP, native_pc());
    set_register(bench, CPU_RSP, NATIVE - 8);
    fake_region(&bench->sample, REGION_NATIVE, NATIVE - 8, words, sizeof(words));
}

/* Set the Erlang stack: words from `address` on, followed by normal_exit. */
static void set_stack(struct bench *bench, uint64_t address, const uint64_t *words, size_t count)
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

static void run(struct bench *bench)
{
    struct snapshot snapshot;

    fake_region(&bench->sample, REGION_SCHEDULER, 0x1000, bench->scheduler,
                sizeof(bench->scheduler));
    fake_region(&bench->sample, REGION_PROCESS, 0x2000, bench->process,
                (size_t)bench->vm.layout.sizeof_process);
    assert_true(fake_sample_open(&bench->sample, &snapshot));
    bench->result = unwind(bench->unwinder, &snapshot);
}

static void check_frames(const struct bench *bench, const struct unwound_frame *frames,
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

/* ---- where the stack begins ---- */

/* In JIT code whose machine stack is the Erlang stack, rsp is its leaf end; Process.stop is not. */
static void test_rsp_is_the_leaf_end_in_jit_code(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK - 16);
    SET_STACK(&b, STACK - 16, code_at(&b, FUNCTION_G, 0x20), code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                 CALLER(code_at(&b, FUNCTION_F, 0x40)));
    assert_true(b.result->complete);
    assert_false(b.result->truncated || b.result->no_leaf || b.result->native_broken);
    close_bench(&b);
}

/* In JIT code on the native stack, next to a call into C, the leaf end is where that call has
 * it. */
static void test_stop_is_the_leaf_end_of_jit_code_on_the_native_stack(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, NATIVE);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A call from JIT code on the native stack that does not save the leaf end leaves it in rbp. */
static void test_rbp_is_the_leaf_end_if_jit_code_did_not_save_it(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x10), "\x48\x89\xec\x90", 4);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, NATIVE);
    set_register(&b, CPU_RBP, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_F, 0x40)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_false(b.result->no_leaf);
    close_bench(&b);
}

/* If C code was called after the leaf end was saved, Process.stop has the leaf end, whatever is in
 * rbp. */
static void test_stop_is_the_leaf_end_of_c_code_after_a_save(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x49\x8b\x65\x50", 4);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    set_register(&b, CPU_RBP, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_false(b.result->native_broken || b.result->no_leaf);
    close_bench(&b);
}

/* If C code was called without saving the leaf end, the leaf end is in rbp, which the C frames
 * preserved. */
static void test_rbp_is_the_leaf_end_of_c_code_without_a_save(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    set_register(&b, CPU_RBP, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x40)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_false(b.result->no_leaf);
    close_bench(&b);
}

/* OTP 24 has the leaf end in r12, and the Export of a light BIF in r14. */
static void test_otp_24_has_the_leaf_end_in_r12(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.vm.features = features_of(&(struct build){.otp_release = 24});
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x4c\x89\xe4", 3);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    set_register(&b, CPU_RBP, STACK);
    set_register(&b, CPU_R12, STACK - 8);
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x40)));
    close_bench(&b);

    open_bench(&b);
    b.vm.features = features_of(&(struct build){.otp_release = 24});
    stop_in_c(&b, code_at(&b, LIGHT_BIF, 0x30));
    set_register(&b, CPU_R14, EXPORT + 0x100);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {EXPORT + 0x100, ADDRESS_EXPORT, true},
                 CALLER(code_at(&b, FUNCTION_F, 0x33)));
    close_bench(&b);
}

/* A register that cannot be the stack pointer is ignored: the known frames are shown, with a mark
 * for the missing ones. */
static void test_register_that_is_no_stack_pointer_is_ignored(void **state)
{
    static const uint64_t values[] = {0, STACK + 1, HEND + 8, HEAP, NATIVE};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct bench b;

        open_bench(&b);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
        stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
        set_register(&b, CPU_RBP, values[i]);
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                     {0, ADDRESS_MISSING, false}, CALLER(code_at(&b, FUNCTION_G, 0x20)));
        assert_true(b.result->no_leaf);
        assert_false(b.result->complete);
        close_bench(&b);
    }
}

/* If the C frames cannot be unwound, the return address into the JIT is at its fixed place. */
static void test_broken_native_stack_still_leads_to_jit_code(void **state)
{
    const uint64_t words[] = {0, 0};
    struct bench b;
    uint64_t jit;

    (void)state;
    open_bench(&b);
    jit = code_at(&b, FUNCTION_F, 0x30);
    set_register(&b, CPU_RIP, 0x666000);
    set_register(&b, CPU_RSP, NATIVE - 16);
    fake_region(&b.sample, REGION_NATIVE, NATIVE - 16, words, sizeof(words));
    fake_region(&b.sample, REGION_NATIVE, NATIVE, &jit, sizeof(jit));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, {0x666000, ADDRESS_NATIVE, false}, CALLER(jit),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->native_broken);
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Set Process.current, as the words that the kernel side copied from its target. */
static void set_current(struct bench *b, uint64_t module, uint64_t function, uint64_t arity)
{
    uint64_t words[3] = {module, function, arity};

    fake_region(&b->sample, REGION_MFA, 0x40000200, words, sizeof(words));
}

static uint64_t packed(uint32_t arity)
{
    return unwound_mfa_pack(
        &(struct unwound_mfa){.module = ATOM_MODULE, .function = ATOM_FUNCTION, .arity = arity});
}

/* An MFA packed into an address is unpacked unchanged; words that are not an MFA are refused. */
static void test_packed_mfa_is_unpacked_unchanged(void **state)
{
    struct unwound_mfa mfa = unwound_mfa(packed(255));

    (void)state;
    assert_int_equal(mfa.module, ATOM_MODULE);
    assert_int_equal(mfa.function, ATOM_FUNCTION);
    assert_int_equal(mfa.arity, 255);
    assert_int_equal(packed(256), 0);
    mfa.module = 0x2000; /* no atom */
    assert_int_equal(unwound_mfa_pack(&mfa), 0);
}

/* On a dirty scheduler there is no JIT code rootwards: the process' function and its stack
 * follow. */
static void test_dirty_scheduler_shows_the_process_function_and_stack(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.scheduler, b.vm.layout.sched_type, VM_SCHEDULER_DIRTY_CPU);
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, 0);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {packed(3), ADDRESS_MFA, true},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A process that is collected on a dirty scheduler continues in Erlang code. */
static void test_dirty_collection_continues_in_erlang_code(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.scheduler, b.vm.layout.sched_type, VM_SCHEDULER_DIRTY_CPU);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, 0);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, LEAF(code_at(&b, FUNCTION_F, 0x18)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Kernel frames come first; all but the first are return addresses. */
static void test_kernel_frames_come_first(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.kernel_depth = 2;
    b.sample.kernel[0] = 0xffffffff81000001;
    b.sample.kernel[1] = 0xffffffff81000002;
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, {0xffffffff81000001, ADDRESS_KERNEL, false},
                 {0xffffffff81000002, ADDRESS_KERNEL, true}, LEAF(code_at(&b, FUNCTION_F, 0x10)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

static void test_nothing_is_unwound_without_registers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.flags = 0;
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    assert_int_equal(b.result->count, 0);
    assert_true(b.result->native_broken);
    assert_false(b.result->complete);
    close_bench(&b);
}

/* If an NMI hits at the entry to the kernel, all other data of the sample is older. */
static void test_nmi_at_the_kernel_entry_gives_only_a_mark(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.flags = WIRE_ENTRY | WIRE_IN_KERNEL;
    b.sample.head.kernel_depth = 1;
    b.sample.kernel[0] = 0xffffffff81000001;
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, {0, ADDRESS_ENTRY, false});
    assert_true(b.result->at_entry);
    assert_false(b.result->complete || b.result->native_broken || b.result->no_leaf);
    close_bench(&b);
}

/* If the CPU had pushed the user's frame, its instruction and stack pointer are enough in JIT
 * code. */
static void test_pushed_user_frame_is_enough_in_jit_code(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.sample.head.flags = WIRE_REGISTERS | WIRE_WAITS | WIRE_IN_KERNEL;
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK - 16);
    SET_STACK(&b, STACK - 16, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* ---- BIFs and fragments ---- */

/* A light BIF is identified by the Export that the fragment keeps; its caller is at the leaf end of
 * the stack, and the return address may be unaligned. */
static void test_light_bif_is_identified_by_its_export(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, LIGHT_BIF, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {EXPORT, ADDRESS_EXPORT, true},
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Only the head of a scheduler is copied: a field that an unusual layout puts beyond it is not
 * read. */
static void test_field_beyond_the_copied_scheduler_is_not_read(void **state)
{
    (void)state;
    for (int32_t at = WIRE_SCHEDULER_BYTES - 8; at <= WIRE_SCHEDULER_BYTES - 7; at++) {
        struct bench b;

        open_bench(&b);
        b.vm.layout.sched_registers = at;
        memcpy(b.scheduler + at, &(uint64_t){REGISTERS}, (size_t)(WIRE_SCHEDULER_BYTES - at));
        stop_in_c(&b, code_at(&b, LIGHT_BIF, 0x30));
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33));
        run(&b);
        assert_int_equal(b.result->frames[1].kind,
                         at == WIRE_SCHEDULER_BYTES - 8 ? ADDRESS_EXPORT : ADDRESS_CODE);
        close_bench(&b);
    }
}

/* The NIF's caller is the leaf: Process.current may not be the NIF's yet. */
static void test_caller_of_a_nif_is_the_leaf_before_the_nif_starts(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, code_at(&b, NIF, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, NIF, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

/* Process.current is set before a BIF is called, so the BIF is the leaf. */
static void test_bif_is_the_leaf_before_it_starts(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
    stop_in_c(&b, code_at(&b, BIF, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, {packed(3), ADDRESS_MFA, true},
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

/* Other BIFs and NIFs are identified by Process.current, or by the fragment if that is not set. */
static void test_bifs_and_nifs_are_identified_by_process_current(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        enum place place = i & 1 ? BIF : NIF;
        bool mfa = i & 2;
        struct bench b;

        open_bench(&b);
        if (mfa)
            set_current(&b, ATOM_MODULE, ATOM_FUNCTION, 3);
        stop_deep_in_c(&b, code_at(&b, place, 0x30));
        SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        if (mfa)
            CHECK_FRAMES(&b, NATIVE_LEAF, NATIVE_CALLER, {packed(3), ADDRESS_MFA, true},
                         CALLER(code_at(&b, FUNCTION_F, 0x33)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        else
            CHECK_FRAMES(&b, NATIVE_LEAF, NATIVE_CALLER, CALLER(code_at(&b, place, 0x30)),
                         CALLER(code_at(&b, FUNCTION_F, 0x33)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        close_bench(&b);
    }
}

/* If a fragment calls C, or calls another fragment that calls C, all fragments and the caller are
 * shown. */
static void test_all_fragments_and_their_caller_are_shown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, COLLECT, 0x30));
    SET_STACK(&b, STACK, code_at(&b, PLUS, 0x31), code_at(&b, FUNCTION_F, 0x33),
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 0x30)),
                 CALLER(code_at(&b, PLUS, 0x31)), CALLER(code_at(&b, FUNCTION_F, 0x33)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Unaligned words are return addresses only at the leaf end; further rootwards they are terms. */
static void test_unaligned_word_is_a_return_address_only_at_the_leaf(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_register(&b, CPU_RIP, code_at(&b, FUNCTION_F, 0x10));
    set_register(&b, CPU_RSP, STACK);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20), code_at(&b, FUNCTION_F, 0x33),
              code_at(&b, FUNCTION_G, 0x24));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                 CALLER(code_at(&b, FUNCTION_G, 0x24)));
    close_bench(&b);
}

/* The fragments of length/1 have their return address one word below the saved leaf end. */
static void test_length_has_its_return_address_below_the_leaf_end(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, LENGTH, 0x30));
    SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, LENGTH, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);
}

/* A process that is being scheduled has its next instruction in Process.i. */
static void test_scheduled_process_continues_at_process_i(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    stop_in_c(&b, code_at(&b, MAIN, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, MAIN, 0x30)),
                 LEAF(code_at(&b, FUNCTION_F, 0x18)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

static void test_scheduler_without_a_process_has_only_its_frames(void **state)
{
    struct snapshot snapshot;
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_c(&b, code_at(&b, MAIN, 0x30));
    fake_region(&b.sample, REGION_SCHEDULER, 0x1000, b.scheduler, sizeof(b.scheduler));
    assert_true(fake_sample_open(&b.sample, &snapshot));
    b.result = unwind(b.unwinder, &snapshot);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, MAIN, 0x30)));
    assert_false(b.result->complete);
    assert_false(b.result->native_broken);
    close_bench(&b);
}

/* ---- the words of the stack ---- */

/* Interrupt JIT code, with its stack at STACK. */
static void stop_in_jit(struct bench *b)
{
    set_register(b, CPU_RIP, code_at(b, FUNCTION_F, 0x10));
    set_register(b, CPU_RSP, STACK);
}

/* Terms, catch tags, saved stack pointers and words in unwritten slots are not frames. */
static void test_terms_on_the_stack_are_no_frames(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x40), 0, 0x3b, fake_small(17), fake_atom_term(5),
              HEAP + 0x101, HEAP + 0x102, 8, 4092, STACK + 64, 0x1b, code_at(&b, FUNCTION_G, 0x20),
              UINT64_MAX);
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_F, 0x40)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Words in the frame of the running function are not callers, whatever they look like. */
static void test_words_in_the_running_frame_are_no_callers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_frame(&b, FUNCTION_F, 3);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x40), 0x3b, code_at(&b, FUNCTION_F, 0x44),
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_false(b.result->no_leaf);
    close_bench(&b);
}

/* Words in the frame of a function are not callers either while the function has called C code or a
 * fragment. */
static void test_words_in_the_frame_that_called_c_are_no_callers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_frame(&b, FUNCTION_F, 2);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_F, 0x44),
              code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);

    open_bench(&b);
    set_frame(&b, FUNCTION_F, 2);
    stop_in_c(&b, code_at(&b, COLLECT, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_F, 0x40),
              code_at(&b, FUNCTION_F, 0x44), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* A fragment that is called on the C stack: its return address is the first word there, and the
 * frame of its caller is at the leaf end of the Erlang stack. */
static void test_fragment_on_the_native_stack_has_its_caller(void **state)
{
    struct bench b;

    for (int in_c = 0; in_c < 2; in_c++) {
        (void)state;
        open_bench(&b);
        set_frame(&b, FUNCTION_F, 2);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
        const uint64_t words[] = {
            code_at(&b, INIT_BITS, 0x14), STACK, code_at(&b, FUNCTION_F, 0x30), 0, 0, EXPORT};

        put_word(b.scheduler, b.vm.layout.sched_registers, NATIVE + 24);
        set_register(&b, CPU_RIP, in_c ? native_pc() : code_at(&b, INIT_BITS, 0x14));
        set_register(&b, CPU_RSP, in_c ? NATIVE : NATIVE + 8);
        set_register(&b, CPU_RBP, STACK - 8);
        fake_region(&b.sample, REGION_NATIVE, NATIVE, words, sizeof(words));
        SET_STACK(&b, STACK - 8, code_at(&b, FUNCTION_F, 0x40), code_at(&b, FUNCTION_F, 0x44),
                  code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        if (in_c)
            CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, INIT_BITS, 0x14)),
                         CALLER(code_at(&b, FUNCTION_F, 0x30)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, INIT_BITS, 0x14)),
                         CALLER(code_at(&b, FUNCTION_F, 0x30)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        assert_true(b.result->complete);
        close_bench(&b);
    }
}

/* With +JPperf fp a fragment pushes the frame pointer of its caller; the return address follows
 * it. */
static void test_return_address_follows_a_pushed_frame_pointer(void **state)
{
    struct bench b;

    (void)state;
    open_bench_with(&b, true);
    set_frame(&b, FUNCTION_F, 2);
    stop_in_c(&b, code_at(&b, COLLECT, 0x30));
    SET_STACK(&b, STACK, STACK + 0x20, code_at(&b, FUNCTION_F, 0x33), code_at(&b, FUNCTION_F, 0x40),
              STACK + 0x40, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, COLLECT, 0x30)),
                 CALLER(code_at(&b, FUNCTION_F, 0x33)), CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Process.i is used if its frame fits the stack, and not before it is written. */
static void test_process_i_is_used_only_if_its_frame_fits(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    set_frame(&b, FUNCTION_F, 1);
    stop_in_c(&b, code_at(&b, MAIN, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20), 0x3b);
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, MAIN, 0x30)), {0, ADDRESS_MISSING, false},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    close_bench(&b);

    open_bench(&b);
    put_word(b.process, b.vm.layout.process_i, code_at(&b, FUNCTION_F, 0x18));
    set_register(&b, CPU_RIP, code_at(&b, MAIN, 0x30));
    set_register(&b, CPU_RSP, NATIVE);
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, MAIN, 0x30)), {0, ADDRESS_MISSING, false},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->no_leaf);
    close_bench(&b);
}

/* Write a call of `callee` that ends at an offset of a function; return its return address. */
static uint64_t put_call(struct bench *b, enum place place, uint64_t offset, enum place callee)
{
    uint64_t address = code_at(b, place, offset);
    int32_t distance = (int32_t)(code_at(b, callee, 0) - address);

    fake_put(b->target, address - 5, "\xe8", 1);
    fake_put(b->target, address - 4, &distance, sizeof(distance));
    return address;
}

/* If the size of the frame is unknown, a word after a call of another function is not a caller; a
 * word after a call of this function is one; a word after an indirect call is shown with a mark. */
static void test_call_before_a_word_decides_in_an_unknown_frame(void **state)
{
    for (int i = 0; i < 2; i++) {
        uint64_t other, caller;
        struct bench b;

        (void)state;
        open_bench(&b);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0), "\x48\x29\xc4", 3); /* sub rsp, rax */
        fake_put(b.target, code_at(&b, FUNCTION_F, 0xff), "\x90", 1);
        stop_in_jit(&b);
        other = put_call(&b, FUNCTION_G, 0x40, FUNCTION_G);
        fake_put(b.target, code_at(&b, FUNCTION_G, 0x40), "\x90", 1);
        caller = code_at(&b, FUNCTION_G, 0x80);
        if (i == 0)
            put_call(&b, FUNCTION_G, 0x80, FUNCTION_F);
        else
            fake_put(b.target, caller - 6, "\x90\x90\x90\x90\xff\xd7", 6); /* call rdi */
        SET_STACK(&b, STACK, other, 0x3b, caller, code_at(&b, FUNCTION_G, 0x20));
        run(&b);
        if (i == 0)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(caller),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0, ADDRESS_MISSING, false},
                         CALLER(caller), CALLER(code_at(&b, FUNCTION_G, 0x20)));
        assert_int_equal(b.result->no_leaf, i == 1);
        assert_int_equal(b.result->complete, i == 0);
        close_bench(&b);
    }
}

/* If the size of the frame is unknown, a word after a call that collects garbage is not a caller,
 * because a collection calls no Erlang code. A word after a call of another fragment is shown with
 * a mark. */
static void test_word_after_a_collection_is_no_caller(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t other, caller;
        struct bench b;

        open_bench(&b);
        fake_put(b.target, code_at(&b, FUNCTION_F, 0), "\x48\x29\xc4", 3); /* sub rsp, rax */
        stop_in_jit(&b);
        other = put_call(&b, FUNCTION_G, 0x40, i == 0 ? COLLECT : PLUS);
        caller = put_call(&b, FUNCTION_G, 0x80, FUNCTION_F);
        SET_STACK(&b, STACK, other, 0x3b, caller);
        run(&b);
        if (i == 0)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(caller));
        else
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0, ADDRESS_MISSING, false},
                         CALLER(other), CALLER(caller));
        assert_int_equal(b.result->no_leaf, i == 1);
        close_bench(&b);
    }
}

/* If the leaf end is unknown, leftovers of ended frames are not shown: the sizes of frames must
 * lead from each frame to the next. */
static void test_leftovers_of_ended_frames_are_not_shown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_frame(&b, FUNCTION_G, 2);
    fake_put(b.target, code_at(&b, FUNCTION_F, 0x30), "\x48\x89\xec\x90", 4);
    stop_in_c(&b, code_at(&b, FUNCTION_F, 0x30));
    SET_STACK(&b, STACK, code_at(&b, FUNCTION_G, 0x40), 0x3b, 0x4b, 0x5b,
              code_at(&b, FUNCTION_G, 0x20), 0x3b, 0x3b);
    run(&b);
    CHECK_FRAMES(&b, NATIVE_LEAF, CALLER(code_at(&b, FUNCTION_F, 0x30)),
                 {0, ADDRESS_MISSING, false}, CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->no_leaf);
    close_bench(&b);
}

/* A return address outside of all known code, or in a module's header, is shown as unknown. */
static void test_return_address_outside_of_code_is_unknown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, 0x7fff12345670, code_at(&b, HEADER, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), {0x7fff12345670, ADDRESS_UNKNOWN, true},
                 {code_at(&b, HEADER, 0x20), ADDRESS_UNKNOWN, true});
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Frames that tracing put on the stack are hidden, together with their words. */
static void test_frames_of_tracing_are_hidden(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, TRACE, 0x20), code_at(&b, FUNCTION_F, 0x40),
              code_at(&b, FUNCTION_F, 0x44), code_at(&b, FUNCTION_G, 0x20),
              code_at(&b, TIME_TRACE, 0x20), code_at(&b, FUNCTION_F, 0x48),
              code_at(&b, FUNCTION_G, 0x24), code_at(&b, TO_TRACE, 0x20),
              code_at(&b, FUNCTION_G, 0x28));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                 CALLER(code_at(&b, FUNCTION_G, 0x24)), CALLER(code_at(&b, FUNCTION_G, 0x28)));
    assert_true(b.result->complete);
    close_bench(&b);
}

/* Words after normal_exit are ignored; a stack without it is incomplete. */
static void test_words_after_normal_exit_are_ignored(void **state)
{
    uint64_t word;
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    SET_STACK(&b, STACK, code_at(&b, EXIT, 8), code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)));
    assert_true(b.result->complete);
    close_bench(&b);

    open_bench(&b);
    stop_in_jit(&b);
    word = code_at(&b, FUNCTION_G, 0x20);
    fake_region(&b.sample, REGION_ERLANG, STACK, &word, sizeof(word));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(word));
    assert_false(b.result->complete);
    assert_false(b.result->truncated);
    close_bench(&b);
}

/* If the middle of the stack was not copied, a mark has the number of missing words. */
static void test_missing_words_of_a_deep_stack_are_marked(void **state)
{
    uint64_t word;
    struct bench b;

    (void)state;
    open_bench(&b);
    stop_in_jit(&b);
    word = code_at(&b, FUNCTION_F, 0x40);
    fake_region(&b.sample, REGION_ERLANG, STACK, &word, sizeof(word));
    SET_STACK(&b, STACK + 8 + 1000 * 8, code_at(&b, FUNCTION_G, 0x20));
    run(&b);
    CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(word), {1000, ADDRESS_CUT, false},
                 CALLER(code_at(&b, FUNCTION_G, 0x20)));
    assert_true(b.result->complete);
    assert_true(b.result->truncated);
    close_bench(&b);
}

/* With +JPperf fp, the saved frame pointer before each return address is not an unknown word, even
 * if a collection has moved heap and hend away. Without frame pointers it is. */
static void test_saved_frame_pointers_are_no_unknown_words(void **state)
{
    (void)state;
    for (int frame_pointers = 0; frame_pointers < 2; frame_pointers++) {
        struct bench b;

        open_bench_with(&b, frame_pointers);
        stop_in_jit(&b);
        set_frame(&b, FUNCTION_F, 1);
        set_register(&b, CPU_RSP, NATIVE); /* so that the leaf end is Process.stop */
        put_word(b.process, b.vm.layout.process_heap, 0x50000000);
        put_word(b.process, b.vm.layout.process_hend, 0x50100000);
        SET_STACK(&b, STACK, STACK + 0x10, code_at(&b, FUNCTION_G, 0x20), STACK + 0x20,
                  code_at(&b, FUNCTION_G, 0x24));
        run(&b);
        if (frame_pointers)
            CHECK_FRAMES(&b, LEAF(code_at(&b, FUNCTION_F, 0x10)),
                         CALLER(code_at(&b, FUNCTION_G, 0x20)),
                         CALLER(code_at(&b, FUNCTION_G, 0x24)));
        else
            CHECK_FRAMES(
                &b, LEAF(code_at(&b, FUNCTION_F, 0x10)), CALLER(code_at(&b, FUNCTION_G, 0x20)),
                {STACK + 0x20, ADDRESS_UNKNOWN, true}, CALLER(code_at(&b, FUNCTION_G, 0x24)));
        close_bench(&b);
    }
}

/* A circular native stack ends, and so does the walk. */
static void test_circular_native_stack_ends(void **state)
{
    uint64_t words[4096];
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < 4096; i++)
        words[i] = native_pc() + 1; /* returns to its own call */
    set_register(&b, CPU_RIP, native_pc());
    set_register(&b, CPU_RSP, 0x60000000);
    fake_region(&b.sample, REGION_NATIVE, 0x60000000, words, sizeof(words));
    run(&b);
    assert_true(b.result->count < 1000);
    assert_true(b.result->native_broken);
    close_bench(&b);
}

/* A process continues at Process.i, unless Process.i is in run_process, which takes the function
 * from elsewhere, or in no known code. */
static void test_process_continues_at_process_i_unless_in_run_process(void **state)
{
    static const struct fake_range ranges[] = {{0, 0x40, "erts_beamasm:run_process/3"},
                                               {0x40, PAGE, "erts_beamasm:normal_exit/0"}};
    struct error error;
    struct bench b;
    uint64_t start;

    (void)state;
    open_bench(&b);
    start = fake_room(b.target, PAGE);
    fake_load(b.target, &b.vm, fake_symfile("erts_beamasm", start, PAGE, ranges, 2));
    assert_int_equal(code_refresh(b.code, &error), 0);
    assert_false(unwind_goes_on_at(b.code, start + 8));
    assert_true(unwind_goes_on_at(b.code, start + 0x48));
    assert_true(unwind_goes_on_at(b.code, code_at(&b, FUNCTION_F, 0x10)));
    assert_false(unwind_goes_on_at(b.code, 0));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rsp_is_the_leaf_end_in_jit_code),
        cmocka_unit_test(test_stop_is_the_leaf_end_of_jit_code_on_the_native_stack),
        cmocka_unit_test(test_rbp_is_the_leaf_end_if_jit_code_did_not_save_it),
        cmocka_unit_test(test_stop_is_the_leaf_end_of_c_code_after_a_save),
        cmocka_unit_test(test_rbp_is_the_leaf_end_of_c_code_without_a_save),
        cmocka_unit_test(test_otp_24_has_the_leaf_end_in_r12),
        cmocka_unit_test(test_register_that_is_no_stack_pointer_is_ignored),
        cmocka_unit_test(test_broken_native_stack_still_leads_to_jit_code),
        cmocka_unit_test(test_dirty_scheduler_shows_the_process_function_and_stack),
        cmocka_unit_test(test_dirty_collection_continues_in_erlang_code),
        cmocka_unit_test(test_packed_mfa_is_unpacked_unchanged),
        cmocka_unit_test(test_kernel_frames_come_first),
        cmocka_unit_test(test_nothing_is_unwound_without_registers),
        cmocka_unit_test(test_nmi_at_the_kernel_entry_gives_only_a_mark),
        cmocka_unit_test(test_pushed_user_frame_is_enough_in_jit_code),
        cmocka_unit_test(test_light_bif_is_identified_by_its_export),
        cmocka_unit_test(test_field_beyond_the_copied_scheduler_is_not_read),
        cmocka_unit_test(test_caller_of_a_nif_is_the_leaf_before_the_nif_starts),
        cmocka_unit_test(test_bif_is_the_leaf_before_it_starts),
        cmocka_unit_test(test_process_continues_at_process_i_unless_in_run_process),
        cmocka_unit_test(test_bifs_and_nifs_are_identified_by_process_current),
        cmocka_unit_test(test_all_fragments_and_their_caller_are_shown),
        cmocka_unit_test(test_fragment_on_the_native_stack_has_its_caller),
        cmocka_unit_test(test_unaligned_word_is_a_return_address_only_at_the_leaf),
        cmocka_unit_test(test_length_has_its_return_address_below_the_leaf_end),
        cmocka_unit_test(test_scheduled_process_continues_at_process_i),
        cmocka_unit_test(test_scheduler_without_a_process_has_only_its_frames),
        cmocka_unit_test(test_terms_on_the_stack_are_no_frames),
        cmocka_unit_test(test_words_in_the_running_frame_are_no_callers),
        cmocka_unit_test(test_words_in_the_frame_that_called_c_are_no_callers),
        cmocka_unit_test(test_return_address_follows_a_pushed_frame_pointer),
        cmocka_unit_test(test_process_i_is_used_only_if_its_frame_fits),
        cmocka_unit_test(test_call_before_a_word_decides_in_an_unknown_frame),
        cmocka_unit_test(test_word_after_a_collection_is_no_caller),
        cmocka_unit_test(test_leftovers_of_ended_frames_are_not_shown),
        cmocka_unit_test(test_return_address_outside_of_code_is_unknown),
        cmocka_unit_test(test_frames_of_tracing_are_hidden),
        cmocka_unit_test(test_words_after_normal_exit_are_ignored),
        cmocka_unit_test(test_missing_words_of_a_deep_stack_are_marked),
        cmocka_unit_test(test_saved_frame_pointers_are_no_unknown_words),
        cmocka_unit_test(test_circular_native_stack_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
