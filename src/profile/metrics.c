// SPDX-License-Identifier: Apache-2.0
#include "profile/metrics.h"

#include <string.h>

static const struct {
    const char *name;
    enum unit unit;
} kinds[] = {
    [METRIC_REDUCTIONS] = {"reductions", UNIT_COUNT},
    [METRIC_MSGQ] = {"msgq", UNIT_COUNT},
    [METRIC_MBUF] = {"mbuf", UNIT_WORDS},
    [METRIC_HEAP] = {"heap", UNIT_WORDS},
    [METRIC_STACK] = {"stack", UNIT_WORDS},
    [METRIC_YOUNG] = {"young", UNIT_WORDS},
    [METRIC_OLD] = {"old", UNIT_WORDS},
    [METRIC_BIN_VHEAP] = {"bin_vheap", UNIT_WORDS},
    [METRIC_MINOR_GCS] = {"minor_gcs", UNIT_COUNT},
    [METRIC_MEMORY] = {"memory", UNIT_BYTES},
    [METRIC_BINARIES] = {"binaries", UNIT_BYTES},
    [METRIC_OLD_VHEAP] = {"bin_old_vheap", UNIT_WORDS},
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
