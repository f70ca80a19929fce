// SPDX-License-Identifier: Apache-2.0
#include "native/cfi_rules.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "elf/requests.h"
#include "native/cfi_internal.h"
#include "native/elf_file.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/sorted.h"

/* The most ranges that are kept for a file (1 MB), and that one answer adds. A file that has more
 * loses all of them. */
enum { MOST_RANGES = 1 << 13, ANSWERED_MOST = 64 };

/* Addresses that have the same rule. Each request to the process that has the file costs two
 * switches of processes, and most samples have an address that was not seen before. */
struct rule_range {
    uint64_t start, end;   /* without `end` */
    struct cfi_rule *rule; /* NULL: none */
    bool is_followed;      /* the rule is of the code: there is no call-frame information */
};

struct known_rules {
    struct rule_range *ranges; /* by address; none overlaps another one */
    size_t count, room;
};

static void forget(struct known_rules *known)
{
    for (size_t i = 0; i < known->count; i++)
        free(known->ranges[i].rule);
    known->count = 0;
}

void known_rules_free(struct known_rules *known)
{
    if (!known)
        return;
    forget(known);
    free(known->ranges);
    free(known);
}

/* Return the rule if it can be applied; else free it. */
static struct cfi_rule *sound(struct cfi_rule *rule, size_t size)
{
    if (rule && cfi_rule_is_sound(rule, size))
        return rule;
    free(rule);
    return NULL;
}

/* Take a rule of an answer, malloc'ed, and an address where it holds. NULL if it can't be applied.
 */
static struct cfi_rule *take_rule(struct cursor *cursor, uint64_t *ret_pc)
{
    struct elf_rule head = {0};
    const void *bytes;
    struct cfi_rule *rule;

    cursor_copy(cursor, &head, sizeof(head));
    bytes = cursor_take(cursor, head.bytes, "a rule is cut off");
    if (!bytes)
        return NULL;
    *ret_pc = head.pc;
    rule = xmalloc(head.bytes + 1);
    memcpy(rule, bytes, head.bytes);
    return sound(rule, head.bytes);
}

/* Insert a range at `at`: from `pc` to the end of the rule or to the next range, or `pc` alone. */
static struct rule_range *insert(struct known_rules *known, size_t at, uint64_t pc,
                                 struct cfi_rule *rule)
{
    struct rule_range range = {.start = pc, .end = pc + 1, .rule = rule};
    struct rule_range *place;

    if (rule && rule->end > pc)
        range.end = rule->end;
    known->ranges = xgrow(known->ranges, &known->room, known->count, sizeof(*known->ranges));
    place = &known->ranges[at];
    if (at < known->count && place->start < range.end)
        range.end = place->start;
    memmove(place + 1, place, (known->count++ - at) * sizeof(*place));
    *place = range;
    return place;
}

/* Return the range that contains `pc`; NULL if none is known. */
static struct rule_range *find(const struct known_rules *known, uint64_t pc, size_t *ret_at)
{
    *ret_at = sorted_until(known->ranges, known->count, sizeof(*known->ranges), pc);
    if (*ret_at && pc < known->ranges[*ret_at - 1].end)
        return &known->ranges[*ret_at - 1];
    return NULL;
}

/* Keep the rules of an answer that are new. */
static void keep(struct known_rules *known, const struct buffer *answer)
{
    struct cursor cursor = cursor_over(answer->data, answer->size);

    for (int i = 0; cursor.at < cursor.end && !cursor.problem && i < ANSWERED_MOST; i++) {
        uint64_t pc = 0;
        struct cfi_rule *rule = take_rule(&cursor, &pc);
        size_t at;

        if (rule && !find(known, pc, &at))
            insert(known, at, pc, rule);
        else
            free(rule);
    }
}

/* Return the range that contains `pc`. */
static struct rule_range *range_of(struct elf_file *file, uint64_t pc)
{
    struct buffer answer = {0};
    struct rule_range *range;
    size_t at;

    if (!file->rules)
        file->rules = xcalloc(1, sizeof(*file->rules));
    range = find(file->rules, pc, &at);
    if (range)
        return range;
    elf_file_rules(file, pc, &answer);
    if (file->rules->count + ANSWERED_MOST > MOST_RANGES)
        forget(file->rules);
    keep(file->rules, &answer);
    buffer_free(&answer);
    range = find(file->rules, pc, &at);
    return range ? range : insert(file->rules, at, pc, NULL);
}

const struct cfi_rule *cfi_rules_find(struct elf_file *file, uint64_t pc, uint64_t next)
{
    struct rule_range *range = range_of(file, pc);

    if (!range->rule && !range->is_followed) {
        size_t size = 0;
        struct cfi_rule *rule = cfi_code_rule(file, next, &size);

        range->rule = sound(rule, size);
        range->is_followed = true;
    }
    return range->rule;
}

bool cfi_rules_cover(struct elf_file *file, uint64_t pc)
{
    const struct rule_range *range = range_of(file, pc);

    return range->rule && !range->is_followed;
}
