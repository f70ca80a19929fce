// SPDX-License-Identifier: Apache-2.0
#include "symbol/processes_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beam/process_info.h"
#include "beam/process_table.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    CACHED_MAX = 1 << 18,
    LEADERS_MAX = 1 << 12,
    DOUBTS_MAX = 10,          /* readings with less than the one before, until they are believed */
    PROCESS_BYTES_MAX = 1024, /* a Process struct has 736 to 792 bytes */
    DEPTH_MAX = 64,           /* of the chain of parents to read for a process */
    NAME_MAX_BYTES = 1024,    /* an atom has at most 255 characters */
};
static const uint64_t DOUBTED_AGE = 100000000;       /* ns; then it is read again */
static const uint64_t AT_REST_MAX_AGE = 60000000000; /* ns; of processes that have not run since */

struct cached_process {
    process_id id;
    bool at_rest;
    uint64_t reg, dictionary, group_leader; /* words of the struct that show changes */
    uint64_t reds;                          /* grow each time that the process runs */
    uint64_t read_at;
    unsigned int doubts; /* readings in a row that were not believed */
};

/* A group leader. If it is the master of an application, it stays the master of that
 * application. */
struct leader {
    string_id application; /* 0: none known */
    uint64_t read_at;
};

struct process_cache {
    struct vm *vm;
    struct atoms *atoms;
    const struct name_keys *keys;
    struct profile *profile;
    target_id target;
    uint64_t max_age; /* ns */
    struct pid_encoding encoding;
    struct address_map *by_pid; /* pid term -> index in entries */
    struct cached_process entries[CACHED_MAX];
    struct address_map *by_leader; /* pid term -> index in leaders */
    struct leader leaders[LEADERS_MAX];
    unsigned int depth; /* of the parent that is being read */
};

static process_id find(struct process_cache *cache, uint64_t pid, uint64_t time, uint64_t max_age);

struct process_cache *process_cache_new(struct vm *vm, struct atoms *atoms,
                                        const struct name_keys *keys, struct profile *profile,
                                        target_id target, struct error *error)
{
    struct process_cache *cache = xcalloc(1, sizeof(*cache));

    cache->vm = vm;
    cache->atoms = atoms;
    cache->keys = keys;
    cache->profile = profile;
    cache->target = target;
    cache->max_age = 1000000000;
    cache->by_pid = address_map_new(CACHED_MAX);
    cache->by_leader = address_map_new(LEADERS_MAX);
    if (pid_encoding_read(vm, &cache->encoding, error) == 0)
        return cache;
    process_cache_free(cache);
    return NULL;
}

void process_cache_free(struct process_cache *cache)
{
    if (!cache)
        return;
    address_map_free(cache->by_pid);
    address_map_free(cache->by_leader);
    free(cache);
}

void process_cache_move(struct process_cache *cache, struct profile *profile, target_id target)
{
    cache->profile = profile;
    cache->target = target;
    address_map_clear(cache->by_pid);
    address_map_clear(cache->by_leader);
}

void process_cache_set_pace(struct process_cache *cache, uint64_t ns)
{
    cache->max_age = ns;
}

static string_id text_or_none(struct process_cache *cache, const char *text)
{
    return text[0] ? profile_string_z(cache->profile, text) : 0;
}

static struct leader *leader_of(struct process_cache *cache, uint64_t pid)
{
    bool is_new;
    struct leader *leader = &cache->leaders[address_map_place(cache->by_leader, pid, &is_new)];

    if (is_new)
        *leader = (struct leader){0};
    return leader;
}

static string_id application_of(struct process_cache *cache, uint64_t group_leader, uint64_t time)
{
    struct leader *leader;
    char name[NAME_MAX_BYTES];

    if (!group_leader)
        return 0;
    leader = leader_of(cache, group_leader);
    if (leader->application || (leader->read_at && time < leader->read_at + cache->max_age))
        return leader->application;
    leader->read_at = time;
    if (process_info_application(cache->vm, cache->atoms, &cache->encoding, group_leader, name,
                                 sizeof(name)))
        leader->application = text_or_none(cache, name);
    return leader->application;
}

/* The chain of ancestors. The nearest ancestor is its end. */
static ancestor_id ancestors_of(struct process_cache *cache, const struct process_info *info)
{
    ancestor_id id = 0;

    for (uint32_t i = info->ancestor_count; i > 0; i--) {
        uint64_t term = info->ancestors[i - 1];
        const char *name = atom_text(cache->atoms, term);
        char pid[48];

        if (name)
            name = atom_shown(name);
        else if (pid_encoding_format(&cache->encoding, term, pid, sizeof(pid)))
            name = pid;
        if (name)
            id = profile_ancestor(cache->profile, id, text_or_none(cache, name));
    }
    return id;
}

/* A parent may be as old as a process that has not run since it was read. */
static process_id parent_of(struct process_cache *cache, uint64_t pid, uint64_t time)
{
    process_id id;

    if (!pid || cache->depth == DEPTH_MAX)
        return 0;
    cache->depth++;
    id = find(cache, pid, time, AT_REST_MAX_AGE);
    cache->depth--;
    return id;
}

static process_id read_process(struct process_cache *cache, uint64_t address, const uint8_t *bytes,
                               uint64_t time)
{
    struct process_info info;
    struct process_entry entry = {.target = cache->target};

    if (!process_info_read(cache->vm, cache->atoms, &cache->encoding, cache->keys, address, bytes,
                           &info))
        return 0;
    entry.identity = info.id;
    entry.pid = text_or_none(cache, info.pid);
    entry.name = text_or_none(cache, info.name);
    entry.label = text_or_none(cache, info.label);
    entry.label_is_detail = info.label_is_detail;
    entry.initial_call = text_or_none(cache, info.initial_call);
    entry.application = application_of(cache, info.group_leader, time);
    entry.parent = parent_of(cache, info.parent, time);
    entry.ancestors = ancestors_of(cache, &info);
    return profile_process(cache->profile, &entry);
}

static struct cached_process *entry_of(struct process_cache *cache, uint64_t pid)
{
    bool is_new;
    struct cached_process *entry = &cache->entries[address_map_place(cache->by_pid, pid, &is_new)];

    if (is_new)
        *entry = (struct cached_process){0};
    return entry;
}

/* True if proc_lib has not yet written the real initial call. It soon will. */
static bool is_starting(const struct process_cache *cache, process_id id)
{
    const struct process_entry *entry = profile_get_process(cache->profile, id);

    return !strncmp(profile_text(cache->profile, entry->initial_call), "proc_lib:init_p/", 16);
}

static uint64_t leader_word(const struct process_cache *cache, const uint8_t *bytes)
{
    int32_t at = cache->vm->layout.process_group_leader;

    return at < 0 ? 0 : layout_word(bytes, at);
}

static bool is_fresh(const struct cached_process *cached, uint64_t time, uint64_t max_age)
{
    return cached->id && cached->read_at && time < cached->read_at + max_age;
}

static uint32_t state_of(const struct process_cache *cache, const uint8_t *bytes)
{
    uint32_t state;

    memcpy(&state, bytes + cache->vm->layout.process_state, sizeof(state));
    return state;
}

/* True if `known` is still valid. A process that has not run since cannot have changed its label.
 * Only other processes can have renamed it or its parents, so its entry is valid for longer. */
static bool is_same(const struct process_cache *cache, const struct cached_process *known,
                    const struct cached_process *now)
{
    bool rested = known->at_rest && now->at_rest && known->reds == now->reds;

    return is_fresh(known, now->read_at, rested ? AT_REST_MAX_AGE : cache->max_age) &&
           known->reg == now->reg && known->dictionary == now->dictionary &&
           known->group_leader == now->group_leader;
}

/* True if `now` lacks names that `before` has. A collection moves them, and a process can collect
 * while it is read. */
static bool has_less(const struct process_cache *cache, process_id before, process_id now)
{
    const struct process_entry *had = profile_get_process(cache->profile, before),
                               *has = profile_get_process(cache->profile, now);

    return (had->label && !has->label) || (had->ancestors && !has->ancestors) ||
           (had->initial_call != has->initial_call && !is_starting(cache, before));
}

/* Keep what is known of a process if a reading has less. It is read again soon. */
static void doubt(const struct process_cache *cache, const struct cached_process *known,
                  struct cached_process *read)
{
    if (!known->id || !read->id || read->at_rest || known->reg != read->reg ||
        known->dictionary != read->dictionary || known->doubts == DOUBTS_MAX ||
        !has_less(cache, known->id, read->id))
        return;
    read->id = known->id;
    read->doubts = known->doubts + 1;
    read->read_at -= cache->max_age - DOUBTED_AGE;
}

process_id process_cache_get(struct process_cache *cache, uint64_t address, const uint8_t *bytes,
                             uint64_t time)
{
    const struct layout *layout = &cache->vm->layout;
    uint64_t pid = layout_word(bytes, layout->process_id);
    struct cached_process read = {
        .at_rest = !process_info_is_running(state_of(cache, bytes)),
        .reg = layout_word(bytes, layout->process_reg),
        .dictionary = layout_word(bytes, layout->process_dictionary),
        .group_leader = leader_word(cache, bytes),
        .reds = layout_word(bytes, layout->process_reds),
        .read_at = time,
    };
    const struct cached_process known = *entry_of(cache, pid);

    if (is_same(cache, &known, &read))
        return known.id;
    read.id = read_process(cache, address, bytes, time);
    doubt(cache, &known, &read);
    if (read.id && (is_starting(cache, read.id) || cache->depth == DEPTH_MAX))
        read.read_at = 0;
    *entry_of(cache, pid) = read; /* reading its parents may have evicted its entry */
    return read.id;
}

/* An entry without names. It is not cached, because the next look-up may find names. */
static process_id nameless(struct process_cache *cache, uint64_t pid)
{
    struct process_entry entry = {.target = cache->target, .identity = pid};
    char text[48];

    if (!pid_encoding_format(&cache->encoding, pid, text, sizeof(text)))
        return 0;
    entry.pid = text_or_none(cache, text);
    return profile_process(cache->profile, &entry);
}

static process_id find(struct process_cache *cache, uint64_t pid, uint64_t time, uint64_t max_age)
{
    const struct layout *layout = &cache->vm->layout;
    size_t size = (size_t)layout->sizeof_process;
    uint8_t bytes[PROCESS_BYTES_MAX];
    bool seen;
    uint64_t at, address;

    seen = address_map_get(cache->by_pid, pid, &at) && cache->entries[at].id;
    if (seen && is_fresh(&cache->entries[at], time, max_age))
        return cache->entries[at].id;
    address = process_table_at(cache->vm, pid_encoding_index(&cache->encoding, pid));
    if (!address || size > sizeof(bytes) || !memory_read(cache->vm->memory, address, bytes, size) ||
        layout_word(bytes, layout->process_id) != pid)
        return seen ? cache->entries[at].id : nameless(cache, pid);
    return process_cache_get(cache, address, bytes, time);
}

process_id process_cache_find(struct process_cache *cache, uint64_t pid, uint64_t time)
{
    return find(cache, pid, time, cache->max_age);
}
