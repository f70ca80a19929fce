// SPDX-License-Identifier: Apache-2.0
/*
 * The VM is this program: it has a loop with a symbol, and one without, identified by its call of
 * erts_schedule().
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "fake_code.h"
#include "fake_sample.h"
#include "symbol/frames_internal.h"

enum { KERNEL = 1, MFA = 2, CODE = 3 }; /* addresses that are not looked up */

void erts_schedule(void);
void erts_dirty_process_main(void);
extern const uint64_t unnamed_loop, unnamed_function, unnamed_last;

__attribute__((noinline)) void erts_schedule(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void erts_dirty_process_main(void)
{
    __asm__ volatile("nop");
    erts_schedule();
}

/* Functions of a stripped executable: unwind information without symbols. */
__asm__(".text\n"
        ".Lfunction: .cfi_startproc\n"
        "    nop\n    nop\n    ret\n"
        "    .cfi_endproc\n"
        ".Lloop: .cfi_startproc\n"
        "    nop\n    call erts_schedule\n    ret\n"
        "    .cfi_endproc\n"
        ".Llast: .cfi_startproc\n"
        "    nop\n    nop\n    ret\n"
        "    .cfi_endproc\n"
        ".data\n"
        ".globl unnamed_function, unnamed_loop, unnamed_last\n"
        "unnamed_function: .quad .Lfunction\n"
        "unnamed_loop: .quad .Lloop\n"
        "unnamed_last: .quad .Llast\n"
        ".text\n");

struct bench {
    struct fake_target *target;
    struct memory *memory;
    struct vm vm;
    struct code *code;
    struct runtime_names *names;
    struct dirty_loop *loop;
    uint8_t scheduler[WIRE_SCHEDULER_BYTES];
    struct fake_sample sample;
    struct unwound_frame frames[16];
    struct unwound unwound;
};

static void open_bench(struct bench *bench)
{
    struct fake_range range = {0, 16, "global::normal_exit"};
    struct error error;
    uint64_t global;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    fake_vm(&bench->vm, bench->target, 29);
    global = fake_room(bench->target, 64);
    fake_load(bench->target, &bench->vm, fake_emulator(global, false));
    fake_load(bench->target, &bench->vm, fake_symfile("global", global, 16, &range, 1));
    bench->memory = memory_of_process(getpid());
    bench->vm.mappings = mappings_new(getpid(), bench->memory, &error);
    bench->code = code_new(&bench->vm, &error);
    assert_non_null(bench->code);
    bench->names = runtime_names_new(&bench->vm, bench->code);
    bench->vm.memory = bench->memory;
    runtime_names_learn(bench->names, (uint64_t)(uintptr_t)erts_schedule, "erts_schedule");
    bench->loop = dirty_loop_new(&bench->vm, bench->names);
    bench->scheduler[bench->vm.layout.sched_type] = VM_SCHEDULER_DIRTY_CPU;
    bench->sample.head.process = 0x1000;
    bench->unwound.frames = bench->frames;
}

static void close_bench(struct bench *bench)
{
    fake_sample_free(&bench->sample);
    dirty_loop_free(bench->loop);
    runtime_names_free(bench->names);
    code_free(bench->code);
    mappings_free(bench->vm.mappings);
    memory_free(bench->memory);
    free(bench->target);
}

static void add(struct bench *bench, enum address_kind kind, uint64_t address)
{
    bench->frames[bench->unwound.count++] = (struct unwound_frame){address, kind, true};
}

/* Set the stack of a process, leaf first: kernel, `callee`, `loop`, a caller of the loop, function,
 * caller. */
static void set_stack(struct bench *bench, uint64_t callee, uint64_t loop)
{
    bench->unwound.count = 0;
    add(bench, ADDRESS_KERNEL, KERNEL);
    add(bench, ADDRESS_NATIVE, callee + 2);
    add(bench, ADDRESS_NATIVE, loop + 2);
    add(bench, ADDRESS_NATIVE, unnamed_last + 2);
    add(bench, ADDRESS_MFA, MFA);
    add(bench, ADDRESS_CODE, CODE);
}

static void run(struct bench *bench)
{
    struct snapshot snapshot;

    fake_region(&bench->sample, REGION_SCHEDULER, 0x2000, bench->scheduler,
                sizeof(bench->scheduler));
    assert_true(fake_sample_open(&bench->sample, &snapshot));
    dirty_loop_cut(bench->loop, &snapshot, &bench->unwound);
}

static void check_cut(const struct bench *bench, uint64_t callee)
{
    const uint64_t addresses[] = {KERNEL, callee + 2, MFA, CODE};

    assert_int_equal(bench->unwound.count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(bench->frames[i].address, addresses[i]);
}

/* The loop and its callers are cut out between the loop's callee and the process' frames. */
static void test_loop_with_a_symbol_is_cut_out(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_stack(&b, unnamed_function, (uint64_t)(uintptr_t)erts_dirty_process_main);
    run(&b);
    check_cut(&b, unnamed_function);
    close_bench(&b);
}

/* Without a symbol, the loop is the function that calls erts_schedule(). */
static void test_loop_without_a_symbol_is_found_by_its_call(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_stack(&b, unnamed_function, unnamed_loop);
    run(&b);
    check_cut(&b, unnamed_function);
    assert_string_equal(runtime_names_find(b.names, unnamed_loop), "erts_dirty_process_main");
    assert_null(runtime_names_find(b.names, unnamed_function));
    close_bench(&b);
}

static void test_no_native_frame_stays_if_the_loop_is_the_leaf(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    add(&b, ADDRESS_NATIVE, unnamed_loop + 2);
    add(&b, ADDRESS_NATIVE, unnamed_last + 2);
    add(&b, ADDRESS_CODE, CODE);
    run(&b);
    assert_int_equal(b.unwound.count, 1);
    assert_int_equal(b.frames[0].address, CODE);
    close_bench(&b);
}

/* While a NIF runs, the loop's callee is the function that calls NIFs. */
static void test_callee_of_the_loop_in_a_nif_is_the_caller_of_nifs(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    b.scheduler[b.vm.layout.sched_current_nif] = 8;
    set_stack(&b, unnamed_function, unnamed_loop);
    run(&b);
    check_cut(&b, unnamed_function);
    assert_string_equal(runtime_names_find(b.names, unnamed_function), "erts_call_dirty_nif");
    close_bench(&b);
}

/* If the loop is not found, or erts_schedule() is unknown, all frames stay. */
static void test_all_frames_stay_if_the_loop_is_unknown(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    set_stack(&b, unnamed_function, unnamed_function);
    run(&b);
    assert_int_equal(b.unwound.count, 6);
    runtime_names_free(b.names);
    b.names = runtime_names_new(&b.vm, b.code);
    dirty_loop_free(b.loop);
    b.loop = dirty_loop_new(&b.vm, b.names);
    set_stack(&b, unnamed_function, unnamed_loop);
    run(&b);
    assert_int_equal(b.unwound.count, 6);
    close_bench(&b);
}

/* All frames stay on a normal scheduler, and on a dirty one without a process. */
static void test_all_frames_stay_on_normal_and_idle_schedulers(void **state)
{
    (void)state;
    for (int idle = 0; idle < 2; idle++) {
        struct bench b;

        open_bench(&b);
        if (idle)
            b.sample.head.process = 0;
        else
            b.scheduler[b.vm.layout.sched_type] = VM_SCHEDULER_NORMAL;
        set_stack(&b, unnamed_function, unnamed_loop);
        run(&b);
        assert_int_equal(b.unwound.count, 6);
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_with_a_symbol_is_cut_out),
        cmocka_unit_test(test_loop_without_a_symbol_is_found_by_its_call),
        cmocka_unit_test(test_no_native_frame_stays_if_the_loop_is_the_leaf),
        cmocka_unit_test(test_callee_of_the_loop_in_a_nif_is_the_caller_of_nifs),
        cmocka_unit_test(test_all_frames_stay_if_the_loop_is_unknown),
        cmocka_unit_test(test_all_frames_stay_on_normal_and_idle_schedulers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
