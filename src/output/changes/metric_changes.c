// SPDX-License-Identifier: Apache-2.0
#include "output/changes/changes.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/intern.h"

/* A process keeps its identity when its name changes. */
struct change_key {
    uint64_t identity;
    target_id target;
    event_id event;
};

struct metric_changes {
    const struct profile *profile;
    enum metric metric;
    struct intern keys;
    uint64_t *last; /* last values, by key id - 1 */
    uint32_t capacity;
};

struct metric_changes *metric_changes_new(const struct profile *profile, enum metric metric)
{
    struct metric_changes *changes = xcalloc(1, sizeof(*changes));

    changes->profile = profile;
    changes->metric = metric;
    intern_init(&changes->keys, sizeof(struct change_key), sizeof(struct change_key));
    return changes;
}

void metric_changes_free(struct metric_changes *changes)
{
    if (!changes)
        return;
    intern_free(&changes->keys);
    free(changes->last);
    free(changes);
}

/* Store a value, and return the previous one in *ret_before. False if there is none. */
static bool exchange(struct metric_changes *changes, const struct sample *sample, uint64_t value,
                     uint64_t *ret_before)
{
    const struct process_entry *process = profile_get_process(changes->profile, sample->process);
    struct change_key key = {process->identity, process->target, sample->event};
    uint32_t known = changes->keys.count, id = intern_add(&changes->keys, &key);

    if (id > changes->capacity) {
        changes->capacity = changes->keys.capacity;
        changes->last = xreallocarray(changes->last, changes->capacity, sizeof(*changes->last));
    }
    *ret_before = id > known ? 0 : changes->last[id - 1];
    changes->last[id - 1] = value;
    return id <= known;
}

void metric_changes_apply(struct metric_changes *changes, const struct sample *sample,
                          struct sample *ret_sample)
{
    uint64_t now, before;

    *ret_sample = *sample;
    if (!sample->process || !metrics_know(&sample->metrics, changes->metric))
        return;
    now = sample->metrics.values[changes->metric];
    if (!exchange(changes, sample, now, &before))
        before = now;
    ret_sample->change = now > before ? now - before : before - now;
    if (now != before)
        ret_sample->flags |= now > before ? SAMPLE_GROWTH : SAMPLE_RELEASE;
}
