// SPDX-License-Identifier: Apache-2.0
#include "calls/call_match.h"

#include <string.h>

#include "beam/term.h"

struct match_maker {
    const struct match_pattern *pattern;
    const struct argument_names *names;
    struct wire_match *match;
    uint32_t slots, byte_rows; /* that are taken */
    struct {
        const struct match_part *part;
        uint32_t slot;
    } maps[MATCH_PARTS]; /* whose steps come last */
    size_t map_count;
    struct error *error;
};

static int too_large(const struct match_maker *maker, const char *what, int most)
{
    return error_set(maker->error, ERROR_USAGE,
                     "a pattern of %s:%s has more than %d %s: write _ for some",
                     maker->pattern->name.module, maker->pattern->name.function, most, what);
}

/* Append a step. NULL with error if there are too many. */
static struct wire_match_step *add_step(struct match_maker *maker, enum wire_match_kind kind,
                                        uint32_t slot)
{
    struct wire_match_step *step;

    if (maker->match->count == WIRE_MATCH_STEPS) {
        too_large(maker, "parts to compare", WIRE_MATCH_STEPS);
        return NULL;
    }
    step = &maker->match->steps[maker->match->count++];
    *step = (struct wire_match_step){.kind = (__u8)kind, .slot = (__u8)slot};
    return step;
}

static int add_equal(struct match_maker *maker, uint32_t slot, uint64_t term)
{
    struct wire_match_step *step = add_step(maker, WIRE_MATCH_EQUAL, slot);

    if (!step)
        return -1;
    step->value = term;
    return 0;
}

static int add_atom(struct match_maker *maker, uint32_t slot, const char *text)
{
    uint64_t term = atom_find(maker->names->atoms, text);

    if (!term)
        return error_set(maker->error, ERROR_USAGE, "the VM has no atom '%s': no call can match",
                         text);
    return add_equal(maker, slot, term);
}

static int add_pid(struct match_maker *maker, uint32_t slot, const struct match_part *part)
{
    uint64_t term = pid_encoding_term(maker->names->encoding, part->pid.number, part->pid.serial);

    if (!term)
        return error_set(maker->error, ERROR_USAGE, "no pid is <0.%llu.%llu>: no call can match",
                         (unsigned long long)part->pid.number,
                         (unsigned long long)part->pid.serial);
    return add_equal(maker, slot, term);
}

/* Append a step that compares bytes. Return where they go, or NULL with error. */
static void *add_bytes(struct match_maker *maker, enum wire_match_kind kind, uint32_t slot,
                       size_t size)
{
    struct wire_match_step *step = add_step(maker, kind, slot);

    if (!step)
        return NULL;
    if (maker->byte_rows == WIRE_MATCH_BYTE_ROWS) {
        too_large(maker, "binaries, floats and large integers", WIRE_MATCH_BYTE_ROWS);
        return NULL;
    }
    step->value = maker->byte_rows++;
    step->size = (__u8)size;
    return maker->match->bytes[step->value];
}

static int add_binary(struct match_maker *maker, uint32_t slot, const struct match_part *part)
{
    void *bytes = add_bytes(maker, part->is_prefix ? WIRE_MATCH_PREFIX : WIRE_MATCH_BINARY, slot,
                            part->count);

    if (!bytes)
        return -1;
    memcpy(bytes, part->bytes, part->count);
    return 0;
}

static int add_number(struct match_maker *maker, uint32_t slot, const struct match_part *part)
{
    uint64_t kind = part->kind == MATCH_FLOAT ? FLOAT_SUBTAG
                    : part->is_negative       ? NEG_BIG_SUBTAG
                                              : POS_BIG_SUBTAG;
    uint64_t *words = add_bytes(maker, WIRE_MATCH_NUMBER, slot, (1 + part->count) * sizeof(*words));

    if (!words)
        return -1;
    words[0] = (uint64_t)part->count << HEADER_ARITY_OFFS | kind;
    memcpy(words + 1, part->words, part->count * sizeof(*words));
    return 0;
}

/* The steps of a map may search long. They are for calls that match otherwise. */
static int postpone(struct match_maker *maker, uint32_t slot, const struct match_part *part)
{
    maker->maps[maker->map_count].part = part;
    maker->maps[maker->map_count].slot = slot;
    maker->map_count++;
    return 0;
}

static int add_parts(struct match_maker *maker, uint16_t first, uint32_t slot);

/* A tuple or cell: its `count` parts get slots. */
static int add_contents(struct match_maker *maker, enum wire_match_kind kind, uint32_t slot,
                        uint32_t count, uint16_t first)
{
    struct wire_match_step *step = add_step(maker, kind, slot);
    uint32_t to = maker->slots;

    if (!step)
        return -1;
    if (to + count > WIRE_MATCH_SLOTS)
        return too_large(maker, "parts", WIRE_MATCH_SLOTS);
    step->to = (__u8)to;
    step->size = (__u8)count;
    maker->slots += count;
    return add_parts(maker, first, to);
}

static int add_part(struct match_maker *maker, const struct match_part *part, uint32_t slot)
{
    enum { CELL_WORDS = 2 };

    switch (part->kind) {
    case MATCH_ANY:
        return 0;
    case MATCH_ATOM:
        return add_atom(maker, slot, part->atom);
    case MATCH_SMALL:
        return add_equal(maker, slot, (uint64_t)part->value << TAG_IMMED1_SIZE | TAG_IMMED1_SMALL);
    case MATCH_PID:
        return add_pid(maker, slot, part);
    case MATCH_NIL:
        return add_equal(maker, slot, TAG_IMMED2_NIL);
    case MATCH_TUPLE:
        return add_contents(maker, WIRE_MATCH_TUPLE, slot, part->count, part->first);
    case MATCH_CONS:
        return add_contents(maker, WIRE_MATCH_LIST, slot, CELL_WORDS, part->first);
    case MATCH_BINARY:
        return add_binary(maker, slot, part);
    case MATCH_BIG:
    case MATCH_FLOAT:
        return add_number(maker, slot, part);
    case MATCH_MAP:
        return postpone(maker, slot, part);
    }
    return 0;
}

/* Parts that follow each other are in slots that follow each other. */
static int add_parts(struct match_maker *maker, uint16_t first, uint32_t slot)
{
    for (uint16_t id = first; id; id = maker->pattern->parts[id].next)
        if (add_part(maker, &maker->pattern->parts[id], slot++))
            return -1;
    return 0;
}

/* A pair of a map: the steps of its key, which has no map, then those of its value. */
static int add_pair(struct match_maker *maker, uint32_t slot, const struct match_part *key)
{
    struct wire_match_step *step = add_step(maker, WIRE_MATCH_PAIR, slot);
    uint32_t to = maker->slots;
    uint64_t first = maker->match->count;

    if (!step)
        return -1;
    if (to + 2 > WIRE_MATCH_SLOTS)
        return too_large(maker, "parts", WIRE_MATCH_SLOTS);
    maker->slots += 2;
    if (add_part(maker, key, to))
        return -1;
    if (maker->match->count - first > WIRE_MATCH_KEY_STEPS)
        return error_set(maker->error, ERROR_USAGE,
                         "a key of a map in the pattern of %s:%s has more than %d parts: leave out "
                         "this key",
                         maker->pattern->name.module, maker->pattern->name.function,
                         WIRE_MATCH_KEY_STEPS);
    step->to = (__u8)to;
    step->size = (__u8)(maker->match->count - first);
    return add_part(maker, &maker->pattern->parts[key->next], to + 1);
}

static int add_map(struct match_maker *maker, uint32_t slot, const struct match_part *map)
{
    const struct match_part *parts = maker->pattern->parts;

    if (!map->first)
        return add_step(maker, WIRE_MATCH_MAP, slot) ? 0 : -1;
    for (uint16_t key = map->first; key; key = parts[parts[key].next].next)
        if (add_pair(maker, slot, &parts[key]))
            return -1;
    return 0;
}

int call_match_make(const struct match_pattern *pattern, const struct argument_names *names,
                    struct wire_match *match, struct error *error)
{
    struct match_maker maker = {.pattern = pattern,
                                .names = names,
                                .match = match,
                                .slots = pattern->parts[0].count,
                                .error = error};

    *match = (struct wire_match){0};
    if (add_parts(&maker, pattern->parts[0].first, 0))
        return -1;
    for (size_t i = 0; i < maker.map_count; i++)
        if (add_map(&maker, maker.maps[i].slot, maker.maps[i].part))
            return -1;
    return 0;
}

/* The number of the function with this name; their count if there is none. */
static uint32_t number_of(const struct call_functions *functions, const struct function_name *name)
{
    uint32_t number = 0;

    while (number < functions->count && !function_name_matches(name, functions->of[number].symbol))
        number++;
    return number;
}

int call_match_set(struct call_counter *counter, const struct call_functions *functions,
                   const struct argument_names *names, const struct match_pattern *const *patterns,
                   size_t count, bool has_pattern[WIRE_CALL_FUNCTIONS], struct error *error)
{
    struct wire_match match;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = number_of(functions, &patterns[i]->name);

        if (number == functions->count)
            continue; /* call_functions_find() has found all names */
        if (has_pattern[number])
            return error_set(error, ERROR_USAGE, "'%s' has two patterns: give one for a function",
                             functions->of[number].symbol);
        has_pattern[number] = true;
        if (call_match_make(patterns[i], names, &match, error) ||
            call_counter_match(counter, number, &match, error))
            return -1;
    }
    return 0;
}
