// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include "output/number_text.h"
#include "profile/events.h"

enum { QUEUES_MAX = 10 }; /* shown */

struct queue_key {
    target_id target;
    uint16_t kind;   /* enum scheduler_kind */
    uint16_t number; /* 0: shared by all of that kind */
};

void run_queues_init(struct run_queues *queues)
{
    *queues = (struct run_queues){0};
    intern_init(&queues->keys, sizeof(struct queue_key), sizeof(struct queue_key));
}

void run_queues_free(struct run_queues *queues)
{
    intern_free(&queues->keys);
    counts_free(&queues->turns);
    counts_free(&queues->delays);
    counts_free(&queues->samples);
}

void run_queues_add(struct run_queues *queues, const struct profile *profile,
                    const struct sample *sample, bool is_of_hit)
{
    const struct thread_entry *thread =
        sample->thread ? profile_get_thread(profile, sample->thread) : NULL;
    struct queue_key key;
    uint32_t id;

    if (!thread || thread->scheduler_kind == SCHEDULER_NONE)
        return;
    key = (struct queue_key){thread->target, thread->scheduler_kind, 0};
    if (key.kind == SCHEDULER_NORMAL)
        key.number = thread->scheduler_number;
    id = intern_add(&queues->keys, &key);
    counts_add(&queues->turns, id, sample->values[SCHED_COUNT]);
    counts_add(&queues->delays, id, sample->values[SCHED_DELAY]);
    counts_add(&queues->samples, id, !is_of_hit);
}

static void write_queue(FILE *file, const struct profile *profile, const struct queue_key *key,
                        uint64_t turns, uint64_t delay, uint64_t samples)
{
    static const char *const kinds[] = {
        [SCHEDULER_NORMAL] = "scheduler",
        [SCHEDULER_DIRTY_CPU] = "dirty cpu",
        [SCHEDULER_DIRTY_IO] = "dirty io",
    };
    char name[48] = "";
    int size = 0;

    if (profile_counts(profile).targets > 1 && key->target)
        size = snprintf(name, sizeof(name), "%u: ", profile_get_target(profile, key->target)->pid);
    size += snprintf(name + size, sizeof(name) - (size_t)size, "%s", kinds[key->kind]);
    if (key->number)
        snprintf(name + size, sizeof(name) - (size_t)size, " %u", key->number);
    fprintf(file, "  %-20s  %12s  %12s  %12s  %8s\n", name, number_text(turns).text,
            number_text_amount(delay, UNIT_NS).text,
            turns ? number_text_amount(delay / turns, UNIT_NS).text : "",
            number_text(samples).text);
}

void run_queues_write(FILE *file, const struct profile *profile, const struct run_queues *queues)
{
    struct count_of_id top[QUEUES_MAX];
    size_t count = counts_top(&queues->delays, top, QUEUES_MAX);

    if (count)
        fprintf(file, "\nrun queues\n  %-20s  %12s  %12s  %12s  %8s\n", "", "count", "delay",
                "average", "samples");
    for (size_t i = 0; i < count; i++)
        write_queue(file, profile, intern_get(&queues->keys, top[i].id),
                    queues->turns.of[top[i].id], top[i].count, queues->samples.of[top[i].id]);
}
