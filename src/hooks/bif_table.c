// SPDX-License-Identifier: Apache-2.0
#include "hooks/hook_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beam/term.h"
#include "native/native_symbols.h"
#include "util/alloc.h"
#include "vm_constants.h"

enum {
    ATOMS_MAX = 1 << 16 /* the VM's own atoms come first: 1,500 in 25 */,
    ROWS_MIN = 100, /* 25 has 484 */
    ROWS_MAX = 10000,
    ALIGNMENT = 8,
};

static bool is_code(const struct roots_search *search, uint64_t address)
{
    return address >= search->executable_start && address < search->start;
}

static bool is_name(uint64_t term)
{
    return term_is_atom(term) && term_atom_index(term) < ATOMS_MAX;
}

static bool is_row(const struct roots_search *search, size_t at)
{
    struct bif row;

    if (at + sizeof(row) > search->size)
        return false;
    memcpy(&row, search->bytes + at, sizeof(row));
    return is_name(row.module) && is_name(row.function) && row.arity <= MAX_BIF_ARITY &&
           row.padding == 0 && is_code(search, row.called) && is_code(search, row.implementation) &&
           row.kind < BIF_KINDS && row.padding_2 == 0;
}

static size_t count_rows(const struct roots_search *search, size_t at)
{
    size_t count = 0;

    while (count < ROWS_MAX && is_row(search, at + count * sizeof(struct bif)))
        count++;
    return count;
}

const struct bif *bif_table_search(const struct roots_search *search, size_t *ret_count)
{
    const struct bif *found = NULL;

    for (size_t at = 0; at < search->size;) {
        size_t count = count_rows(search, at);

        if (count < ROWS_MIN) {
            at += ALIGNMENT;
            continue;
        }
        if (found)
            return NULL;
        found = (const struct bif *)(const void *)(search->bytes + at);
        *ret_count = count;
        at += count * sizeof(struct bif);
    }
    return found;
}

/* The rows at the address of the symbol; NULL if it lies outside of the data that was read. */
static const struct bif *rows_at(const struct roots_search *search, uint64_t address,
                                 size_t *ret_count)
{
    size_t at = address - search->start;

    if (address < search->start || at >= search->size || at % ALIGNMENT)
        return NULL;
    *ret_count = count_rows(search, at);
    return *ret_count >= ROWS_MIN ? (const struct bif *)(const void *)(search->bytes + at) : NULL;
}

int bif_table_read(struct vm *vm, struct elf_file *executable, struct bif_table *table,
                   struct error *error)
{
    struct roots_search search = {.memory = vm->memory, .layout = &vm->layout};
    const struct bif *rows;
    size_t count = 0;

    if (roots_search_read(&search, executable, error) != 0)
        return -1;
    rows = rows_at(&search, native_symbol_address(executable, "bif_table"), &count);
    if (!rows)
        rows = bif_table_search(&search, &count);
    if (rows) {
        table->rows = xcalloc(count, sizeof(*rows));
        memcpy(table->rows, rows, count * sizeof(*rows));
        table->count = count;
    }
    free(search.bytes);
    if (rows)
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "the VM's table of BIFs (bif_table) has no symbol, and no single run of %d or "
                     "more of its rows is in the writable data of beam.smp",
                     ROWS_MIN);
}

/* BIFs besides guards that jit/x86/ops.tab transforms (call_ext with u$func, bif1 with u$bif). */
bool bif_table_is_instruction(const char *module, const char *function, uint32_t arity)
{
    static const struct {
        const char *module, *function;
        uint32_t arity;
    } instructions[] = {
        {"erlang", "!", 2},     {"erlang", "apply", 3},     {"erlang", "call_on_load_function", 1},
        {"erlang", "get", 1},   {"erlang", "hibernate", 3}, {"erlang", "load_nif", 2},
        {"erlang", "yield", 0}, {"os", "perf_counter", 0},
    };

    for (size_t i = 0; i < sizeof(instructions) / sizeof(*instructions); i++)
        if (arity == instructions[i].arity && !strcmp(function, instructions[i].function) &&
            !strcmp(module, instructions[i].module))
            return true;
    return false;
}

void bif_table_free(struct bif_table *table)
{
    free(table->rows);
    *table = (struct bif_table){0};
}
