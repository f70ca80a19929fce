// SPDX-License-Identifier: Apache-2.0
/*
 * The code map, read from the JIT's list.
 *
 * A module is identified by the addresses of its list entry and symbol file, and by a hash of the
 * first bytes of the file: a freed entry can be reused at the same address with other content.
 *
 *   live      modules that the VM has now, by address; they do not overlap
 *   retired   modules that something newer has replaced, newest first; forgotten after some seconds
 */
#include "beam/code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/jit_code.h"
#include "beam/gdb_jit.h"
#include "os/memory.h"
#include "util/address_map.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/effort.h"
#include "util/hash.h"
#include "util/log.h"

enum {
    HEADER_BYTES = 512,    /* read of a module before it is parsed */
    ENTRIES_MAX = 1 << 18, /* of the list; a longer list is taken for a loop */
    RECHECKED = 4,         /* newest entries that each refresh compares */
    CALL_CLASS_BYTES = 64, /* code after a call that is searched for its class */
    CALL_CLASSES_MAX = 1 << 16,
    /* All symbol files of OTP together have 13 MB: 1,069 modules, the largest 0.6 MB. Only those of
     * modules in which samples are, and of replaced ones, are parsed. */
    PARSED_BYTES_MAX = 64 << 20,
    COLLECT_MS_MAX = 700, /* CPU time to read what is new: 3 ms for all of OTP */
    ADD_MS_MAX = 200,     /* CPU time to add it */
    RETIRED_MAX = 1 << 12,
    REST = 20, /* the list of code is read for at most 1 / 20 of the time, if it takes long */
};

/* A sample waits at most some hundred ms in the kernel, and for what the session does meanwhile. */
static const uint64_t RETIRED_NS = 10000000000, LONG_REFRESH_NS = 50000000;

struct module {
    uint64_t start, end;
    uint64_t symfile, symfile_size;
    uint64_t age; /* number of modules added before this one */
    char *name;
    bool parsed, unreadable;
    struct gdb_jit_module symbols;
    struct range_kind *kinds; /* of each range of `symbols` */
    struct module *next_retired;
    uint64_t retired_ns; /* CLOCK_MONOTONIC */
};

struct code {
    struct vm *vm;
    bool old_format;
    uint64_t first_entry; /* at the last refresh */
    uint64_t normal_exit;
    bool frame_pointers;
    uint64_t epoch;
    uint64_t added;       /* number of modules added so far */
    struct module **live; /* by address */
    size_t live_count, live_room;
    struct module *retired;
    size_t parsed_bytes;
    uint64_t rest_until;          /* CLOCK_MONOTONIC: the list is not read before */
    struct address_map *by_entry; /* list entry -> what was there (struct content) */
    struct address_map *call_classes;
};

static size_t parsed_bytes(const struct module *module)
{
    return module->parsed
               ? module->symbols.bytes + module->symbols.range_count * sizeof(*module->kinds)
               : 0;
}

static void module_free(struct module *module)
{
    if (!module)
        return;
    gdb_jit_free_module(&module->symbols);
    free(module->kinds);
    free(module->name);
    free(module);
}

/* ---- the live modules ---- */

/* Index of the first live module that ends above `address`. */
static size_t live_position(const struct code *code, uint64_t address)
{
    size_t low = 0, high = code->live_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (code->live[middle]->end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct module *live_at(const struct code *code, uint64_t address)
{
    size_t at = live_position(code, address);

    return at < code->live_count && code->live[at]->start <= address ? code->live[at] : NULL;
}

static struct module *module_at(const struct code *code, uint64_t address)
{
    struct module *module = live_at(code, address);

    if (module)
        return module;
    for (module = code->retired; module; module = module->next_retired)
        if (module->start <= address && address < module->end)
            return module;
    return NULL;
}

static void retire(struct code *code, size_t at)
{
    struct module *module = code->live[at];

    memmove(&code->live[at], &code->live[at + 1],
            (code->live_count - at - 1) * sizeof(*code->live));
    code->live_count--;
    if (!code->epoch) { /* there are no samples of it */
        module_free(module);
        return;
    }
    module->retired_ns = clock_ns(CLOCK_MONOTONIC);
    module->next_retired = code->retired;
    code->retired = module;
}

static void insert(struct code *code, struct module *module)
{
    size_t at = live_position(code, module->start);

    while (at < code->live_count && code->live[at]->start < module->end)
        retire(code, at);
    code->live = xgrow(code->live, &code->live_room, code->live_count, sizeof(*code->live));
    memmove(&code->live[at + 1], &code->live[at], (code->live_count - at) * sizeof(*code->live));
    code->live[at] = module;
    code->live_count++;
}

/* ---- parsing ---- */

static void parse(struct code *code, struct module *module)
{
    uint8_t *bytes;
    struct error ignored;

    if (module->parsed || module->unreadable)
        return;
    if (code->parsed_bytes > PARSED_BYTES_MAX) {
        log_detail("code", "module %s has no names: those of others have taken the room",
                   module->name);
        module->unreadable = true;
        return;
    }
    bytes = xmalloc(module->symfile_size);
    if (memory_read(code->vm->memory, module->symfile, bytes, module->symfile_size) &&
        gdb_jit_parse_module(bytes, module->symfile_size, code->old_format, &module->symbols,
                             &ignored) == 0)
        module->parsed = true;
    else
        module->unreadable = true;
    if (module->parsed)
        module->kinds = range_kinds_new(module->name, &module->symbols);
    code->parsed_bytes += parsed_bytes(module);
    free(bytes);
}

/* When a newer version of a module appears, the VM may purge the older one: read its names now. */
static void parse_older_versions(struct code *code, const char *name)
{
    for (size_t i = 0; i < code->live_count; i++)
        if (!strcmp(code->live[i]->name, name))
            parse(code, code->live[i]);
}

/* ---- following the list ---- */

static bool read_header(struct code *code, const struct gdb_jit_entry *entry, uint64_t *hash,
                        struct gdb_jit_header *header)
{
    uint8_t bytes[HEADER_BYTES];
    size_t size = entry->symfile_size < sizeof(bytes) ? entry->symfile_size : sizeof(bytes);
    struct error ignored;

    if (!memory_read(code->vm->memory, entry->symfile, bytes, size))
        return false;
    *hash = hash_bytes(bytes, size);
    return gdb_jit_parse_header(bytes, size, code->old_format, header, &ignored) == 0;
}

/* An entry that is new, or whose content has changed. */
struct new_entry {
    uint64_t address;
    struct gdb_jit_entry entry;
    uint64_t hash; /* of the header */
    uint64_t base;
    uint32_t code_size;
    bool is_emulator, frame_pointers; /* as in struct gdb_jit_header */
    uint64_t normal_exit;
    char *name; /* of a module, malloc'ed */
};

/* In the old format this entry is added before the VM knows the address of normal_exit
 * (x86/beam_asm.cpp 24:205, 24:285). */
static void add_emulator(struct code *code, const struct new_entry *new)
{
    code->normal_exit = new->normal_exit ? new->normal_exit : code->vm->roots.normal_exit;
    code->frame_pointers = new->frame_pointers;
}

/* What an entry of the list refers to, in one number: half of a hash of the symbol file's place and
 * size, and half of the hash of its header. */
static uint32_t place_hash(const struct gdb_jit_entry *entry)
{
    const uint64_t place[] = {entry->symfile, entry->symfile_size};

    return (uint32_t)hash_bytes(place, sizeof(place));
}

static uint64_t content(const struct gdb_jit_entry *entry, uint64_t header_hash)
{
    return (uint64_t)place_hash(entry) << 32 | (uint32_t)header_hash;
}

/* Take over the name. */
static void add_module(struct code *code, struct new_entry *new)
{
    struct module *module = xcalloc(1, sizeof(*module));

    module->start = new->base;
    module->end = new->base + new->code_size;
    module->symfile = new->entry.symfile;
    module->symfile_size = new->entry.symfile_size;
    module->age = code->added++;
    module->name = new->name;
    new->name = NULL;
    if (code->epoch) {
        parse_older_versions(code, module->name);
        parse(code, module);
    }
    insert(code, module);
}

static bool is_known(const struct code *code, uint64_t address, const struct gdb_jit_entry *entry)
{
    uint64_t value;

    return address_map_get(code->by_entry, address, &value) && value >> 32 == place_hash(entry);
}

static bool is_unchanged(const struct code *code, const struct new_entry *new)
{
    uint64_t value;

    return address_map_get(code->by_entry, new->address, &value) &&
           (uint32_t)value == (uint32_t) new->hash;
}

static bool read_new(struct code *code, struct new_entry *new)
{
    struct gdb_jit_header header;

    if (!read_header(code, &new->entry, &new->hash, &header))
        return false;
    new->base = header.base;
    new->code_size = header.code_size;
    new->is_emulator = header.emulator;
    new->frame_pointers = header.frame_pointers;
    new->normal_exit = header.normal_exit;
    new->name = xstrdup(header.name);
    return true;
}

/* Collect the entries from `first` on that are not yet known, newest first. The list is newest
 * first, so all entries after a known one are known too. The newest RECHECKED entries are always
 * compared. */
static size_t collect_new(struct code *code, uint64_t first, struct new_entry **ret)
{
    struct new_entry *entries = NULL;
    struct effort effort = effort_of(ENTRIES_MAX, COLLECT_MS_MAX);
    size_t count = 0, room = 0, seen = 0;
    uint64_t landmark = 0; /* an entry passed before; its return means that the list is a ring */

    for (uint64_t at = first; at && at != landmark && effort_step(&effort); seen++) {
        struct new_entry new = {.address = at};
        bool known;

        if ((seen & (seen - 1)) == 0)
            landmark = at;
        if (!gdb_jit_read_entry(code->vm->memory, at, &new.entry))
            break;
        known = is_known(code, at, &new.entry);
        if (known && seen >= RECHECKED)
            break;
        at = new.entry.next;
        if (!read_new(code, &new))
            continue;
        if (known && is_unchanged(code, &new)) {
            free(new.name);
            continue;
        }
        entries = xgrow(entries, &room, count, sizeof(*entries));
        entries[count++] = new;
    }
    *ret = entries;
    return count;
}

/* Add what the entry has to the map. True if it is code. */
static bool add_entry(struct code *code, struct new_entry *new)
{
    address_map_put(code->by_entry, new->address, content(&new->entry, new->hash));
    if (new->is_emulator)
        add_emulator(code, new);
    else if (new->code_size)
        add_module(code, new);
    return !new->is_emulator &&new->code_size;
}

/* Add new entries, and free them. True if there is code among them. */
static bool add_entries(struct code *code, struct new_entry *entries, size_t count)
{
    struct effort effort = effort_of(UINT32_MAX, ADD_MS_MAX);
    bool changed = false;

    for (size_t i = count; i-- > 0;) { /* oldest first: a newer module replaces an older one */
        if (entries[i].is_emulator || effort_step(&effort))
            changed |= add_entry(code, &entries[i]);
        free(entries[i].name);
    }
    free(entries);
    return changed;
}

int code_refresh(struct code *code, struct error *error)
{
    uint64_t first, began = clock_ns(CLOCK_MONOTONIC), took;
    struct new_entry *entries;
    size_t count;
    bool changed;

    if (began < code->rest_until)
        return 0;
    if (!memory_read_u64(code->vm->memory, code->vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY,
                         &first))
        return error_set(error, ERROR_NO_PROCESS, "the VM's list of loaded code can't be read");
    count = collect_new(code, first, &entries);
    took = clock_ns(CLOCK_MONOTONIC) - began;
    changed = add_entries(code, entries, count);
    if (changed) {
        code->epoch++;
        address_map_clear(code->call_classes);
    }
    code->first_entry = first;
    if (took > LONG_REFRESH_NS)
        code->rest_until = began + REST * took;
    return 0;
}

size_t code_forget(struct code *code, uint64_t now)
{
    struct module **link = &code->retired;
    size_t kept = 0, count = 0;

    for (; *link && now - (*link)->retired_ns < RETIRED_NS && kept < RETIRED_MAX; kept++)
        link = &(*link)->next_retired;
    while (*link) { /* newest first: all others are older */
        struct module *module = *link;

        *link = module->next_retired;
        code->parsed_bytes -= parsed_bytes(module);
        module_free(module);
        count++;
    }
    if (count)
        code->epoch++;
    return count;
}

/* ---- */

struct code *code_new(struct vm *vm, struct error *error)
{
    struct code *code = xcalloc(1, sizeof(*code));

    code->vm = vm;
    code->old_format = vm->features.old_gdb_jit;
    code->by_entry = address_map_new(ENTRIES_MAX);
    code->call_classes = address_map_new(CALL_CLASSES_MAX);
    if (!vm->roots.jit_descriptor)
        error_set(error, ERROR_UNSUPPORTED,
                  "this VM has no list of compiled code: it may be the interpreter (emu), which is "
                  "not supported");
    else if (code_refresh(code, error) == 0) {
        if (code->normal_exit && code->live_count)
            return code;
        error_set(error, ERROR_UNSUPPORTED, "the JIT's list of loaded code is empty");
    }
    code_free(code);
    return NULL;
}

void code_free(struct code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->live_count; i++)
        module_free(code->live[i]);
    while (code->retired) {
        struct module *module = code->retired;

        code->retired = module->next_retired;
        module_free(module);
    }
    free(code->live);
    address_map_free(code->by_entry);
    address_map_free(code->call_classes);
    free(code);
}

uint64_t code_generation_address(const struct code *code)
{
    return code->vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY;
}

uint64_t code_generation(const struct code *code)
{
    return code->first_entry;
}

uint64_t code_epoch(const struct code *code)
{
    return code->epoch;
}

bool code_is_current(const struct code *code, uint64_t address)
{
    uint64_t first;

    return live_at(code, address) &&
           memory_read_u64(code->vm->memory, code_generation_address(code), &first) &&
           first == code->first_entry;
}

uint64_t code_normal_exit(const struct code *code)
{
    return code->normal_exit;
}

bool code_frame_pointers(const struct code *code)
{
    return code->frame_pointers;
}

bool code_contains(const struct code *code, uint64_t address)
{
    return module_at(code, address) != NULL;
}

/* ---- names ---- */

static void describe(const struct module *module, const struct gdb_jit_range *range,
                     uint32_t offset, struct code_place *place)
{
    const struct gdb_jit_line *line = gdb_jit_line_at(&module->symbols, range, offset);
    const struct range_kind *kind = &module->kinds[range - module->symbols.ranges];

    *place = (struct code_place){
        .kind = kind->kind,
        .fragment = kind->fragment,
        .is_function_header = kind->is_function_header,
        .start = module->start + range->start,
        .end = module->start + range->end,
        .module = module->start,
        .symbol = module->symbols.strings + range->symbol,
        .file = line ? module->symbols.strings + line->file : "",
        .line = line ? line->line : 0,
    };
}

bool code_find(struct code *code, uint64_t address, struct code_place *place)
{
    struct module *module = module_at(code, address);
    const struct gdb_jit_range *range;
    uint32_t offset;

    if (!module)
        return false;
    parse(code, module);
    if (!module->parsed)
        return false;
    offset = (uint32_t)(address - module->start);
    range = gdb_jit_range_at(&module->symbols, offset);
    if (!range)
        return false;
    describe(module, range, offset, place);
    return true;
}

/* The newest live module of this name that is older than `age`. */
static struct module *older_version(const struct code *code, const char *name, uint64_t age)
{
    struct module *found = NULL;

    for (size_t i = 0; i < code->live_count; i++) {
        struct module *module = code->live[i];

        if (module->age < age && (!found || module->age > found->age) &&
            !strcmp(module->name, name))
            found = module;
    }
    return found;
}

void code_each(struct code *code, const char *module, code_visit visit, void *context)
{
    uint64_t age = UINT64_MAX;
    struct module *version;

    while ((version = older_version(code, module, age))) {
        parse(code, version);
        for (uint32_t r = 0; version->parsed && r < version->symbols.range_count; r++) {
            const struct gdb_jit_range *range = &version->symbols.ranges[r];
            struct code_place place;

            describe(version, range, range->start, &place);
            if (!visit(context, &place))
                return;
        }
        age = version->age;
    }
}

struct named_place {
    const char *symbol;
    struct code_place place;
    bool found;
};

static bool match_symbol(void *context, const struct code_place *place)
{
    struct named_place *named = context;

    named->found = !strcmp(place->symbol, named->symbol);
    named->place = *place;
    return !named->found;
}

bool code_find_fragment(struct code *code, const char *symbol, struct code_place *place)
{
    struct named_place named = {.symbol = symbol};

    code_each(code, "global", match_symbol, &named);
    if (named.found)
        *place = named.place;
    return named.found;
}

/* ---- call classes ---- */

/* The code of the scheduler loop restores no stack pointer: it saves stop before it calls. */
static enum call_class class_of(const uint8_t *bytes, size_t size, unsigned int saved_top)
{
    return jit_stack_after_call(bytes, size, (enum cpu_register)saved_top) == JIT_STACK_IN_REGISTER
               ? CALL_STALE
               : CALL_FRESH;
}

enum call_class code_call_class(struct code *code, uint64_t return_address)
{
    uint8_t bytes[CALL_CLASS_BYTES];
    struct module *module = module_at(code, return_address);
    enum call_class class;
    uint64_t value;
    size_t size;

    if (!module)
        return CALL_FRESH;
    if (address_map_get(code->call_classes, return_address, &value))
        return (enum call_class)value;
    size = sizeof(bytes);
    if (module->end - return_address < size)
        size = module->end - return_address;
    if (!memory_read(code->vm->memory, return_address, bytes, size))
        return CALL_FRESH;
    class = class_of(bytes, size, code->vm->features.saved_top);
    address_map_put(code->call_classes, return_address, class);
    return class;
}
