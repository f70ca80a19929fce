// SPDX-License-Identifier: Apache-2.0
/*
 * Names and classes of the frames of a stack. The VM's native code is this program's, its Erlang
 * code is made by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <unistd.h>

#include "fake_code.h"
#include "symbol/frames_internal.h"

enum { CODE_SIZE = 0x300, ATOM_LISTS = 0, ATOM_KEYFIND = 1, ATOMS = 2, FRAMES = 16 };
static const uint64_t KERNEL_POLL = 0xffffffff81001000, KERNEL_OTHER = 0xffffffff81002000;

static const struct fake_range functions_of_m[] = {
    {0, 0x100, "m::codeHeader"}, {0x100, 0x200, "m:f/1"}, {0x200, CODE_SIZE, "m:g/2"}};
static const struct fake_range functions_of_new_m[] = {
    {0, 0x100, "m::codeHeader"}, {0x100, 0x200, "m:new/1"}, {0x200, CODE_SIZE, "m:g/2"}};
static const struct fake_range functions_of_gen_server[] = {
    {0, 0x100, "gen_server::codeHeader"},
    {0x100, 0x200, "gen_server:loop/7"},
    {0x200, CODE_SIZE, "gen_server:init_it/6"}};
static const struct fake_range fragments[] = {{0, 0x100, "global::call_bif_shared"},
                                              {0x100, 0x200, "global::normal_exit"}};

void driver_select(void);

__attribute__((noinline)) void driver_select(void)
{
    __asm__ volatile("nop");
}

__attribute__((noinline)) static void first_function(void)
{
    __asm__ volatile("nop; nop");
}

__attribute__((noinline)) static void second_function(void)
{
    __asm__ volatile("nop; nop; nop");
}

static uint64_t address_of(void (*function)(void))
{
    return (uint64_t)(uintptr_t)function;
}

struct bench {
    struct fake_target *target;
    struct memory *memory; /* of this program */
    struct vm vm;
    struct name_sources from;
    struct state_functions *functions; /* of `from` */
    struct kernel_symbols *kernel;
    struct profile *profile;
    struct frame_names *names;
    uint64_t module, global, export;
    struct unwound_frame frames[FRAMES];
    struct unwound unwound;
    const struct named_stack *stack;
};

static void load_kernel(struct bench *bench)
{
    static char text[] = "ffffffff81000000 T _text\n"
                         "ffffffff81001000 T ep_poll\n"
                         "ffffffff81002000 T tcp_sendmsg\n"
                         "ffffffff81003000 T last\n";
    FILE *file = fmemopen(text, sizeof(text) - 1, "r");
    struct error error;

    assert_non_null(file);
    bench->kernel = kernel_symbols_read(file, &error);
    assert_non_null(bench->kernel);
    fclose(file);
}

/* The Export of lists:keyfind/3. */
static void put_export(struct bench *bench)
{
    static const char *const atoms[ATOMS] = {"lists", "keyfind"};
    const struct layout *layout = &bench->vm.layout;
    uint64_t mfa;

    bench->vm.roots.atom_table = fake_room(bench->target, 64);
    fake_atom_table(bench->target, layout, bench->vm.roots.atom_table, ATOMS, atoms, ATOMS);
    bench->export = fake_room(bench->target, 256);
    mfa = bench->export + (uint64_t)layout->export_info + (uint64_t)layout->code_info_mfa;
    fake_put_u64(bench->target, mfa, fake_atom_term(ATOM_LISTS));
    fake_put_u64(bench->target, mfa + 8, fake_atom_term(ATOM_KEYFIND));
    fake_put_u64(bench->target, mfa + 16, 3);
}

static void open_bench(struct bench *bench)
{
    struct error error;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    fake_vm(&bench->vm, bench->target, 27);
    snprintf(bench->vm.executable, sizeof(bench->vm.executable), "/elsewhere/%s",
             program_invocation_short_name);
    bench->module = fake_room(bench->target, CODE_SIZE);
    bench->global = fake_room(bench->target, 0x200);
    fake_load(bench->target, &bench->vm, fake_emulator(bench->global + 0x108, false));
    fake_load(bench->target, &bench->vm,
              fake_symfile("global", bench->global, 0x200, fragments, 2));
    fake_load(bench->target, &bench->vm,
              fake_symfile("m", bench->module, CODE_SIZE, functions_of_m, 3));
    put_export(bench);
    bench->memory = memory_of_process(getpid());
    bench->vm.mappings = mappings_new(getpid(), bench->memory, &error);
    bench->from.vm = &bench->vm;
    bench->from.atoms = atoms_new(&bench->vm);
    bench->from.code = code_new(&bench->vm, &error);
    assert_non_null(bench->from.code);
    bench->from.runtime = runtime_names_new(&bench->vm, bench->from.code);
    bench->functions = state_functions_new(&bench->vm, bench->from.code, bench->from.runtime);
    bench->from.functions = bench->functions;
    bench->profile = profile_new();
    bench->names = frame_names_new(&bench->from, bench->profile);
    load_kernel(bench);
    frame_names_set_kernel(bench->names, bench->kernel, false);
    bench->unwound.frames = bench->frames;
}

static void close_bench(struct bench *bench)
{
    frame_names_free(bench->names);
    profile_free(bench->profile);
    kernel_symbols_free(bench->kernel);
    state_functions_free(bench->functions);
    runtime_names_free(bench->from.runtime);
    code_free(bench->from.code);
    atoms_free(bench->from.atoms);
    mappings_free(bench->vm.mappings);
    memory_free(bench->memory);
    free(bench->target);
}

/* Add a frame on the root side. */
static void add(struct bench *bench, enum address_kind kind, uint64_t address, bool is_return)
{
    assert_true(bench->unwound.count < FRAMES);
    bench->frames[bench->unwound.count++] = (struct unwound_frame){address, kind, is_return};
}

static void find(struct bench *bench)
{
    bench->stack = frame_names_find(bench->names, &bench->unwound);
    assert_int_equal(bench->stack->count, bench->unwound.count);
}

static const char *name(const struct bench *bench, size_t i)
{
    return profile_text(bench->profile,
                        profile_get_frame(bench->profile, bench->stack->frames[i])->symbol);
}

static void check(const struct bench *bench, size_t i, const char *symbol, enum frame_class class)
{
    assert_string_equal(name(bench, i), symbol);
    assert_int_equal(bench->stack->classes[i], class);
}

/* Each frame gets its name and its class, and keeps both at the next stack. */
static void test_frame_keeps_its_name_and_class(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    add(&b, ADDRESS_KERNEL, KERNEL_OTHER + 4, false);
    add(&b, ADDRESS_KERNEL, KERNEL_POLL + 4, true);
    add(&b, ADDRESS_NATIVE, (uint64_t)(uintptr_t)gnu_get_libc_version + 1, true);
    add(&b, ADDRESS_NATIVE, address_of(driver_select) + 1, true);
    add(&b, ADDRESS_NATIVE, address_of(first_function) + 1, true);
    add(&b, ADDRESS_EXPORT, b.export, true);
    add(&b, ADDRESS_CODE, b.module + 0x140, true);
    add(&b, ADDRESS_CODE, b.global + 0x40, true);
    add(&b, ADDRESS_CUT, 5, false);
    add(&b, ADDRESS_MISSING, 0, false);
    for (int i = 0; i < 2; i++) {
        find(&b);
        check(&b, 0, "tcp_sendmsg", CLASS_SYSTEM);
        check(&b, 1, "ep_poll", CLASS_POLL);
        check(&b, 2, "gnu_get_libc_version", CLASS_SYSTEM);
        check(&b, 3, "driver_select", CLASS_CHECK_IO);
        check(&b, 4, "first_function", CLASS_VM);
        check(&b, 5, "lists:keyfind/3", CLASS_BIF);
        check(&b, 6, "m:f/1", CLASS_ERLANG);
        check(&b, 7, "global::call_bif_shared", CLASS_ERLANG);
        check(&b, 8, "[4 words truncated]", CLASS_ERLANG);
        check(&b, 9, "[frames missing]", CLASS_ERLANG);
    }
    close_bench(&b);
}

static uint64_t address_at(const struct bench *bench, size_t i)
{
    return profile_get_frame(bench->profile, bench->stack->frames[i])->address;
}

/* Frames of the kernel have no address unless it was requested. Functions with a name and those
 * without stay one each. */
static void test_kernel_frames_have_no_address(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    add(&b, ADDRESS_KERNEL, KERNEL_OTHER + 4, false);
    add(&b, ADDRESS_KERNEL, KERNEL_OTHER + 8, true);
    add(&b, ADDRESS_KERNEL, KERNEL_POLL - 0x10000, false);
    add(&b, ADDRESS_KERNEL, KERNEL_POLL - 0x20000, false);
    find(&b);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(address_at(&b, i), 0);
    check(&b, 2, "[unknown]", CLASS_SYSTEM);
    assert_int_equal(b.stack->frames[0], b.stack->frames[1]);
    assert_int_equal(b.stack->frames[2], b.stack->frames[3]);
    assert_int_equal(b.stack->unknown_native, 2);
    frame_names_set_kernel(b.names, b.kernel, true);
    frame_names_move(b.names, b.profile);
    find(&b);
    assert_int_equal(address_at(&b, 0), KERNEL_OTHER);
    assert_int_equal(b.stack->frames[0], b.stack->frames[1]);
    check(&b, 2, "0xffffffff80ff1000", CLASS_SYSTEM);
    assert_int_equal(address_at(&b, 2), KERNEL_POLL - 0x10000);
    close_bench(&b);
}

/* A stack counts its frames of Erlang code, and those without a name. */
static void test_erlang_and_unnamed_frames_are_counted(void **state)
{
    const struct unwound_mfa unknown = {fake_atom_term(ATOMS), fake_atom_term(ATOM_KEYFIND), 3};
    struct bench b;

    (void)state;
    open_bench(&b);
    add(&b, ADDRESS_KERNEL, 0x1000, false);
    add(&b, ADDRESS_KERNEL, KERNEL_POLL + 4, true);
    add(&b, ADDRESS_NATIVE, 0x2000, true);
    add(&b, ADDRESS_NATIVE, address_of(first_function) + 1, true);
    add(&b, ADDRESS_EXPORT, b.export, true);
    add(&b, ADDRESS_MFA, unwound_mfa_pack(&unknown), true);
    add(&b, ADDRESS_CODE, b.module + 0x140, true);
    add(&b, ADDRESS_CODE, b.global + 0x40, true);
    add(&b, ADDRESS_CODE, 0x3000, true);
    add(&b, ADDRESS_UNKNOWN, 0x4000, true);
    add(&b, ADDRESS_MISSING, 0, false);
    for (int i = 0; i < 2; i++) {
        find(&b);
        assert_int_equal(b.stack->erlang, 5); /* no fragment, and no mark */
        assert_int_equal(b.stack->unknown_erlang, 3);
        assert_int_equal(b.stack->unknown_native, 2);
    }
    b.unwound.count = 0;
    find(&b);
    assert_int_equal(b.stack->erlang + b.stack->unknown_erlang + b.stack->unknown_native, 0);
    close_bench(&b);
}

/* Functions that become known later give their class to frames that were named before. Frames keep
 * their names. */
static void test_frames_get_the_class_of_functions_found_later(void **state)
{
    frame_id first, second;
    struct bench b;

    (void)state;
    open_bench(&b);
    add(&b, ADDRESS_NATIVE, address_of(first_function), false);
    add(&b, ADDRESS_NATIVE, address_of(first_function) + 2, true);
    add(&b, ADDRESS_NATIVE, address_of(second_function) + 2, true);
    add(&b, ADDRESS_KERNEL, KERNEL_POLL + 4, true);
    find(&b);
    check(&b, 0, "first_function", CLASS_VM);
    first = b.stack->frames[0];
    second = b.stack->frames[2];
    state_functions_add(b.functions, FUNCTION_COLLECT, address_of(first_function));
    runtime_names_learn(b.from.runtime, address_of(first_function), "garbage_collect");
    find(&b);
    check(&b, 0, "first_function", CLASS_COLLECT);
    check(&b, 1, "first_function", CLASS_COLLECT);
    check(&b, 2, "second_function", CLASS_VM);
    check(&b, 3, "ep_poll", CLASS_POLL);
    assert_int_equal(b.stack->frames[0], first);
    state_functions_add(b.functions, FUNCTION_DRIVER, address_of(second_function));
    find(&b);
    check(&b, 0, "first_function", CLASS_COLLECT);
    check(&b, 2, "second_function", CLASS_PORT);
    assert_int_equal(b.stack->frames[2], second);
    close_bench(&b);
}

/* Functions that are known before have their class from the first stack on, and in each profile. */
static void test_known_functions_have_their_class_in_each_profile(void **state)
{
    struct profile *first;
    struct bench b;

    (void)state;
    open_bench(&b);
    state_functions_add(b.functions, FUNCTION_AUX_WORK, address_of(second_function));
    add(&b, ADDRESS_NATIVE, address_of(second_function), false);
    add(&b, ADDRESS_CODE, b.module + 0x140, true);
    find(&b);
    check(&b, 0, "second_function", CLASS_AUX);
    first = b.profile;
    b.profile = profile_new();
    frame_names_move(b.names, b.profile);
    profile_free(first);
    state_functions_add(b.functions, FUNCTION_SCHEDULE, address_of(first_function));
    b.unwound.count = 1;
    add(&b, ADDRESS_NATIVE, address_of(first_function), false);
    find(&b);
    check(&b, 0, "second_function", CLASS_AUX);
    check(&b, 1, "first_function", CLASS_SCHEDULE);
    close_bench(&b);
}

static void test_new_code_at_an_old_address_gets_its_own_name(void **state)
{
    struct error error;
    struct bench b;

    (void)state;
    open_bench(&b);
    add(&b, ADDRESS_CODE, b.module + 0x140, true);
    add(&b, ADDRESS_NATIVE, address_of(first_function), false);
    find(&b);
    check(&b, 0, "m:f/1", CLASS_ERLANG);
    fake_load(b.target, &b.vm, fake_symfile("m", b.module, CODE_SIZE, functions_of_new_m, 3));
    assert_int_equal(code_refresh(b.from.code, &error), 0);
    find(&b);
    check(&b, 0, "m:new/1", CLASS_ERLANG);
    check(&b, 1, "first_function", CLASS_VM);
    close_bench(&b);
}

/* Each frame keeps its waiting class, also when it gets another frame class. */
static void test_frame_keeps_what_it_tells_of_a_wait(void **state)
{
    static const uint8_t expected[] = {WAITING_NO_CALL, WAITING_UNKNOWN, WAITING_MAIN_LOOP,
                                       WAITING_CALLER, WAITING_NO_CALL};
    struct error error;
    struct bench b;

    (void)state;
    open_bench(&b);
    fake_load(b.target, &b.vm,
              fake_symfile("gen_server", b.module, CODE_SIZE, functions_of_gen_server, 3));
    assert_int_equal(code_refresh(b.from.code, &error), 0);
    add(&b, ADDRESS_NATIVE, address_of(first_function), false);
    add(&b, ADDRESS_EXPORT, b.export, true);
    add(&b, ADDRESS_CODE, b.module + 0x140, true);
    add(&b, ADDRESS_CODE, b.module + 0x240, true);
    add(&b, ADDRESS_CODE, b.global + 0x40, true);
    find(&b);
    assert_memory_equal(b.stack->waiting, expected, sizeof(expected));
    state_functions_add(b.functions, FUNCTION_COLLECT, address_of(first_function));
    find(&b);
    assert_int_equal(b.stack->classes[0], CLASS_COLLECT);
    assert_memory_equal(b.stack->waiting, expected, sizeof(expected));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_keeps_its_name_and_class),
        cmocka_unit_test(test_frame_keeps_what_it_tells_of_a_wait),
        cmocka_unit_test(test_erlang_and_unnamed_frames_are_counted),
        cmocka_unit_test(test_frames_get_the_class_of_functions_found_later),
        cmocka_unit_test(test_known_functions_have_their_class_in_each_profile),
        cmocka_unit_test(test_new_code_at_an_old_address_gets_its_own_name),
        cmocka_unit_test(test_kernel_frames_have_no_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
