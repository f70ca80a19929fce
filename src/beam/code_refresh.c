// SPDX-License-Identifier: Apache-2.0
/* The code map: its modules, and how they are read from the JIT's list. */
#include <stdlib.h>
#include <string.h>

#include "beam/code_internal.h"
#include "native/memory.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/effort.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/memory_limit.h"

enum {
    HEADER_BYTES = 512, /* read of a module before it is parsed */
    /* All symbol files of OTP together have 13 MB: 1,069 modules, the largest 0.6 MB. Only symbol
     * files of modules with samples, and of replaced modules, are parsed. */
    PARSED_SHARE = 4,     /* of the memory */
    COLLECT_MS_MAX = 700, /* CPU time to read new entries: 3 ms for all of OTP */
    ADD_MS_MAX = 200,     /* CPU time to add it */
    RETIRED_MAX = 1 << 12,
    REST = 20, /* the list of code is read for at most 1 / 20 of the time, if it takes long */
};

/* A sample waits at most some hundred ms in the kernel, and for what the session does meanwhile. */
static const uint64_t RETIRED_NS = 10000000000, LONG_REFRESH_NS = 50000000;

static size_t parsed_bytes(const struct code_module *module)
{
    const struct module_symbols *symbols = module->symbols;

    return symbols ? symbols->table.bytes + symbols->table.range_count * sizeof(*symbols->kinds)
                   : 0;
}

void code_refresh_module_free(struct code_module *module)
{
    if (!module)
        return;
    module_symbols_release(module->symbols);
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

struct code_module *code_refresh_live_at(const struct code *code, uint64_t address)
{
    size_t at = live_position(code, address);

    return at < code->live_count && code->live[at]->start <= address ? code->live[at] : NULL;
}

struct code_module *code_refresh_module_at(const struct code *code, uint64_t address)
{
    struct code_module *module = code_refresh_live_at(code, address);

    if (module)
        return module;
    for (module = code->retired; module; module = module->next_retired)
        if (module->start <= address && address < module->end)
            return module;
    return NULL;
}

static void retire(struct code *code, size_t at)
{
    struct code_module *module = code->live[at];

    memmove(&code->live[at], &code->live[at + 1],
            (code->live_count - at - 1) * sizeof(*code->live));
    code->live_count--;
    if (!code->epoch) { /* there are no samples of it */
        code_refresh_module_free(module);
        return;
    }
    module->retired_ns = clock_ns(CLOCK_MONOTONIC);
    module->next_retired = code->retired;
    code->retired = module;
}

static void insert(struct code *code, struct code_module *module)
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

void code_refresh_parse(struct code *code, struct code_module *module)
{
    uint8_t *bytes;
    struct gdb_jit_module table;
    struct error ignored;

    if (module->symbols || module->unreadable)
        return;
    if (code->parsed_bytes > memory_limit() / PARSED_SHARE) {
        log_detail("code", "module %s has no names: those of others have taken the room",
                   module->name);
        module->unreadable = true;
        return;
    }
    bytes = xmalloc(module->symfile_size);
    if (memory_read(code->vm->memory, module->symfile, bytes, module->symfile_size) &&
        gdb_jit_parse_module(bytes, module->symfile_size, code->old_format, &table, &ignored) == 0)
        module->symbols = module_symbols_share(module->name, &table);
    else
        module->unreadable = true;
    code->parsed_bytes += parsed_bytes(module);
    free(bytes);
}

/* When a newer version of a module appears, the VM may purge the older one: read its names now. */
static void parse_older_versions(struct code *code, const char *name)
{
    for (size_t i = 0; i < code->live_count; i++)
        if (!strcmp(code->live[i]->name, name))
            code_refresh_parse(code, code->live[i]);
}

/* ---- following the list ---- */

static size_t header_bytes(uint64_t symfile_size)
{
    return symfile_size < HEADER_BYTES ? symfile_size : HEADER_BYTES;
}

static bool read_header(struct code *code, const struct gdb_jit_entry *entry, uint64_t *hash,
                        struct gdb_jit_header *header)
{
    uint8_t bytes[HEADER_BYTES];
    size_t size = header_bytes(entry->symfile_size);
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
 * (x86/beam_asm.cpp 24.3.4.4:205, 24.3.4.4:285). */
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
    struct code_module *module = xcalloc(1, sizeof(*module));

    module->start = new->base;
    module->end = new->base + new->code_size;
    module->symfile = new->entry.symfile;
    module->symfile_size = new->entry.symfile_size;
    module->age = code->added++;
    module->name = new->name;
    new->name = NULL;
    if (code->epoch) {
        parse_older_versions(code, module->name);
        code_refresh_parse(code, module);
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

static void note_newest(struct code *code, const struct new_entry *new)
{
    code->newest[code->newest_count++] = (struct newest_entry){
        .address = new->address,
        .symfile = new->entry.symfile,
        .symfile_size = new->entry.symfile_size,
        .hash = new->hash,
    };
}

/* True if the list begins as at the last refresh, with the same symbol files. One call reads all of
 * it. */
static bool begins_as_before(struct code *code)
{
    uint8_t bytes[NEWEST][HEADER_BYTES];
    struct gdb_jit_words words[NEWEST];
    struct memory_span spans[1 + 2 * NEWEST];
    uint64_t first;
    size_t count = 0;

    spans[count++] = (struct memory_span){code_generation_address(code), &first, sizeof(first)};
    for (size_t i = 0; i < code->newest_count; i++) {
        const struct newest_entry *entry = &code->newest[i];

        spans[count++] = (struct memory_span){entry->address, &words[i], sizeof(words[i])};
        spans[count++] =
            (struct memory_span){entry->symfile, bytes[i], header_bytes(entry->symfile_size)};
    }
    memory_read_spans(code->vm->memory, spans, count);
    for (size_t i = 0; i < count; i++)
        if (!spans[i].is_read)
            return false;
    for (size_t i = 0; i < code->newest_count; i++) {
        const struct newest_entry *entry = &code->newest[i];

        if (words[i].symfile != entry->symfile || words[i].symfile_size != entry->symfile_size ||
            hash_bytes(bytes[i], header_bytes(entry->symfile_size)) != entry->hash)
            return false;
    }
    return code->newest_count == NEWEST && first == code->first_entry;
}

/* Collect the entries from `first` on that are not yet known, newest first. The list is newest
 * first, so all entries after a known one are known too. The NEWEST entries are always compared. */
static size_t collect_new(struct code *code, uint64_t first, struct new_entry **ret)
{
    struct new_entry *entries = NULL;
    struct effort effort = effort_of(ENTRIES_MAX, COLLECT_MS_MAX);
    size_t count = 0, room = 0, seen = 0;
    uint64_t landmark = 0; /* an entry passed before; its return means that the list is a ring */

    for (uint64_t at = first; at && at != landmark; seen++) {
        struct new_entry new = {.address = at};
        bool known;

        if (!effort_step(&effort)) {
            code->out_of_time = seen < ENTRIES_MAX;
            break;
        }
        if ((seen & (seen - 1)) == 0)
            landmark = at;
        if (!gdb_jit_read_entry(code->vm->memory, at, &new.entry))
            break;
        known = is_known(code, at, &new.entry);
        if (known && seen >= NEWEST)
            break;
        at = new.entry.next;
        if (!read_new(code, &new))
            continue;
        if (seen < NEWEST)
            note_newest(code, &new);
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
        else
            code->out_of_time = true;
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

    if (began < code->rest_until || begins_as_before(code))
        return 0;
    if (!memory_read_u64(code->vm->memory, code->vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY,
                         &first))
        return error_set(error, ERROR_NO_PROCESS, "the VM's list of loaded code can't be read");
    code->out_of_time = false;
    code->newest_count = 0;
    count = collect_new(code, first, &entries);
    took = clock_ns(CLOCK_MONOTONIC) - began;
    changed = add_entries(code, entries, count);
    if (changed) {
        code->epoch++;
        address_map_clear(code->call_classes);
    }
    code->first_entry = first;
    if (code->out_of_time)
        log_decision("code", "the list of loaded code was read in part: the limit of CPU time for "
                             "it is used up");
    if (took > LONG_REFRESH_NS)
        code->rest_until = began + REST * took;
    return 0;
}

size_t code_refresh_forget(struct code *code, uint64_t now)
{
    struct code_module **link = &code->retired;
    size_t kept = 0, count = 0;

    for (; *link && now - (*link)->retired_ns < RETIRED_NS && kept < RETIRED_MAX; kept++)
        link = &(*link)->next_retired;
    while (*link) { /* newest first: all others are older */
        struct code_module *module = *link;

        *link = module->next_retired;
        code->parsed_bytes -= parsed_bytes(module);
        code_refresh_module_free(module);
        count++;
    }
    if (count)
        code->epoch++;
    return count;
}
