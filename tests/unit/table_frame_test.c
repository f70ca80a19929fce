// SPDX-License-Identifier: Apache-2.0
/* The frame of the ETS table that a BIF works on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "fake_code.h"
#include "fake_sample.h"
#include "symbol/frames_internal.h"

enum {
    ETS,
    LOOKUP,
    SELECT,
    WHEREIS,
    SESSION,
    ATOMS,
    FRAMES = 3, /* C code, the BIF, its caller */
    PID = 0x55 << 4 | 3,
};

static const char *const atoms[ATOMS] = {"ets", "lookup", "select", "whereis", "session"};
static const struct fake_range fragments[] = {{0, 0x100, "global::normal_exit"}};
static const uint32_t numbers[] = {11, 1 << 17 | 1, 33};

struct bench {
    struct fake_target *target;
    struct vm vm;
    struct name_sources from;
    struct profile *profile;
    struct frame_names *names;
    struct fake_sample sample;
    struct snapshot snapshot;
    struct unwound unwound;
};

static void open_bench(struct bench *bench)
{
    struct error error;
    uint64_t code;

    memset(bench, 0, sizeof(*bench));
    bench->target = fake_target_new();
    fake_vm(&bench->vm, bench->target, 27);
    bench->vm.roots.atom_table = fake_room(bench->target, 64);
    fake_atom_table(bench->target, &bench->vm.layout, bench->vm.roots.atom_table, ATOMS, atoms,
                    ATOMS);
    code = fake_room(bench->target, 0x100);
    fake_load(bench->target, &bench->vm, fake_emulator(code + 8, false));
    fake_load(bench->target, &bench->vm, fake_symfile("global", code, 0x100, fragments, 1));
    bench->vm.mappings = mappings_new(getpid(), &bench->target->memory, &error);
    bench->from.vm = &bench->vm;
    bench->from.atoms = atoms_new(&bench->vm);
    bench->from.code = code_new(&bench->vm, &error);
    assert_non_null(bench->from.code);
    bench->from.runtime = runtime_names_new(&bench->vm, bench->from.code);
    bench->from.functions = state_functions_new(&bench->vm, bench->from.code, bench->from.runtime);
    bench->profile = profile_new();
    bench->names = frame_names_new(&bench->from, bench->profile);
}

static void close_bench(struct bench *bench)
{
    free(bench->unwound.frames);
    fake_sample_free(&bench->sample);
    frame_names_free(bench->names);
    profile_free(bench->profile);
    state_functions_free((struct state_functions *)bench->from.functions);
    runtime_names_free(bench->from.runtime);
    code_free(bench->from.code);
    atoms_free(bench->from.atoms);
    mappings_free(bench->vm.mappings);
    free(bench->target);
}

/* A stack whose C code was called by a BIF of ets. */
static void call(struct bench *bench, uint32_t function, uint32_t arity)
{
    const struct unwound_mfa mfa = {fake_atom_term(ETS), fake_atom_term(function), arity};
    const struct unwound_frame frames[FRAMES] = {{0x1000, ADDRESS_NATIVE, false},
                                                 {unwound_mfa_pack(&mfa), ADDRESS_MFA, true},
                                                 {0x2000, ADDRESS_CODE, true}};

    free(bench->unwound.frames);
    bench->unwound =
        (struct unwound){.frames = malloc(sizeof(frames)), .count = FRAMES, .room = FRAMES};
    memcpy(bench->unwound.frames, frames, sizeof(frames));
}

static void add(struct bench *bench, const struct wire_table *table, size_t size)
{
    fake_sample_free(&bench->sample);
    fake_region(&bench->sample, REGION_TABLE, 0x3000, table, size);
    assert_true(fake_sample_open(&bench->sample, &bench->snapshot));
    table_frame_add(bench->names, &bench->vm, &bench->snapshot, &bench->unwound);
}

static void check_is_added(struct bench *bench, const char *name)
{
    const struct named_stack *stack = frame_names_find(bench->names, &bench->unwound);

    assert_int_equal(stack->count, FRAMES + 1);
    assert_int_equal(bench->unwound.frames[0].kind, ADDRESS_NATIVE);
    assert_int_equal(bench->unwound.frames[1].kind, ADDRESS_TABLE);
    assert_int_equal(bench->unwound.frames[2].kind, ADDRESS_MFA);
    assert_int_equal(bench->unwound.frames[3].kind, ADDRESS_CODE);
    assert_string_equal(
        profile_text(bench->profile, profile_get_frame(bench->profile, stack->frames[1])->symbol),
        name);
    assert_int_equal(stack->classes[1], CLASS_BIF);
    assert_int_equal(stack->erlang, 2);
}

static void check_is_not_added(const struct bench *bench)
{
    assert_int_equal(bench->unwound.count, FRAMES);
    assert_int_equal(bench->unwound.frames[1].kind, ADDRESS_MFA);
}

/* Write a table; return its identifier. */
static struct wire_table put_table(struct bench *bench)
{
    const struct layout *layout = &bench->vm.layout;
    uint64_t table = fake_room(bench->target, (size_t)layout->sizeof_table),
             binary = fake_room(bench->target, 128);

    fake_put_u64(bench->target, table + (uint64_t)layout->table_name, fake_atom_term(SESSION));
    fake_put_u64(bench->target, table + (uint64_t)layout->table_owner, PID);
    fake_put_u32(bench->target, table + (uint64_t)layout->table_status, DB_SET | DB_PUBLIC);
    fake_put_u32(bench->target, table + (uint64_t)layout->table_keypos, 1);
    fake_put_u32(bench->target, table + (uint64_t)layout->table_counter_count, 2);
    fake_put_u64(bench->target, table + (uint64_t)layout->table_identifier, binary);
    fake_put_u64(bench->target, binary + (uint64_t)layout->magic_binary_data, table);
    fake_put(bench->target, binary + (uint64_t)layout->magic_binary_numbers, numbers,
             sizeof(numbers));
    return (struct wire_table){.identifier = binary, .numbers = {11, 1 << 17 | 1, 33}};
}

static void test_table_is_the_callee_of_the_bif(void **state)
{
    const struct wire_table by_name = {.name = fake_atom_term(SESSION)};
    struct wire_table by_identifier;
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, LOOKUP, 2);
    add(&b, &by_name, sizeof(by_name));
    check_is_added(&b, "[table session]");
    by_identifier = put_table(&b);
    call(&b, LOOKUP, 2);
    add(&b, &by_identifier, sizeof(by_identifier));
    check_is_added(&b, "[table session]");
    by_identifier.continues = true;
    call(&b, SELECT, 1);
    add(&b, &by_identifier, sizeof(by_identifier));
    check_is_added(&b, "[table session]");
    close_bench(&b);
}

/* The argument is a name that need not be a table's, an end of table, or a tuple where a table
 * should be. */
static void test_argument_that_need_not_be_a_table_is_left_out(void **state)
{
    static const struct {
        uint32_t function, arity;
        bool continues;
    } calls[] = {{WHEREIS, 1, false}, {SELECT, 1, false}, {SELECT, 2, true}, {SESSION, 2, false}};
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        const struct wire_table table = {.name = fake_atom_term(SESSION),
                                         .continues = calls[i].continues};

        call(&b, calls[i].function, calls[i].arity);
        add(&b, &table, sizeof(table));
        check_is_not_added(&b);
    }
    close_bench(&b);
}

static void test_deleted_table_is_left_out(void **state)
{
    struct wire_table table;
    struct bench b;

    (void)state;
    open_bench(&b);
    table = put_table(&b);
    table.numbers[2]++;
    call(&b, LOOKUP, 2);
    add(&b, &table, sizeof(table));
    check_is_not_added(&b);
    close_bench(&b);
}

/* Erlang code that runs by itself works on no table, and a short region is not read. */
static void test_sample_without_a_table_stays_as_it_is(void **state)
{
    const struct wire_table table = {.name = fake_atom_term(SESSION)};
    struct bench b;

    (void)state;
    open_bench(&b);
    call(&b, LOOKUP, 2);
    add(&b, &table, sizeof(table) - 1);
    check_is_not_added(&b);
    b.unwound.count = 1;
    add(&b, &table, sizeof(table));
    assert_int_equal(b.unwound.count, 1);
    b.unwound.frames[0].kind = ADDRESS_CODE;
    add(&b, &table, sizeof(table));
    assert_int_equal(b.unwound.count, 1);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_the_callee_of_the_bif),
        cmocka_unit_test(test_argument_that_need_not_be_a_table_is_left_out),
        cmocka_unit_test(test_deleted_table_is_left_out),
        cmocka_unit_test(test_sample_without_a_table_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
