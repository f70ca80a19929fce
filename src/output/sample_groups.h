// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of one event that look the same and are of the same process, in the same status, on the
 * same thread: how much they count together, by all that samples of the event can count. For
 * formats that tell who ran beside the stack, as labels.
 */
#pragma once

#include "output/weight.h"
#include "profile/root_frame.h"
#include "util/intern.h"

struct sample_group {
    view_stack_id stack;
    struct root_key who;
};

struct sample_groups {
    struct output_source source;
    struct weight weights[WEIGHTS_MAX];
    size_t weight_count;
    size_t asked; /* index of the weight that is asked for */
    struct intern keys;
    uint64_t *sums; /* weight_count of each group */
    size_t room;    /* of groups in it */
};

void sample_groups_init(struct sample_groups *groups, const struct output_source *source);
void sample_groups_free(struct sample_groups *groups);
void sample_groups_add(struct sample_groups *groups, const struct sample *sample);

/* Ids of all groups, 1..keys.count, those of the same stack together; to be freed. */
uint32_t *sample_groups_by_stack(const struct sample_groups *groups);

static inline const struct sample_group *sample_group_get(const struct sample_groups *groups,
                                                          uint32_t id)
{
    return intern_get(&groups->keys, id);
}

static inline const uint64_t *sample_group_sums(const struct sample_groups *groups, uint32_t id)
{
    return groups->sums + (id - 1) * groups->weight_count;
}

/* Pass what is known of who ran to `each`: "pid", "name", "status", and of which thread,
 * "scheduler". */
void sample_group_labels(const struct sample_groups *groups, const struct root_key *who,
                         void (*each)(void *context, const char *key, const struct buffer *text),
                         void *context);
