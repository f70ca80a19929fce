// SPDX-License-Identifier: Apache-2.0
/* Code that is loaded, replaced and purged, and what is known of it then. */
#include "code_node.h"
#include "util/clock.h"

static const uint64_t SECOND = 1000000000;

/* A refresh without changes keeps the epoch; one with changes increases it. */
static void test_epoch_grows_only_with_changes(void **state)
{
    struct node node;
    uint64_t epoch, generation, base;

    (void)state;
    open_node(&node);
    epoch = code_epoch(node.code);
    generation = code_generation(node.code);
    assert_int_equal(generation, node.entry);
    refresh(&node);
    assert_int_equal(code_epoch(node.code), epoch);
    base = load(&node, "new", "new:f/0");
    assert_string_equal(symbol_at(&node, base + 0x50), "");
    refresh(&node);
    assert_string_equal(symbol_at(&node, base + 0x50), "new:f/0");
    assert_true(code_epoch(node.code) > epoch);
    assert_int_not_equal(code_generation(node.code), generation);
    close_node(&node);
}

/* All code that was loaded between two refreshes is found, however much it is. */
static void test_all_code_loaded_between_two_refreshes_is_found(void **state)
{
    uint64_t bases[40];
    struct node node;
    char name[32];

    (void)state;
    open_node(&node);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "many:f%d/0", i);
        bases[i] = load(&node, "many", name);
    }
    refresh(&node);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "many:f%d/0", i);
        assert_string_equal(symbol_at(&node, bases[i] + 0x50), name);
    }
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

/* New code at the address of old code replaces it, even with another entry. */
static void test_new_code_replaces_old_code_at_its_address(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:second/1", 20));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:second/1");
    close_node(&node);
}

/* A freed entry is reused at the same address, as is its file, with other content. */
static void test_reused_entry_gives_its_new_content(void **state)
{
    struct node node;
    struct buffer file;

    (void)state;
    open_node(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    fake_unlink(node.target, &node.vm, node.entry);
    file = module_file("m", node.base, "m:secnd/1", 10); /* of the same length as the first */
    fake_link(node.target, &node.vm, node.entry, node.symfile, &file);
    assert_int_equal(fake_first(&node.vm), code_generation(node.code));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:secnd/1");
    close_node(&node);
}

/* Purged code still has names, because samples of it may come later. */
static void test_purged_code_keeps_its_names(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    fake_unlink(node.target, &node.vm, node.entry);
    fake_put(node.target, node.symfile, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

/* The file of a module that was not looked up yet is read when a newer version appears, before the
 * old version is purged. */
static void test_old_version_is_read_before_it_is_purged(void **state)
{
    struct node node;

    (void)state;
    open_node(&node);
    load(&node, "m", "m:second/1");
    refresh(&node);
    fake_unlink(node.target, &node.vm, node.entry);
    fake_put(node.target, node.symfile, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

/* If new modules cover old ones in part, the rest belongs to the newest old module. */
static void test_rest_of_replaced_code_belongs_to_the_newest_old_module(void **state)
{
    const struct fake_range small = {0, 0x80, "tiny:f/0"};
    struct node node;

    (void)state;
    open_node(&node);
    symbol_at(&node, node.base + 0x50);
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:second/1", 20));
    refresh(&node);
    fake_load(node.target, &node.vm, fake_symfile("tiny", node.base, 0x80, &small, 1));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "tiny:f/0");
    assert_string_equal(symbol_at(&node, node.base + 0x90), "m:second/1");
    close_node(&node);
}

/* Replaced modules are forgotten 10 s after that, and the others are not. */
static void test_replaced_modules_are_forgotten_after_10_s(void **state)
{
    const struct fake_range small = {0, 0x80, "tiny:f/0"};
    uint64_t now = clock_ns(CLOCK_MONOTONIC), epoch;
    struct node node;

    (void)state;
    open_node(&node);
    fake_load(node.target, &node.vm, fake_symfile("tiny", node.base, 0x80, &small, 1));
    refresh(&node);
    epoch = code_epoch(node.code);
    assert_int_equal(code_refresh_forget(node.code, now + 9 * SECOND), 0);
    assert_string_equal(symbol_at(&node, node.base + 0x90), "m:first/1");
    assert_int_equal(code_epoch(node.code), epoch);
    assert_int_equal(code_refresh_forget(node.code, now + 15 * SECOND), 1);
    assert_string_equal(symbol_at(&node, node.base + 0x90), "");
    assert_string_equal(symbol_at(&node, node.base + 0x50), "tiny:f/0");
    assert_true(code_epoch(node.code) > epoch);
    assert_int_equal(code_refresh_forget(node.code, now + 15 * SECOND), 0);
    fake_unlink(node.target, &node.vm, fake_first(&node.vm));
    refresh(&node);
    fake_load(node.target, &node.vm, module_file("m", node.base, "m:again/1", 20));
    refresh(&node);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:again/1");
    close_node(&node);
}

/* When the target has ended, refreshing fails, and known code is kept. */
static void test_code_is_kept_when_the_target_has_ended(void **state)
{
    struct error error;
    struct node node;

    (void)state;
    open_node(&node);
    symbol_at(&node, node.base + 0x50);
    node.target->gone = true;
    assert_int_equal(code_refresh(node.code, &error), -1);
    assert_int_equal(error.code, ERROR_NO_PROCESS);
    assert_string_equal(symbol_at(&node, node.base + 0x50), "m:first/1");
    close_node(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epoch_grows_only_with_changes),
        cmocka_unit_test(test_all_code_loaded_between_two_refreshes_is_found),
        cmocka_unit_test(test_new_code_replaces_old_code_at_its_address),
        cmocka_unit_test(test_reused_entry_gives_its_new_content),
        cmocka_unit_test(test_purged_code_keeps_its_names),
        cmocka_unit_test(test_old_version_is_read_before_it_is_purged),
        cmocka_unit_test(test_rest_of_replaced_code_belongs_to_the_newest_old_module),
        cmocka_unit_test(test_code_is_kept_when_the_target_has_ended),
        cmocka_unit_test(test_replaced_modules_are_forgotten_after_10_s),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
