// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "beam/atom.h"
#include "fake_target.h"

enum { ATOMS = 1000 };

static bool (*read_target)(struct memory *memory, uint64_t address, void *buffer, size_t size);
static int reads;

static bool count_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    reads++;
    return read_target(memory, address, buffer, size);
}

/* A VM whose atoms have the size of "span_ctx", but for the last two. */
static struct vm make_vm(struct fake_target *target, int release, const char *context)
{
    static char texts[ATOMS][16];
    static const char *names[ATOMS];
    struct vm vm = {.memory = &target->memory};

    for (int i = 0; i < ATOMS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "atom_%03d", i);
        names[i] = texts[i];
    }
    names[700] = "span_ctx";
    names[ATOMS - 2] = "otel_tracer";
    names[ATOMS - 1] = context;
    fake_release(&vm, release);
    vm.roots.atom_table = fake_room(target, 128);
    fake_atom_table(target, &vm.layout, vm.roots.atom_table, ATOMS, names, ATOMS);
    read_target = target->memory.read;
    target->memory.read = count_read;
    reads = 0;
    return vm;
}

/* All three atoms are found in each release, with far fewer reads than there are atoms. */
static void test_atoms_are_found_with_few_reads(void **state)
{
    (void)state;
    for (int release = 25; release <= 29; release++) {
        struct fake_target *target = fake_target_new();
        struct vm vm = make_vm(target, release, "$__current_otel_ctx");
        struct trace_atoms atoms = {0};

        assert_true(trace_atoms_look(&vm, &atoms));
        assert_int_equal(atoms.wire.span_ctx, fake_atom_term(700));
        assert_int_equal(atoms.wire.tracer, fake_atom_term(ATOMS - 2));
        assert_int_equal(atoms.wire.context, fake_atom_term(ATOMS - 1));
        assert_in_range(reads, 1, ATOMS / 2);
        free(target);
    }
}

/* Without one of the three, there are no traces, and no atom is looked at again. */
static void test_each_atom_is_looked_at_once(void **state)
{
    struct fake_target *target = fake_target_new();
    struct vm vm = make_vm(target, 29, "$__current_otel_cty");
    struct trace_atoms atoms = {0};

    (void)state;
    assert_false(trace_atoms_look(&vm, &atoms));
    assert_int_equal(atoms.seen, ATOMS);
    reads = 0;
    assert_false(trace_atoms_look(&vm, &atoms));
    assert_int_equal(reads, 1);
    free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_are_found_with_few_reads),
        cmocka_unit_test(test_each_atom_is_looked_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
