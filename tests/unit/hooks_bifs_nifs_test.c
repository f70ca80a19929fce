// SPDX-License-Identifier: Apache-2.0
/* BIFs and NIFs as hooks: by the table of BIFs, and by the stub that calls a NIF. */
#include "hooks_vm.h"

static void test_bif_is_found_in_the_table_of_bifs(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 3, &point, &error), 0);
    assert_int_equal(point.address, at(vm_spawn_3));
    assert_int_equal(point.way, HOOK_BY_TABLE);
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "binary_to_list", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_dirty));
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 2, &point, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "erlang:spawn/2 is not among the 120 BIFs"));
    assert_int_equal(hooks_bif(bench.hooks, "false", "spawn", 3, &point, &error), -1);
}

/* Calls of guards and of hibernate/3 do not enter their C functions. */
static void test_bifs_that_are_instructions_are_refused(void **state)
{
    struct hook_point point;
    struct error error;
    bool is_bif = false;

    (void)state;
    bifs[11].kind = BIF_GUARD;
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "spawn", 1, &point, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "erlang:spawn/1 is a BIF that the compiler or the JIT"));
    assert_int_equal(hooks_bif(bench.hooks, "erlang", "hibernate", 3, &point, &error), -1);
    assert_int_equal(hooks_is_bif(bench.hooks, "erlang", "hibernate", 3, &is_bif, &error), 0);
    assert_true(is_bif);
}

/* Put the rows of a table at `at` into the data. The addresses of code are below those of the
 * data. */
static void search_rows(uint8_t *data, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(data + at + i * sizeof(struct bif), &bifs[i % ROWS], sizeof(struct bif));
}

static void test_bif_table_must_be_the_only_one(void **state)
{
    enum { SIZE = 1 << 16 };
    uint8_t *data = calloc(1, SIZE);
    struct roots_search search = {
        .bytes = data, .size = SIZE, .start = UINT64_MAX, .executable_start = 1};
    size_t count = 0;

    (void)state;
    assert_null(bif_table_search(&search, &count));
    search_rows(data, 0x1008, 99);
    assert_null(bif_table_search(&search, &count));
    search_rows(data, 0x1008, 110);
    assert_ptr_equal(bif_table_search(&search, &count), data + 0x1008);
    assert_int_equal(count, 110);
    search_rows(data, 0x8000, 100);
    assert_null(bif_table_search(&search, &count));
    memset(data, 0, SIZE); /* up to the last byte, and not beyond */
    search_rows(data, SIZE - 100 * sizeof(struct bif), 100);
    assert_non_null(bif_table_search(&search, &count));
    data[SIZE - 1] = 1; /* padding of the last row */
    assert_null(bif_table_search(&search, &count));
    free(data);
}

static int start_nifs(void **state)
{
    (void)state;
    begin();
    /* Functions begin right after their label. */
    LOAD("m", RANGE("m:old/0", jit_nif));
    LOAD("m", RANGE("m:bad/0", jit_bad_nif));
    open_hooks();
    return 0;
}

/* Load a module whose function is a stub; its label is 8 bytes before it. */
static void load_stub(const char *module, const char *symbol, const uint8_t *stub,
                      const uint8_t *end)
{
    uint64_t base = fake_room(bench.target, 512);
    uint32_t size = (uint32_t)(end - stub);
    const struct fake_range ranges[] = {{64, 72, symbol}, {72, 64 + size, symbol}};
    struct error error;

    fake_put(bench.target, base + 64, stub, size);
    fake_load(bench.target, &bench.vm, fake_symfile(module, base, 512, ranges, 2));
    assert_int_equal(code_refresh(bench.code, &error), 0);
}

static void test_nif_is_found_by_its_stub(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    load_stub("n", "n:f/1", jit_nif, jit_nif_end);
    load_stub("n2", "n2:f/1", jit_dirty_nif, jit_dirty_nif_end);
    load_stub("n3", "n3:f/1", jit_bad_nif, jit_bad_nif_end);
    load_stub("n4", "n4:f/1", jit_no_stub, jit_no_stub_end);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_normal));
    assert_int_equal(point.way, HOOK_BY_STUB);
    assert_int_equal(hooks_nif(bench.hooks, "n2", "f", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_dirty));
    assert_int_equal(hooks_nif(bench.hooks, "n3", "f", 1, &point, &error), -1);
    assert_non_null(strstr(error.text, "n3:f/1 is not a NIF"));
    assert_int_equal(hooks_nif(bench.hooks, "n4", "f", 1, &point, &error), -1);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 2, &point, &error), -1);
    assert_non_null(strstr(error.text, "n:f/2 is not loaded"));
    assert_int_equal(hooks_nif(bench.hooks, "m", "bad", 0, &point, &error), -1);
}

/* A module that was reloaded without its library no longer has a NIF. */
static void test_nif_of_the_newest_module_version_counts(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    load_stub("n", "n:f/1", jit_nif, jit_nif_end);
    load_stub("n", "n:f/1", jit_receive, jit_receive_end);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 1, &point, &error), -1);
    assert_non_null(strstr(error.text, "n:f/1 is not a NIF"));
    load_stub("n", "n:f/1", jit_dirty_nif, jit_dirty_nif_end);
    assert_int_equal(hooks_nif(bench.hooks, "n", "f", 1, &point, &error), 0);
    assert_int_equal(point.address, at(nif_dirty));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bif_is_found_in_the_table_of_bifs, start, stop),
        cmocka_unit_test_setup_teardown(test_bifs_that_are_instructions_are_refused, start, stop),
        cmocka_unit_test(test_bif_table_must_be_the_only_one),
        cmocka_unit_test_setup_teardown(test_nif_is_found_by_its_stub, start_nifs, stop),
        cmocka_unit_test_setup_teardown(test_nif_of_the_newest_module_version_counts, start_nifs,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
