// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "agent/dump_node.h"
#include "util/alloc.h"

static struct roster_vm *vms_of(const char *const *names, size_t count)
{
    struct roster_vm *vms = xcalloc(count, sizeof(*vms));

    for (size_t i = 0; i < count; i++) {
        snprintf(vms[i].node, sizeof(vms[i].node), "%s", names[i]);
        vms[i].pid = (pid_t)(100 + i);
    }
    return vms;
}

/* Return the pid that is found, or minus the error's code. */
static int found(const struct roster_vm *vms, size_t count, const char *who, struct error *error)
{
    const struct roster_vm *vm = dump_node_find(vms, count, who, error);

    return vm ? (int)vm->pid : -(int)error->code;
}

static void test_node_is_named_with_and_without_host_and_by_pid(void **state)
{
    static const char *const names[] = {"shop@web-1", "shop2@web-1", ""};
    struct roster_vm *vms = vms_of(names, 3);
    struct error error;

    (void)state;
    assert_int_equal(found(vms, 3, "shop@web-1", &error), 100);
    assert_int_equal(found(vms, 3, "shop", &error), 100);
    assert_int_equal(found(vms, 3, "shop2", &error), 101);
    assert_int_equal(found(vms, 3, "102", &error), 102);
    assert_int_equal(found(vms, 3, "sho", &error), -ERROR_NO_PROCESS);
    assert_string_equal(error.text, "no node is 'sho', the nodes are: shop@web-1 (100), "
                                    "shop2@web-1 (101), no name (102)");
    free(vms);
}

/* The name of a VM can't hide another one. */
static void test_pid_counts_before_a_name_that_looks_like_it(void **state)
{
    static const char *const names[] = {"101@web-1", "shop@web-1"};
    struct roster_vm *vms = vms_of(names, 2);
    struct error error;

    (void)state;
    assert_int_equal(found(vms, 2, "101", &error), 101);
    assert_int_equal(found(vms, 1, "101", &error), 100);
    free(vms);
}

static void test_several_nodes_are_listed_and_none_is_chosen(void **state)
{
    static const char *const names[] = {"shop@web-1", "shop@web-2", "till@web-1"};
    struct roster_vm *vms = vms_of(names, 3);
    struct error error;

    (void)state;
    assert_int_equal(found(vms, 3, "shop", &error), -ERROR_USAGE);
    assert_string_equal(error.text,
                        "name one of 2 VMs, by its pid: shop@web-1 (100), shop@web-2 (101)");
    assert_int_equal(found(vms, 3, "", &error), -ERROR_USAGE);
    assert_int_equal(found(vms, 1, "", &error), 100);
    assert_int_equal(found(vms, 0, "", &error), -ERROR_NO_PROCESS);
    free(vms);
}

/* 1,024 names are more than an error has room for. */
static void test_long_lists_are_cut(void **state)
{
    const char *names[ROSTER_MAX];
    struct roster_vm *vms;
    struct error error;

    (void)state;
    for (size_t i = 0; i < ROSTER_MAX; i++)
        names[i] = "a-node-with-a-long-name@and-a-long-host";
    vms = vms_of(names, ROSTER_MAX);
    assert_int_equal(found(vms, ROSTER_MAX, "", &error), -ERROR_USAGE);
    assert_int_equal(strncmp(error.text, "name one of 1024 VMs", 20), 0);
    free(vms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_is_named_with_and_without_host_and_by_pid),
        cmocka_unit_test(test_pid_counts_before_a_name_that_looks_like_it),
        cmocka_unit_test(test_several_nodes_are_listed_and_none_is_chosen),
        cmocka_unit_test(test_long_lists_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
