// SPDX-License-Identifier: Apache-2.0
/* A VM whose code is made by hand. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "beam/code.h"
#include "fake_code.h"

enum { CODE_SIZE = 0x200, OTHERS = 6 };

/* A VM with the emulator's entry, fragments, some modules that stay as they are, and "m" last. */
struct node {
    struct fake_target *target;
    struct vm vm;
    struct code *code;
    uint64_t base, entry, symfile; /* of the module "m" */
    uint64_t global;
};

static inline struct buffer module_file(const char *name, uint64_t base, const char *function,
                                        uint32_t line)
{
    const struct fake_range ranges[] = {
        {0, 0x40, "m::codeHeader"},
        {0x40, 0x100, function, {{0x40, line, "m.erl"}, {0x80, line + 1, "m.erl"}}},
        {0x100, CODE_SIZE, "m:other/0"},
    };

    return fake_symfile(name, base, CODE_SIZE, ranges, 3);
}

static inline uint64_t load(struct node *node, const char *name, const char *function)
{
    uint64_t base = fake_room(node->target, CODE_SIZE);

    fake_load(node->target, &node->vm, module_file(name, base, function, 10));
    return base;
}

static inline void open_node(struct node *node)
{
    const struct fake_range fragments[] = {{0, 0x80, "global::call_bif_shared"},
                                           {0x80, 0x100, "global::garbage_collect"}};
    struct error error;
    struct buffer file;

    memset(node, 0, sizeof(*node));
    node->target = fake_target_new();
    fake_vm(&node->vm, node->target, 27);
    node->global = fake_room(node->target, 0x100);
    fake_load(node->target, &node->vm, fake_emulator(node->global + 0x90, false));
    fake_load(node->target, &node->vm, fake_symfile("global", node->global, 0x100, fragments, 2));
    for (int i = 0; i < OTHERS; i++)
        load(node, "other", "other:f/0");
    node->base = fake_room(node->target, CODE_SIZE);
    file = module_file("m", node->base, "m:first/1", 10);
    node->entry = fake_room(node->target, 32);
    node->symfile = fake_room(node->target, file.size);
    fake_link(node->target, &node->vm, node->entry, node->symfile, &file);
    node->code = code_new(&node->vm, &error);
    assert_non_null(node->code);
}

static inline void close_node(struct node *node)
{
    code_free(node->code);
    free(node->target);
}

static inline void refresh(struct node *node)
{
    struct error error;

    assert_int_equal(code_refresh(node->code, &error), 0);
}

static inline const char *symbol_at(struct node *node, uint64_t address)
{
    struct code_place place;

    return code_find(node->code, address, &place) ? place.symbol : "";
}
