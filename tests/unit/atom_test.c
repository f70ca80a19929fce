// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "beam/atom.h"
#include "fake_target.h"

static const char *const names[] = {"false", "true", "lists", "Привет"};

static struct vm vm_with_atoms(struct fake_target *target, int release, uint32_t entries)
{
    struct vm vm = {.memory = &target->memory};

    fake_release(&vm, release);
    vm.roots.atom_table = fake_room(target, 128);
    fake_atom_table(target, &vm.layout, vm.roots.atom_table, entries, names, 4);
    return vm;
}

/* Texts are found by index, whether the name is plain bytes (27) or a binary (28 and later). */
static void test_atom_text_is_found_by_index_in_each_release(void **state)
{
    (void)state;
    for (int release = 27; release <= 29; release++) {
        struct fake_target *target = fake_target_new();
        struct vm vm = vm_with_atoms(target, release, 4);
        struct atoms *atoms = atoms_new(&vm);

        assert_string_equal(atom_text(atoms, fake_atom_term(0)), "false");
        assert_string_equal(atom_text(atoms, fake_atom_term(2)), "lists");
        assert_string_equal(atom_text(atoms, fake_atom_term(3)), "Привет");
        atoms_free(atoms);
        free(target);
    }
}

/* No text for: a word that is not an atom, an index beyond the table, an empty slot, a slot with
 * another atom, unreadable text. */
static void test_word_without_a_readable_atom_has_no_text(void **state)
{
    struct fake_target *target = fake_target_new();
    struct vm vm = vm_with_atoms(target, 27, 6);
    struct atoms *atoms = atoms_new(&vm);
    uint64_t segments, segment, atom;

    (void)state;
    memory_read_u64(&target->memory, vm.roots.atom_table + 120, &segments);
    memory_read_u64(&target->memory, segments, &segment);
    assert_null(atom_text(atoms, fake_small(1)));
    assert_null(atom_text(atoms, fake_atom_term(4)));
    assert_null(atom_text(atoms, fake_atom_term(6)));
    assert_null(atom_text(atoms, UINT64_MAX << 6 | 0xb));
    memory_read_u64(&target->memory, segment + 8, &atom);
    fake_put_u64(target, segment + 5 * 8, atom);
    assert_null(atom_text(atoms, fake_atom_term(5)));
    fake_put_u64(target, atom + 32, 0xdead);
    assert_null(atom_text(atoms, fake_atom_term(1)));
    atoms_free(atoms);
    free(target);
}

/* A text that was read once needs no target any more, and stays at its address. */
static void test_text_that_was_read_stays_after_the_target_has_ended(void **state)
{
    struct fake_target *target = fake_target_new();
    struct vm vm = vm_with_atoms(target, 27, 4);
    struct atoms *atoms = atoms_new(&vm);
    const char *text = atom_text(atoms, fake_atom_term(2));

    (void)state;
    target->gone = true;
    assert_ptr_equal(atom_text(atoms, fake_atom_term(2)), text);
    assert_null(atom_text(atoms, fake_atom_term(0)));
    atoms_free(atoms);
    free(target);
}

static void test_mfa_is_written_in_erlang_or_elixir_syntax(void **state)
{
    static const struct {
        const char *module, *function, *text;
    } expected[] = {
        {"lists", "map", "lists:map/2"},
        {"Elixir.Enum", "map", "Enum.map/2"},
        {"Elixir.My.App", "ok?", "My.App.ok?/2"},
        {"Elixir", "f", "'Elixir':f/2"},
        {"elixir", "f", "elixir:f/2"},
        {"erlang", "+", "erlang:'+'/2"},
        {"m", "-f/1-fun-0-", "m:'-f/1-fun-0-'/2"},
        {"m", "end", "m:'end'/2"},
        {"m", "it's", "m:'it\\'s'/2"},
        {"m", "a\nb", "m:'a\\nb'/2"},
        {"m", "åb@1", "m:åb@1/2"},
        {"m", "я", "m:'я'/2"},
        {"m", "", "m:''/2"},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        atom_mfa_format(expected[i].module, expected[i].function, 2, text, sizeof(text));
        assert_string_equal(text, expected[i].text);
    }
}

/* Names of Elixir are shown as Elixir writes them. */
static void test_names_of_elixir_have_no_prefix(void **state)
{
    (void)state;
    assert_string_equal(atom_shown("Elixir.Shop.Stock"), "Shop.Stock");
    assert_string_equal(atom_shown("Elixir.shop"), "Elixir.shop");
    assert_string_equal(atom_shown("Elixir"), "Elixir");
    assert_string_equal(atom_shown("rabbit"), "rabbit");
}

static void test_long_mfa_is_cut_between_characters(void **state)
{
    char text[6];

    (void)state;
    atom_mfa_format("m", "ååå", 2, text, sizeof(text));
    assert_string_equal(text, "m:å");
    atom_mfa_format("m", "abc", 2, text, 1);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atom_text_is_found_by_index_in_each_release),
        cmocka_unit_test(test_word_without_a_readable_atom_has_no_text),
        cmocka_unit_test(test_text_that_was_read_stays_after_the_target_has_ended),
        cmocka_unit_test(test_mfa_is_written_in_erlang_or_elixir_syntax),
        cmocka_unit_test(test_names_of_elixir_have_no_prefix),
        cmocka_unit_test(test_long_mfa_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
