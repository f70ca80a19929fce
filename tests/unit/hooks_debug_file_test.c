// SPDX-License-Identifier: Apache-2.0
/*
 * Hooks of a stripped VM whose symbols are in a debug file. The program makes a stripped copy of
 * itself, which is the VM of the tests, and runs it:
 *
 *      FOLDER/prog        the copy
 *      FOLDER/full.debug  the symbols that were split off it; none is the name of a hook
 *      FOLDER/debug       the debug file that a test makes of them
 */
#include "hooks_vm.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "native/debug_file.h"
#include "native/elf_file.h"
#include "native/native_symbols.h"
#include "shell.h"

static const char *folder;

/* Make the debug file with these options of objcopy. */
static void make_debug_file(const char *options)
{
    shell("cd %s && objcopy %s full.debug debug", folder, options);
}

static void assert_found(enum hook hook, const uint8_t *function, enum hook_method way)
{
    struct hook_point point = {0};
    struct error error = {.text = ""};
    int result = hooks_find(bench.hooks, hook, &point, &error);

    assert_string_equal(error.text, "");
    assert_int_equal(result, 0);
    assert_int_equal(point.address, at(function));
    assert_int_equal(point.way, way);
}

static void test_hook_that_both_find_is_found_by_the_debug_file(void **state)
{
    (void)state;
    make_debug_file("--redefine-sym vm_schedule=erts_schedule");
    assert_found(HOOK_SCHEDULE_OUT, vm_schedule, HOOK_BY_DEBUG_FILE);
    assert_found(HOOK_SCHEDULE_IN, vm_copy_in, HOOK_BY_CALLER);
}

/* Neither place is used if they differ. */
static void test_hook_that_both_find_elsewhere_is_refused(void **state)
{
    struct hook_point point;
    struct error error;
    char expected[256];

    (void)state;
    make_debug_file("--redefine-sym other=erts_schedule");
    snprintf(expected, sizeof(expected),
             "erts_schedule is at 0x%llx by the debug file, and at 0x%llx by the code of the VM: ",
             (unsigned long long)at(other), (unsigned long long)at(vm_schedule));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(hooks_find(bench.hooks, HOOK_SCHEDULE_OUT, &point, &error), -1);
        assert_int_equal(error.code, ERROR_UNSUPPORTED);
        assert_memory_equal(error.text, expected, strlen(expected));
    }
}

/* enif_send is not exported, so nothing leads to the functions below it. */
static void test_hook_that_only_the_debug_file_finds_is_found(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    make_debug_file("");
    assert_int_equal(hooks_find(bench.hooks, HOOK_SEND, &point, &error), -1);
    stop(NULL);
    start(NULL);
    make_debug_file("--redefine-sym vm_queue_proc_message=erts_queue_proc_message");
    assert_found(HOOK_SEND, vm_queue_proc_message, HOOK_BY_DEBUG_FILE);
}

/* The debug file has the name in the middle of a function: the search without symbols decides. */
static void test_place_where_no_function_starts_is_not_used(void **state)
{
    struct hook_point point;
    struct error error;
    char options[64];

    (void)state;
    snprintf(options, sizeof(options), "--add-symbol erts_schedule=0x%llx,function,global",
             (unsigned long long)(at(vm_schedule) + 1 - bench.hooks->executable->bias));
    make_debug_file(options);
    assert_int_equal(native_symbol_debug_address(bench.hooks->executable, "erts_schedule"),
                     at(vm_schedule) + 1);
    assert_found(HOOK_SCHEDULE_OUT, vm_schedule, HOOK_BY_CALLER);
    assert_int_equal(hooks_symbol(bench.hooks, "bench", &point, &error), -1); /* data, not code */
}

static void test_any_function_of_the_debug_file_is_found_by_its_name(void **state)
{
    struct hook_point point;
    struct error error;

    (void)state;
    make_debug_file("");
    assert_int_equal(hooks_symbol(bench.hooks, "vm_size_object", &point, &error), 0);
    assert_int_equal(point.address, at(vm_size_object));
    assert_int_equal(point.way, HOOK_BY_DEBUG_FILE);
    assert_int_equal(hooks_symbol(bench.hooks, "no_such_function", &point, &error), -1);
}

static int test_the_copy(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hook_that_both_find_is_found_by_the_debug_file, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_hook_that_both_find_elsewhere_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(test_hook_that_only_the_debug_file_finds_is_found, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_place_where_no_function_starts_is_not_used, start,
                                        stop),
        cmocka_unit_test_setup_teardown(test_any_function_of_the_debug_file_is_found_by_its_name,
                                        start, stop),
    };
    char place[64];
    struct error error;

    snprintf(place, sizeof(place), "%s/debug", folder);
    make_debug_file("");
    if (debug_file_add_place(place, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    char made[] = "/tmp/beamflame-test-XXXXXX", command[512];
    int status;

    if (argc > 1) {
        folder = argv[1];
        return test_the_copy();
    }
    if (!mkdtemp(made))
        return 1;
    snprintf(command, sizeof(command),
             "cd %s && cp /proc/%d/exe full && objcopy --only-keep-debug full full.debug && "
             "objcopy --strip-all full prog && ./prog %s",
             made, (int)getpid(), made);
    status = system(command);
    snprintf(command, sizeof(command), "rm -r %s", made);
    return system(command) || !WIFEXITED(status) || WEXITSTATUS(status);
}
