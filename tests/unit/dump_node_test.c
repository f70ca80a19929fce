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

static struct node_board *board_of(const char *const *names, size_t count)
{
    struct node_board *board = xcalloc(1, sizeof(*board));

    for (size_t i = 0; i < count; i++) {
        snprintf(board->of[i].labels[BOARD_LABEL_NODE], BOARD_TEXT, "%s", names[i]);
        board->of[i].pid = (pid_t)(100 + i);
    }
    board->count = count;
    return board;
}

/* Return the pid that is found, or minus the error's code. */
static int found(const struct node_board *board, const char *who, struct error *error)
{
    struct dump_node node;

    return dump_node_find(board, who, &node, error) ? -(int)error->code : (int)node.pid;
}

static void test_node_is_named_with_and_without_host_and_by_pid(void **state)
{
    static const char *const names[] = {"shop@web-1", "shop2@web-1", ""};
    struct node_board *board = board_of(names, 3);
    struct error error;

    (void)state;
    assert_int_equal(found(board, "shop@web-1", &error), 100);
    assert_int_equal(found(board, "shop", &error), 100);
    assert_int_equal(found(board, "shop2", &error), 101);
    assert_int_equal(found(board, "102", &error), 102);
    assert_int_equal(found(board, "sho", &error), -ERROR_NO_PROCESS);
    assert_string_equal(error.text, "no node is 'sho', the nodes are: shop@web-1 (100), "
                                    "shop2@web-1 (101), no name (102)");
    free(board);
}

static void test_several_nodes_are_listed_and_none_is_chosen(void **state)
{
    static const char *const names[] = {"shop@web-1", "shop@web-2", "till@web-1"};
    struct node_board *board = board_of(names, 3);
    struct error error;

    (void)state;
    assert_int_equal(found(board, "shop", &error), -ERROR_USAGE);
    assert_string_equal(error.text,
                        "name one of 2 VMs, by its pid: shop@web-1 (100), shop@web-2 (101)");
    assert_int_equal(found(board, "", &error), -ERROR_USAGE);
    board->count = 1;
    assert_int_equal(found(board, "", &error), 100);
    board->count = 0;
    assert_int_equal(found(board, "", &error), -ERROR_NO_PROCESS);
    free(board);
}

/* 1,024 names are more than an error has room for. */
static void test_long_lists_are_cut(void **state)
{
    const char *names[BOARD_NODES_MAX];
    struct node_board *board;
    struct error error;

    (void)state;
    for (size_t i = 0; i < BOARD_NODES_MAX; i++)
        names[i] = "a-node-with-a-long-name@and-a-long-host";
    board = board_of(names, BOARD_NODES_MAX);
    assert_int_equal(found(board, "", &error), -ERROR_USAGE);
    assert_int_equal(strncmp(error.text, "name one of 1024 VMs", 20), 0);
    free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_is_named_with_and_without_host_and_by_pid),
        cmocka_unit_test(test_several_nodes_are_listed_and_none_is_chosen),
        cmocka_unit_test(test_long_lists_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
