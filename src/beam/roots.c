// SPDX-License-Identifier: Apache-2.0
#include "beam/roots.h"

#include <stddef.h>
#include <stdlib.h>

#include "native/native_symbols.h"
#include "util/alloc.h"
#include "util/log.h"

enum { WRITABLE_MAX = 64 << 20 };

static const struct root_kind {
    const char *symbol; /* NULL: a static variable in all releases */
    const char *what;
    size_t root; /* in struct vm_roots */
    unsigned int alignment;
    bool required;
    root_test test;
} kinds[] = {
    {"erts_proc", "the process table (erts_proc)", offsetof(struct vm_roots, proc_table), 64, true,
     root_test_process_table},
    {"erts_port", "the port table (erts_port)", offsetof(struct vm_roots, port_table), 64, false,
     root_test_port_table},
    {"erts_atom_table", "the atom table (erts_atom_table)", offsetof(struct vm_roots, atom_table),
     8, true, root_test_atom_table},
    {"erts_aligned_scheduler_data", "the schedulers (erts_aligned_scheduler_data)",
     offsetof(struct vm_roots, schedulers[0]), 8, true, root_test_schedulers},
    {"erts_aligned_dirty_cpu_scheduler_data",
     "the dirty CPU schedulers (erts_aligned_dirty_cpu_scheduler_data)",
     offsetof(struct vm_roots, schedulers[1]), 8, true, root_test_dirty_cpu_schedulers},
    {"erts_aligned_dirty_io_scheduler_data",
     "the dirty IO schedulers (erts_aligned_dirty_io_scheduler_data)",
     offsetof(struct vm_roots, schedulers[2]), 8, true, root_test_dirty_io_schedulers},
    {"__jit_debug_descriptor", "the JIT's list of code (__jit_debug_descriptor)",
     offsetof(struct vm_roots, jit_descriptor), 8, false, root_test_jit_descriptor},
    {NULL, "the code ranges (beam_ranges.c)", offsetof(struct vm_roots, code_ranges), 8, false,
     root_test_code_ranges},
    {"erts_this_node", "this node (erts_this_node)", offsetof(struct vm_roots, this_node), 8, false,
     root_test_this_node},
    {"erts_allctrs_info", "the allocators (erts_allctrs_info)",
     offsetof(struct vm_roots, allocators), 8, false, root_test_allocators},
};

/* The span of all writable segments, which are neighbours and come last, and the start of the first
 * segment of all. */
static bool writable_span(const struct elf_file *file, uint64_t *first, uint64_t *start,
                          uint64_t *end)
{
    *first = *start = UINT64_MAX;
    *end = 0;
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];

        if (segment->address < *first)
            *first = segment->address;
        if (!segment->writable)
            continue;
        if (segment->address < *start)
            *start = segment->address;
        if (segment->address + segment->memory_bytes > *end)
            *end = segment->address + segment->memory_bytes;
    }
    *start = (*start + 63) & ~(uint64_t)63;
    return *start < *end && *end - *start <= WRITABLE_MAX;
}

int roots_search_read(struct roots_search *search, struct elf_file *executable, struct error *error)
{
    uint64_t first, start, end;
    uint8_t *bytes;

    if (!writable_span(executable, &first, &start, &end))
        return error_set(error, ERROR_UNSUPPORTED, "%s has no writable data", executable->path);
    bytes = xmalloc(end - start);
    if (!memory_read(search->memory, executable->bias + start, bytes, end - start)) {
        free(bytes);
        return error_set(error, ERROR_FAILED, "the data of %s can't be read from the process",
                         executable->path);
    }
    search->bytes = bytes;
    search->size = end - start;
    search->start = executable->bias + start;
    search->executable_start = executable->bias + first;
    return 0;
}

/* Return the number of different candidates in the data that pass the test; *root is the last of
 * them. */
static unsigned int search_all(const struct roots_search *search, const struct root_kind *kind,
                               uint64_t *root)
{
    unsigned int found = 0;
    uint64_t candidate;

    for (size_t at = 0; at + kind->alignment <= search->size; at += kind->alignment) {
        if (!kind->test(search, search->start + at, &candidate) || (found && candidate == *root))
            continue;
        *root = candidate;
        found++;
    }
    return found;
}

static int find_root(const struct roots_search *search, struct elf_file *executable,
                     const struct root_kind *kind, uint64_t *root, struct error *error)
{
    uint64_t address =
        executable && kind->symbol ? native_symbol_address(executable, kind->symbol) : 0;
    uint64_t found = 0;
    unsigned int count;

    if (address && kind->test(search, address, &found)) {
        log_decision("roots", "%s: by its symbol, 0x%llx", kind->what, (unsigned long long)found);
        *root = found;
        return 0;
    }
    count = search_all(search, kind, &found);
    *root = count == 1 ? found : 0;
    log_decision("roots", "%s: %s; candidates in %zu KB of data that pass its test: %u%s0x%llx",
                 kind->what, address ? "what its symbol shows fails the test" : "no symbol",
                 search->size >> 10, count, count == 1 ? ", " : "; it stays unknown, ",
                 (unsigned long long)*root);
    if (count == 1 || !kind->required)
        return 0;
    return error_set(
        error, ERROR_UNSUPPORTED,
        "%s has no symbol, and %u candidates in the writable data of beam.smp passed its checks",
        kind->what, count);
}

/* The value of an exported pointer, 0 if it is not exported. There is no search for it, because no
 * test distinguishes one code address from another. */
static uint64_t exported_value(const struct roots_search *search, struct elf_file *executable,
                               const char *symbol)
{
    uint64_t address = executable ? native_symbol_address(executable, symbol) : 0;
    uint64_t value;

    return address && memory_read_u64(search->memory, address, &value) ? value : 0;
}

int roots_find(struct roots_search *search, struct elf_file *executable, struct vm_roots *roots,
               struct error *error)
{
    struct vm_roots found = {0};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        uint64_t *root = (uint64_t *)((char *)&found + kinds[i].root);

        search->atom_table = found.atom_table;
        if (find_root(search, executable, &kinds[i], root, error) != 0)
            return -1;
    }
    if (!found.jit_descriptor && !found.code_ranges)
        return error_set(
            error, ERROR_UNSUPPORTED,
            "the writable data of beam.smp has neither the JIT's list of code nor the code ranges");
    found.normal_exit = exported_value(search, executable, "beam_normal_exit");
    *roots = found;
    return 0;
}
