// SPDX-License-Identifier: Apache-2.0
#include "profile/metrics.h"

#include <string.h>

static const struct {
    const char *name;
    enum unit unit;
    const char *flame_prof;
} kinds[] = {
    [METRIC_REDUCTIONS] = {"reductions", UNIT_COUNT, "reductions"},
    [METRIC_MSGQ] = {"msgq", UNIT_COUNT, "message_queue_len"},
    [METRIC_MBUF] = {"mbuf", UNIT_WORDS, "mbuf_size"},
    [METRIC_HEAP] = {"heap", UNIT_WORDS, "total_heap_size"},
    [METRIC_STACK] = {"stack", UNIT_WORDS, "stack_size"},
    [METRIC_YOUNG] = {"young", UNIT_WORDS, "heap_block_size"},
    [METRIC_OLD] = {"old", UNIT_WORDS, "old_heap_block_size"},
    [METRIC_BIN_VHEAP] = {"bin_vheap", UNIT_WORDS, "bin_vheap_size"},
    [METRIC_MINOR_GCS] = {"minor_gcs", UNIT_COUNT, "minor_gcs"},
    [METRIC_MEMORY] = {"memory", UNIT_BYTES, "memory"},
    [METRIC_BINARIES] = {"binaries", UNIT_BYTES, "binary"},
    [METRIC_OLD_VHEAP] = {"bin_old_vheap", UNIT_WORDS, "bin_old_vheap_size"},
};
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == METRICS, "one each");

const char *metric_name(enum metric metric)
{
    return metric < METRICS ? kinds[metric].name : "unknown";
}

enum unit metric_unit(enum metric metric)
{
    return metric < METRICS ? kinds[metric].unit : UNIT_COUNT;
}

const char *metric_flame_prof_name(enum metric metric)
{
    return metric < METRICS ? kinds[metric].flame_prof : "unknown";
}

bool metric_find(const char *name, enum metric *metric)
{
    for (int i = 0; i < METRICS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *metric = (enum metric)i;
            return true;
        }
    }
    return false;
}
