// SPDX-License-Identifier: Apache-2.0
/*
 * hook_list [--symbols PLACE] PID [WHAT...]: print the hooks of a VM (hooks/hooks.h), one a line:
 *
 *     name way address      address in the target, hexadecimal
 *     name refused reason
 *
 * WHAT is bif:MODULE:FUNCTION/ARITY, nif:MODULE:FUNCTION/ARITY or a symbol; without WHAT, all hooks
 * are printed. WHAT "counters" prints what the VM has counted, as "name count amount". After each
 * hook that is found by symbol, its own or that of a debug file in PLACE, comes a line "name
 * unexported address", with the addresses that are found without that symbol: the end-to-end tests
 * compare them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hook_internal.h"
#include "native/debug_file.h"

static void print(const char *name, int result, const struct hook_point *point,
                  const struct error *error)
{
    if (result == 0)
        printf("%s %s %" PRIx64 "\n", name, hook_method_name(point->way), point->address);
    else
        printf("%s refused %s\n", name, error->text);
}

static void print_unexported(struct hooks *hooks, enum hook hook)
{
    struct function_set found = {.count = 0};

    hook_functions[hook].find(hooks, &found);
    printf("%s unexported", hook_function(hook));
    for (size_t i = 0; i < found.count; i++)
        printf(" %" PRIx64, found.functions[i]);
    printf("\n");
}

static void list_all(struct hooks *hooks)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        struct hook_point point;
        struct error error;
        int result = hooks_find(hooks, (enum hook)hook, &point, &error);

        print(hook_function((enum hook)hook), result, &point, &error);
        if (result == 0 && (point.way == HOOK_BY_SYMBOL || point.way == HOOK_BY_DEBUG_FILE))
            print_unexported(hooks, (enum hook)hook);
    }
}

static void print_counters(struct hooks *hooks)
{
    static const char *const names[] = {[VM_REDUCTIONS] = "reductions",
                                        [VM_EXECUTED] = "executed",
                                        [VM_SWITCHES] = "switches",
                                        [VM_COLLECTIONS] = "collections"};

    struct vm_work works[VM_COUNTERS];
    unsigned int known;

    dirty_collections_find_counters(hooks);
    known = vm_works(hooks->vm, (1u << VM_COUNTERS) - 1, works);
    for (int i = 0; i < VM_COUNTERS; i++)
        if (known >> i & 1)
            printf("%s %" PRIu64 " %" PRIu64 "\n", names[i], works[i].count, works[i].amount);
}

static void find_one(struct hooks *hooks, const char *what)
{
    char module[256], function[256];
    struct hook_point point;
    struct error error;
    unsigned int arity;
    int result;

    if (!strcmp(what, "counters")) {
        print_counters(hooks);
        return;
    }
    if (sscanf(what, "bif:%255[^:]:%255[^/]/%u", module, function, &arity) == 3)
        result = hooks_bif(hooks, module, function, arity, &point, &error);
    else if (sscanf(what, "nif:%255[^:]:%255[^/]/%u", module, function, &arity) == 3)
        result = hooks_nif(hooks, module, function, arity, &point, &error);
    else
        result = hooks_symbol(hooks, what, &point, &error);
    print(what, result, &point, &error);
}

int main(int argc, char **argv)
{
    struct vm *vm = NULL;
    struct code *code = NULL;
    struct hooks *hooks = NULL;
    struct error error;

    if (argc > 2 && !strcmp(argv[1], "--symbols")) {
        if (debug_file_add_place(argv[2], &error)) {
            fprintf(stderr, "hook_list: %s\n", error.text);
            return 1;
        }
        argc -= 2;
        argv += 2;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: hook_list [--symbols PLACE] PID [WHAT...]\n");
        return 2;
    }
    if ((vm = vm_open(atoi(argv[1]), 0, &error)) && (code = code_new(vm, &error)) &&
        (hooks = hooks_new(vm, code, &error))) {
        for (int i = 2; i < argc; i++)
            find_one(hooks, argv[i]);
        if (argc == 2)
            list_all(hooks);
    } else {
        fprintf(stderr, "hook_list: %s\n", error.text);
    }
    hooks_free(hooks);
    code_free(code);
    vm_close(vm);
    return hooks ? 0 : 1;
}
