// SPDX-License-Identifier: Apache-2.0
#include "elf/likenesses.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "elf/function_table.h"
#include "elf/symbols_internal.h"
#include "util/alloc.h"
#include "util/effort.h"
#include "util/files.h"

enum {
    LINKS_LEAST = 3,
    STRING_LEAST = 4, /* characters: fewer may be other data */
    STRING_BYTES = 128,
    NAME_BYTES = 256,             /* of a name that count: a hostile file has longer ones */
    FUNCTION_BYTES_MAX = 1 << 20, /* of code that is read; a VM's largest has 60 KB */
    /* Limits of the work for a file. A VM's code has 100,000 references, which take 25 ms. */
    REFERENCES_MAX = 1 << 21,
    MS_MAX = 500,
};

struct linked_function {
    uint64_t start;
    const char *name; /* NULL: it is not exported */
    bool is_stub;     /* of the PLT: `name` is what it calls */
    bool is_copy;     /* another function has the same links to others */
    uint64_t sum;     /* of its links; in the end its likeness */
    uint64_t own;     /* the part of the sum that is of its links to others */
    uint32_t named;   /* links to others that have a name */
    uint32_t callers, named_callers;
};

struct likenesses {
    struct linked_function *list; /* by start, one for each start */
    size_t count, room;
};

/* The kind of a link is part of what is summed. */
enum link_kind { LINK_CALLS = 'c', LINK_CALLED_BY = 'b', LINK_STRING = 's' };

/* FNV-1a, and a last step that spreads its bits (MurmurHash3, fmix64). Recordings contain it, so it
 * must stay the same. */
static uint64_t hash_link(enum link_kind kind, const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    hash = (hash ^ (uint8_t)kind) * 0x100000001b3;
    for (size_t length = strnlen(text, NAME_BYTES); length; length--)
        hash = (hash ^ (uint8_t)*text++) * 0x100000001b3;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
    return hash ^ hash >> 33;
}

static void add_link(struct linked_function *function, enum link_kind kind, const char *name)
{
    uint64_t hash = hash_link(kind, name ? name : "");

    function->sum += hash;
    if (kind == LINK_CALLED_BY)
        return;
    function->own += hash;
    function->named += name != NULL;
}

/* ---- the functions of a file ---- */

static void add_function(struct likenesses *likenesses, uint64_t start, const char *name,
                         bool is_stub)
{
    likenesses->list =
        xgrow(likenesses->list, &likenesses->room, likenesses->count, sizeof(*likenesses->list));
    likenesses->list[likenesses->count++] =
        (struct linked_function){.start = start, .name = name, .is_stub = is_stub};
}

static void add_stub(void *context, uint64_t address, uint64_t size, const char *name)
{
    (void)size;
    add_function(context, address, name, true);
}

static void add_exported(struct likenesses *likenesses, Elf *elf, Elf_Scn *section,
                         const GElf_Shdr *header, struct effort *effort)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;

    for (int i = 0; data && gelf_getsym(data, i, &symbol) && effort_step(effort); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

        if (name && *name && symbol.st_shndx != SHN_UNDEF &&
            GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
            add_function(likenesses, symbol.st_value, name, false);
    }
}

static void add_starts(struct likenesses *likenesses, Elf_Scn *section, const GElf_Shdr *header,
                       struct effort *effort)
{
    const Elf_Data *data = elf_getdata(section, NULL);
    struct function_table table;

    if (!data || !data->d_buf ||
        !function_table_read(&table, data->d_buf, data->d_size, header->sh_addr))
        return;
    for (size_t i = 0; i < table.count && effort_step(effort); i++)
        add_function(likenesses, function_table_start(&table, i), NULL, false);
}

/* By start, then by name: of several names, each build takes the same one. */
static int compare_functions(const void *a, const void *b)
{
    const struct linked_function *left = a, *right = b;

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    if (!left->name || !right->name)
        return !left->name - !right->name;
    return strncmp(left->name, right->name, NAME_BYTES);
}

static void read_functions(struct likenesses *likenesses, Elf *elf, struct effort *effort)
{
    Elf_Scn *section = NULL;
    size_t names, kept = 0;
    GElf_Shdr header;

    if (elf_getshdrstrndx(elf, &names))
        return;
    while ((section = elf_nextscn(elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

        if (name && header.sh_type == SHT_DYNSYM)
            add_exported(likenesses, elf, section, &header, effort);
        else if (name && header.sh_type == SHT_PROGBITS && !strcmp(name, ".eh_frame_hdr"))
            add_starts(likenesses, section, &header, effort);
    }
    plt_each(elf, add_stub, likenesses);
    if (!likenesses->count)
        return;
    qsort(likenesses->list, likenesses->count, sizeof(*likenesses->list), compare_functions);
    for (size_t i = 0; i < likenesses->count; i++)
        if (!kept || likenesses->list[kept - 1].start != likenesses->list[i].start)
            likenesses->list[kept++] = likenesses->list[i];
    likenesses->count = kept;
}

static int compare_start(const void *key, const void *element)
{
    uint64_t start = *(const uint64_t *)key;
    const struct linked_function *function = element;

    return (start > function->start) - (start < function->start);
}

static struct linked_function *function_at(const struct likenesses *likenesses, uint64_t start)
{
    return likenesses->count ? bsearch(&start, likenesses->list, likenesses->count,
                                       sizeof(*likenesses->list), compare_start)
                             : NULL;
}

/* ---- their links ---- */

struct elf_code {
    Elf *elf;
    int fd;
    struct effort *effort;
};

/* Read up to `size` bytes at an address of a segment with these permissions. Return how many. */
static size_t read_segment(const struct elf_code *code, uint32_t permissions, uint64_t address,
                           void *bytes, size_t size)
{
    GElf_Phdr segment;

    for (int i = 0; gelf_getphdr(code->elf, i, &segment); i++) {
        uint64_t at = address - segment.p_vaddr;

        if (segment.p_type != PT_LOAD || segment.p_flags != permissions ||
            address < segment.p_vaddr || at >= segment.p_filesz)
            continue;
        if (size > segment.p_filesz - at)
            size = segment.p_filesz - at;
        return files_read_at(code->fd, segment.p_offset + at, bytes, size);
    }
    return 0;
}

static void link_string(const struct elf_code *code, struct linked_function *function,
                        uint64_t address)
{
    char text[STRING_BYTES + 1];
    size_t size = read_segment(code, PF_R, address, text, STRING_BYTES), length = 0;

    text[size] = '\0';
    while (text[length] >= ' ' && text[length] <= '~')
        length++;
    if (length >= STRING_LEAST && length < size && !text[length])
        add_link(function, LINK_STRING, text);
}

static void link_functions(struct linked_function *caller, struct linked_function *called)
{
    if (!called || called == caller)
        return;
    add_link(caller, LINK_CALLS, called->name);
    if (called->is_stub)
        return;
    add_link(called, LINK_CALLED_BY, caller->name);
    called->callers++;
    called->named_callers += caller->name != NULL;
}

/* A jump to `end`, the next function, may skip bytes between them. False if the effort is used up:
 * then some links are missing. */
static bool read_links(struct likenesses *likenesses, const struct elf_code *code,
                       struct linked_function *function, uint8_t bytes[FUNCTION_BYTES_MAX],
                       uint64_t end)
{
    size_t size =
        end - function->start < FUNCTION_BYTES_MAX ? end - function->start : FUNCTION_BYTES_MAX;
    struct code_bytes read = {.bytes = bytes, .address = function->start};
    struct code_reference reference;

    read.size = read_segment(code, PF_R | PF_X, function->start, bytes, size);
    for (size_t at = 0; code_bytes_next_reference(&read, &at, &reference); at++) {
        if (!effort_step(code->effort))
            return false;
        if (reference.kind == REFERENCE_ADDRESS)
            link_string(code, function, reference.target);
        else if (reference.kind == REFERENCE_CALL || reference.target != end)
            link_functions(function, function_at(likenesses, reference.target));
    }
    return effort_step(code->effort);
}

static bool read_code(struct likenesses *likenesses, const struct elf_code *code)
{
    uint8_t *bytes = xmalloc(FUNCTION_BYTES_MAX);
    bool is_complete = true;

    for (size_t i = 0; is_complete && i < likenesses->count; i++) {
        uint64_t end = i + 1 < likenesses->count ? likenesses->list[i + 1].start : UINT64_MAX;

        if (!likenesses->list[i].is_stub)
            is_complete = read_links(likenesses, code, &likenesses->list[i], bytes, end);
    }
    free(bytes);
    return is_complete;
}

/* ---- likenesses ---- */

static bool is_known_by_links(const struct linked_function *function)
{
    return !function->name && !function->is_copy && function->named >= LINKS_LEAST &&
           (function->named_callers || !function->callers);
}

static int compare_sums(const void *a, const void *b)
{
    const struct linked_function *left = *(struct linked_function *const *)a;
    const struct linked_function *right = *(struct linked_function *const *)b;

    return (left->sum > right->sum) - (left->sum < right->sum);
}

static int compare_own(const void *a, const void *b)
{
    const struct linked_function *left = *(struct linked_function *const *)a;
    const struct linked_function *right = *(struct linked_function *const *)b;

    return (left->own > right->own) - (left->own < right->own);
}

/* Return the functions in the order of `compare`, for the caller to free. */
static struct linked_function **in_order(const struct likenesses *likenesses,
                                         int (*compare)(const void *a, const void *b))
{
    struct linked_function **list =
        xcalloc(likenesses->count + 1, sizeof(struct linked_function *));

    for (size_t i = 0; i < likenesses->count; i++)
        list[i] = &likenesses->list[i];
    qsort(list, likenesses->count, sizeof(struct linked_function *), compare);
    return list;
}

static void mark_copies(struct likenesses *likenesses)
{
    struct linked_function **by_own = in_order(likenesses, compare_own);

    for (size_t i = 1; i < likenesses->count; i++)
        if (by_own[i]->own == by_own[i - 1]->own)
            by_own[i]->is_copy = by_own[i - 1]->is_copy = true;
    free(by_own);
}

/* Clear the likeness of functions that share it, and of those that their links do not identify. */
static void keep_unique(struct likenesses *likenesses)
{
    struct linked_function **by_sum = in_order(likenesses, compare_sums);
    size_t end;

    mark_copies(likenesses);
    for (size_t i = 0; i < likenesses->count; i = end) {
        uint64_t sum = by_sum[i]->sum;

        for (end = i + 1; end < likenesses->count && by_sum[end]->sum == sum; end++)
            by_sum[end]->sum = 0;
        if (end > i + 1 || !is_known_by_links(by_sum[i]))
            by_sum[i]->sum = 0;
    }
    free(by_sum);
}

struct likenesses *likenesses_new(Elf *elf, int fd)
{
    struct likenesses *likenesses = xcalloc(1, sizeof(*likenesses));
    struct effort effort = effort_of(REFERENCES_MAX, MS_MAX);

    read_functions(likenesses, elf, &effort);
    if (read_code(likenesses, &(struct elf_code){elf, fd, &effort}))
        keep_unique(likenesses);
    else
        likenesses->count = 0;
    for (size_t i = 0; i < likenesses->count; i++)
        likenesses->list[i].name = NULL; /* the file's, which may be closed */
    return likenesses;
}

void likenesses_free(struct likenesses *likenesses)
{
    if (!likenesses)
        return;
    free(likenesses->list);
    free(likenesses);
}

uint64_t likenesses_find(const struct likenesses *likenesses, uint64_t start)
{
    const struct linked_function *function = function_at(likenesses, start);

    return function ? function->sum : 0;
}
