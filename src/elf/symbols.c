// SPDX-License-Identifier: Apache-2.0
#include "elf/symbols.h"

#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_limits.h"
#include "elf/known_builds.h"
#include "elf/symbols_internal.h"
#include "util/alloc.h"
#include "util/effort.h"
#include "util/inferred_name.h"
#include "util/sorted.h"

/* A function. Addresses are the file's. */
struct function_entry {
    uint64_t start, end;
    uint64_t reach; /* the largest `end` of this and all earlier entries */
    const char *name;
    bool is_global;
    bool is_owned; /* name is malloc'ed, not the file's */
    bool is_final; /* name is as readable as possible: it was demangled if it could be */
};

struct elf_symbols {
    struct function_entry *entries; /* by start, one for each start */
    size_t count, room;
    enum native_symbols_source source;
    Elf *debug; /* the debug file, kept for its names, with its descriptor closed; or NULL */
    struct elf_room *elf_room; /* of which `debug` takes debug_bytes */
    size_t debug_bytes;
    void *image;        /* the bytes of `debug` if they are in memory, else NULL */
    size_t known_bytes; /* taken of the room for functions of a known build */
};

enum {
    /* What may be spent on the symbols of a file. 500,000 symbols take 100 ms. */
    SYMBOLS_MAX = 1 << 20,
    SYMBOLS_MS_MAX = 500,
    UNSIZED_MAX = 256,       /* functions without a size whose code is read */
    COMPARED_MAX = 256,      /* bytes of names that are compared, to put the plainest first */
    UNPACKED_MAX = 32 << 20, /* a small file can unpack to any size */
    UNPACKER_MAX = 96 << 20,
};

/* Symbols nest at most this deep in a sane file. */
enum { DEEPEST_NEST = 32 };

static void add_entry(struct elf_symbols *table, const struct function_entry *entry)
{
    table->entries = xgrow(table->entries, &table->room, table->count, sizeof(*table->entries));
    table->entries[table->count++] = *entry;
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    }
    return NULL;
}

/* Return the section with function names: .symtab, else .dynsym, else NULL. */
static Elf_Scn *find_symbols(Elf *elf, GElf_Shdr *header)
{
    Elf_Scn *section = find_section(elf, SHT_SYMTAB, header);

    return section ? section : find_section(elf, SHT_DYNSYM, header);
}

/* Call `visit` for each symbol that the file defines, until it returns false. */
static void each_symbol(Elf *elf,
                        bool (*visit)(void *context, const GElf_Sym *symbol, const char *name),
                        void *context)
{
    GElf_Shdr header;
    Elf_Scn *section = find_symbols(elf, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    struct effort effort = effort_of(SYMBOLS_MAX, SYMBOLS_MS_MAX);
    GElf_Sym symbol;

    if (!data)
        return;
    for (int i = 0; effort_step(&effort) && gelf_getsym(data, i, &symbol); i++) {
        const char *name;

        if (symbol.st_shndx == SHN_UNDEF)
            continue;
        name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name && *name && !visit(context, &symbol, name))
            return;
    }
}

static bool add_function(void *context, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    uint64_t end = symbol->st_value + symbol->st_size;

    if ((type == STT_FUNC || type == STT_GNU_IFUNC) && end >= symbol->st_value && end)
        add_entry(context, &(struct function_entry){
                               .start = symbol->st_value,
                               .end = end,
                               .name = name,
                               .is_global = GELF_ST_BIND(symbol->st_info) == STB_GLOBAL,
                           });
    return true;
}

/* Add the functions of `debug`. If there are any, keep it for their names and return true. */
static bool add_debug(struct elf_symbols *table, Elf *debug, size_t bytes)
{
    size_t before = table->count;

    if (!debug)
        return false;
    each_symbol(debug, add_function, table);
    if (table->count == before)
        return false;
    table->debug = debug;
    table->debug_bytes = bytes;
    table->source = NATIVE_SYMBOLS_DEBUG;
    return true;
}

static bool add_debug_file(struct elf_symbols *table, int fd)
{
    size_t bytes = 0;
    Elf *debug = fd < 0 ? NULL : elf_limits_open(fd, table->elf_room, &bytes);
    bool added = add_debug(table, debug, bytes);

    if (added)
        elf_cntl(debug, ELF_C_FDDONE);
    else
        elf_limits_close(debug, table->elf_room, bytes);
    return added;
}

static Elf_Data *find_packed(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = NULL;

        if (gelf_getshdr(section, &header))
            name = elf_strptr(elf, names, header.sh_name);
        if (name && strcmp(name, ".gnu_debugdata") == 0)
            return elf_rawdata(section, NULL);
    }
    return NULL;
}

/* Return the ELF image with a symbol table that is packed into .gnu_debugdata (GDB manual,
 * "MiniDebugInfo"), malloc'ed. NULL if there is none or it can't be unpacked. */
static void *unpack(Elf *elf, size_t *size)
{
    const Elf_Data *packed = find_packed(elf);
    uint64_t memory = UNPACKER_MAX;
    size_t from = 0, to = 0;
    uint8_t *image;

    if (!packed || !packed->d_buf)
        return NULL;
    image = xmalloc(UNPACKED_MAX); /* only pages that are written take memory */
    if (lzma_stream_buffer_decode(&memory, 0, NULL, packed->d_buf, &from, packed->d_size, image,
                                  &to, UNPACKED_MAX) != LZMA_OK ||
        to == 0) {
        free(image);
        return NULL;
    }
    *size = to;
    return xrealloc(image, to);
}

static bool add_debug_data(struct elf_symbols *table, Elf *elf)
{
    size_t size = 0, bytes = 0;
    void *image = unpack(elf, &size);
    Elf *debug = image ? elf_limits_open_image(image, size, table->elf_room, &bytes) : NULL;

    /* The image stays if it has functions. */
    if (debug && elf_limits_take(table->elf_room, size))
        bytes += size;
    else {
        elf_limits_close(debug, table->elf_room, bytes);
        debug = NULL;
    }
    if (add_debug(table, debug, bytes)) {
        table->image = image;
        return true;
    }
    elf_limits_close(debug, table->elf_room, bytes);
    free(image);
    return false;
}

static void add_known(void *context, uint64_t start, uint64_t end, const char *name)
{
    add_entry(context, &(struct function_entry){.start = start, .end = end, .name = name});
}

static void add_known_build(struct elf_symbols *table, Elf *elf, int fd)
{
    size_t before = table->count, bytes;

    if (!known_builds_read(elf, fd, add_known, table))
        return;
    bytes = (table->count - before) * sizeof(*table->entries);
    if (elf_limits_take(table->elf_room, bytes)) {
        table->known_bytes = bytes;
        table->source = NATIVE_SYMBOLS_BUILD;
        return;
    }
    table->count = before;
}

static void add_stub(void *context, uint64_t address, uint64_t size, const char *name)
{
    char *readable = demangle(name);

    add_entry(context, &(struct function_entry){
                           .start = address,
                           .end = address + size,
                           .name = xasprintf("%s@plt", readable ? readable : name),
                           .is_owned = true,
                           .is_final = true,
                       });
    free(readable);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_inferred(const char *name)
{
    return name[0] == INFERRED_NAME;
}

static size_t lines_before(const char *name)
{
    size_t count = 0;

    while (count < COMPARED_MAX && name[count] == '_')
        count++;
    return count;
}

/* Compare by address. If a function has several names, the plainest comes first: one that is not
 * inferred, then "write" before "__write", then global before weak or local. */
static int compare_entries(const void *a, const void *b)
{
    const struct function_entry *left = a;
    const struct function_entry *right = b;
    size_t left_lines = lines_before(left->name);
    size_t right_lines = lines_before(right->name);

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    if (is_inferred(left->name) != is_inferred(right->name))
        return is_inferred(right->name) ? -1 : 1;
    if (left_lines != right_lines)
        return left_lines < right_lines ? -1 : 1;
    if (left->is_global != right->is_global)
        return left->is_global ? -1 : 1;
    return strncmp(left->name, right->name, COMPARED_MAX);
}

/* Find the ends of the first functions without a size. Those that have none cover no address. */
static void find_ends(struct elf_symbols *table, Elf *elf, int fd)
{
    uint64_t next = UINT64_MAX, start = UINT64_MAX;
    int left = UNSIZED_MAX;

    for (size_t i = table->count; i-- > 0 && left > 0;) {
        struct function_entry *entry = &table->entries[i];

        if (entry->start != start) {
            next = start;
            start = entry->start;
        }
        if (entry->end != start)
            continue;
        left--;
        entry->end = later(start, unsized_end(elf, fd, start, next));
    }
}

static void index_entries(struct elf_symbols *table, Elf *elf, int fd)
{
    uint64_t reach = 0;
    size_t kept = 0;

    if (table->count == 0)
        return;
    qsort(table->entries, table->count, sizeof(*table->entries), compare_entries);
    find_ends(table, elf, fd);
    for (size_t i = 0; i < table->count; i++) {
        struct function_entry *entry = &table->entries[i];

        if (kept > 0 && table->entries[kept - 1].start == entry->start) {
            if (entry->is_owned)
                free((char *)entry->name);
            continue;
        }
        if (entry->end > reach)
            reach = entry->end;
        entry->reach = reach;
        table->entries[kept++] = *entry;
    }
    table->count = kept;
}

bool elf_symbols_are_own(Elf *elf)
{
    GElf_Shdr header;

    return find_section(elf, SHT_SYMTAB, &header) != NULL;
}

struct elf_symbols *elf_symbols_new(Elf *elf, int fd, int debug_fd, struct elf_room *room)
{
    struct elf_symbols *symbols = xcalloc(1, sizeof(*symbols));

    symbols->elf_room = room;
    symbols->source = elf_symbols_are_own(elf) ? NATIVE_SYMBOLS_OWN : NATIVE_SYMBOLS_EXPORTED;
    each_symbol(elf, add_function, symbols);
    if (symbols->source != NATIVE_SYMBOLS_OWN && !add_debug_file(symbols, debug_fd) &&
        !add_debug_data(symbols, elf))
        add_known_build(symbols, elf, fd);
    plt_each(elf, add_stub, symbols);
    index_entries(symbols, elf, fd);
    return symbols;
}

enum native_symbols_source elf_symbols_source(const struct elf_symbols *symbols)
{
    return symbols->source;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->count; i++) {
        if (symbols->entries[i].is_owned)
            free((char *)symbols->entries[i].name);
    }
    free(symbols->entries);
    elf_limits_close(symbols->debug, symbols->elf_room, symbols->debug_bytes);
    free(symbols->image);
    elf_limits_give(symbols->elf_room, symbols->known_bytes);
    free(symbols);
}

/* Return the innermost function that covers `address`, or NULL. [*from, *to) are addresses that
 * have the same one: no function begins or ends within them. */
static struct function_entry *find_entry(const struct elf_symbols *table, uint64_t address,
                                         uint64_t *from, uint64_t *to)
{
    size_t low = sorted_until(table->entries, table->count, sizeof(*table->entries), address);

    *from = 0;
    *to = low < table->count ? table->entries[low].start : UINT64_MAX;
    for (int depth = 0; low > 0 && depth < DEEPEST_NEST; depth++) {
        struct function_entry *entry = &table->entries[--low];

        if (address < entry->end) {
            *from = later(*from, entry->start);
            *to = entry->end < *to ? entry->end : *to;
            return entry;
        }
        *from = later(*from, entry->end);
        if (address >= entry->reach) {
            *from = later(*from, entry->reach);
            return NULL;
        }
    }
    if (low > 0) /* the search ended early: it says nothing of lower addresses */
        *from = address;
    return NULL;
}

/* Return what demangle() returns, which may follow the sign of an inferred name. */
static char *readable_of(const char *name)
{
    char *readable = demangle(is_inferred(name) ? name + 1 : name), *marked;

    if (!readable || !is_inferred(name))
        return readable;
    marked = xasprintf("%c%s", INFERRED_NAME, readable);
    free(readable);
    return marked;
}

/* Demangle the name, without the version that a linker puts into .symtab ("memcpy@@GLIBC_2.14"). */
static void make_readable(struct function_entry *entry)
{
    size_t length = strcspn(entry->name, "@");
    char *plain, *readable;

    if (entry->is_final)
        return;
    entry->is_final = true;
    plain = xstrndup(entry->name, length);
    readable = readable_of(plain);
    if (readable || entry->name[length]) {
        entry->name = readable ? readable : plain;
        entry->is_owned = true;
    }
    if (entry->name != plain)
        free(plain);
}

struct elf_symbol elf_symbols_find(struct elf_symbols *symbols, uint64_t address)
{
    struct elf_symbol symbol = {0};
    struct function_entry *entry = find_entry(symbols, address, &symbol.same_from, &symbol.same_to);

    if (!entry)
        return symbol;
    make_readable(entry);
    symbol.name = entry->name;
    symbol.start = entry->start;
    symbol.end = entry->end;
    return symbol;
}

/* A search by name for a global or weak symbol, else the only local one. */
struct symbol_search {
    const char *name;
    uint64_t address;
    bool is_ambiguous;
};

static bool match_name(void *context, const GElf_Sym *symbol, const char *name)
{
    struct symbol_search *search = context;
    int type = GELF_ST_TYPE(symbol->st_info);
    bool is_local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;

    if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT) ||
        strcmp(name, search->name) != 0)
        return true;
    search->is_ambiguous = is_local && (search->is_ambiguous ||
                                        (search->address && search->address != symbol->st_value));
    search->address = symbol->st_value;
    return is_local;
}

uint64_t elf_symbol_address(Elf *elf, const char *name)
{
    struct symbol_search search = {.name = name};

    each_symbol(elf, match_name, &search);
    return search.is_ambiguous ? 0 : search.address;
}

uint64_t elf_symbols_debug_address(const struct elf_symbols *symbols, const char *name)
{
    return symbols->debug ? elf_symbol_address(symbols->debug, name) : 0;
}
