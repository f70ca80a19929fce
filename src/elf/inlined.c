// SPDX-License-Identifier: Apache-2.0
#include "elf/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "elf/dwarf_names.h"
#include "elf/elf_limits.h"
#include "elf/requests.h"
#include "elf/symbols_internal.h"
#include "util/alloc.h"
#include "util/effort.h"

enum {
    DEPTH_MAX = 64,  /* functions that are inlined into each other */
    TEXT_MAX = 4096, /* bytes of a name, or of the path of a file */
    SCOPES_MAX = 256,
    /* Limits of the work for an address. A large unit of a VM has 20,000 entries. */
    DIES_MAX = 1 << 20,
    MS_MAX = 200,
};

struct inlined {
    Elf *elf;
    Dwarf *dwarf;
    struct elf_room *room; /* of which the debug information takes debug_bytes */
    size_t bytes, debug_bytes;
    struct dwarf_names names;
    Dwarf_Die unit; /* of the address before; addr: NULL: none */
};

/* Read the debug information. False if there is none, or too much. */
static bool read_all(struct inlined *inlined)
{
    uint64_t bytes = elf_limits_debug_bytes(inlined->elf);

    if (!bytes || !elf_limits_fit_debug(inlined->elf) || !elf_limits_take(inlined->room, bytes))
        return false;
    inlined->debug_bytes = bytes;
    inlined->dwarf = dwarf_begin_elf(inlined->elf, DWARF_C_READ, NULL);
    if (!inlined->dwarf)
        return false;
    inlined->names = dwarf_names_of(inlined->elf);
    elf_cntl(inlined->elf, ELF_C_FDDONE); /* all sections are in memory */
    return dwarf_names_end(&inlined->names);
}

struct inlined *inlined_new(int fd, struct elf_room *room)
{
    struct inlined *inlined = xcalloc(1, sizeof(*inlined));

    inlined->room = room;
    inlined->elf = elf_limits_open(fd, NULL, &inlined->bytes);
    if (inlined->elf && read_all(inlined))
        return inlined;
    inlined_free(inlined);
    return NULL;
}

void inlined_free(struct inlined *inlined)
{
    if (!inlined)
        return;
    dwarf_end(inlined->dwarf);
    elf_limits_close(inlined->elf, NULL, inlined->bytes);
    elf_limits_give(inlined->room, inlined->debug_bytes);
    free(inlined);
}

/* Find the unit that contains the address, by .debug_aranges, which not all compilers write, or by
 * the ranges of each unit. */
static bool find_unit(struct inlined *inlined, uint64_t address)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;

    if (inlined->unit.addr && dwarf_haspc(&inlined->unit, address) > 0)
        return true;
    if (dwarf_addrdie(inlined->dwarf, address, &inlined->unit))
        return true;
    while (dwarf_get_units(inlined->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        if (dwarf_haspc(&die, address) > 0) {
            inlined->unit = die;
            return true;
        }
    }
    inlined->unit.addr = NULL;
    return false;
}

/* ---- scopes ---- */

/* A function, the functions inlined into it, and the blocks between them. The innermost is last. */
struct scopes {
    Dwarf_Die list[SCOPES_MAX];
    int count;
    struct effort effort;
};

/* True for what has no addresses itself, but can contain functions: rustc defines functions in the
 * namespaces of their modules. dwarf_getscopes() does not look there. */
static bool may_contain_functions(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);

    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* Add the scopes below `parent` that contain the address. False if there are none. */
static bool find_scopes(struct scopes *scopes, Dwarf_Die *parent, uint64_t address, int depth)
{
    Dwarf_Die child;
    int next;

    if (depth == SCOPES_MAX)
        return false;
    for (next = dwarf_child(parent, &child); next == 0 && effort_step(&scopes->effort);
         next = dwarf_siblingof(&child, &child)) {
        if (dwarf_haspc(&child, address) > 0) {
            scopes->list[scopes->count++] = child;
            find_scopes(scopes, &child, address, depth + 1);
            return true;
        }
        if (may_contain_functions(&child) && find_scopes(scopes, &child, address, depth + 1))
            return true;
    }
    return false;
}

/* ---- names and places ---- */

/* Return the readable name of a function, to be freed; NULL if it has none. */
static char *name_of(const struct inlined *inlined, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *mangled = dwarf_names_check(
        &inlined->names,
        dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute)));
    char *readable = mangled ? demangle(mangled) : NULL;
    const char *name;

    if (readable)
        return readable;
    name = dwarf_names_check(&inlined->names, dwarf_diename(function));
    return name ? xstrndup(name, strnlen(name, TEXT_MAX)) : NULL;
}

/* A place in the source. */
struct source_line {
    const char *file; /* NULL: unknown */
    uint32_t line;
};

static struct source_line line_at(struct inlined *inlined, uint64_t address)
{
    Dwarf_Line *line = dwarf_getsrc_die(&inlined->unit, address);
    int number = 0;

    if (!line || dwarf_lineno(line, &number) || number < 0)
        return (struct source_line){NULL, 0};
    return (struct source_line){dwarf_linesrc(line, NULL, NULL), (uint32_t)number};
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;

    return dwarf_formudata(dwarf_attr(die, name, &attribute), &number) ? 0 : number;
}

/* The line that calls an inlined function. */
static struct source_line line_of_call(struct inlined *inlined, Dwarf_Die *function)
{
    uint64_t line = number_of(function, DW_AT_call_line);
    uint64_t file = number_of(function, DW_AT_call_file);
    Dwarf_Files *files;
    size_t count;

    if (line > UINT32_MAX || dwarf_getsrcfiles(&inlined->unit, &files, &count) || file >= count)
        return (struct source_line){NULL, 0};
    return (struct source_line){dwarf_filesrc(files, file, NULL, NULL), (uint32_t)line};
}

static uint64_t start_of(Dwarf_Die *function)
{
    Dwarf_Addr start;

    return dwarf_entrypc(function, &start) ? 0 : start;
}

/* ---- the answer ---- */

/* Append a function. False if it does not fit. */
static bool put(uint64_t start, const char *name, struct source_line at, size_t size,
                struct buffer *answer)
{
    struct elf_inlined put = {
        .start = start,
        .line = at.line,
        .name_bytes = (uint32_t)strnlen(name, TEXT_MAX),
        .file_bytes = at.file ? (uint32_t)strnlen(at.file, TEXT_MAX) : 0,
    };

    if (answer->size + sizeof(put) + put.name_bytes + put.file_bytes > size)
        return false;
    buffer_put(answer, &put, sizeof(put));
    buffer_put(answer, name, put.name_bytes);
    if (put.file_bytes)
        buffer_put(answer, at.file, put.file_bytes);
    return true;
}

void inlined_find(struct inlined *inlined, uint64_t address, size_t size, struct buffer *answer)
{
    struct scopes scopes = {.effort = effort_of(DIES_MAX, MS_MAX)};
    struct source_line at;
    int depth = 0;

    if (!find_unit(inlined, address))
        return;
    at = line_at(inlined, address);
    find_scopes(&scopes, &inlined->unit, address, 0);
    for (int i = scopes.count - 1; i >= 0 && depth < DEPTH_MAX; i--) {
        Dwarf_Die *scope = &scopes.list[i];
        char *name;
        bool fits;

        if (dwarf_tag(scope) != DW_TAG_inlined_subroutine)
            continue;
        name = name_of(inlined, scope);
        fits = put(start_of(scope), name && name[0] ? name : "?", at, size, answer);
        free(name);
        if (!fits)
            break;
        at = line_of_call(inlined, scope);
        depth++;
    }
    put(0, "", at, size, answer);
}
