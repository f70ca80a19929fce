// SPDX-License-Identifier: Apache-2.0
#include "output/flame_prof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/changes/metric_changes.h"
#include "util/alloc.h"

struct flame_prof {
    const struct profile *profile;
    struct metric_changes *changes[METRICS];
};

struct flame_prof *flame_prof_new(const struct profile *profile)
{
    struct flame_prof *flame_prof = xcalloc(1, sizeof(*flame_prof));

    flame_prof->profile = profile;
    for (int i = 0; i < METRICS; i++)
        flame_prof->changes[i] = metric_changes_new(profile, (enum metric)i);
    return flame_prof;
}

void flame_prof_free(struct flame_prof *flame_prof)
{
    if (!flame_prof)
        return;
    for (int i = 0; i < METRICS; i++)
        metric_changes_free(flame_prof->changes[i]);
    free(flame_prof);
}

static void write_metric(struct flame_prof *flame_prof, FILE *file, const struct sample *sample,
                         enum metric metric)
{
    struct sample change;

    if (!metrics_know(&sample->metrics, metric))
        return;
    metric_changes_apply(flame_prof->changes[metric], sample, &change);
    fprintf(file, "\tmetric_erlang_%s: %" PRIu64 ", %s%" PRIu64, metric_flame_prof_name(metric),
            sample->metrics.values[metric], change.flags & SAMPLE_RELEASE ? "-" : "",
            change.change);
}

/* Write status and pid. The pid has no brackets, because FlameScope does not handle them. */
static void write_process(const struct flame_prof *flame_prof, FILE *file,
                          const struct sample *sample)
{
    const char *pid;
    size_t size;

    if (!sample->process) {
        fputs("no process\t0.0.0", file);
        return;
    }
    pid = profile_text(flame_prof->profile,
                       profile_get_process(flame_prof->profile, sample->process)->pid);
    pid += *pid == '<';
    size = strcspn(pid, ">");
    fprintf(file, "%s\t%.*s", profile_status_name(sample->status), (int)size, pid);
}

void flame_prof_line(struct flame_prof *flame_prof, FILE *file, const struct sample *sample,
                     uint64_t micros, const char *event)
{
    write_process(flame_prof, file, sample);
    fprintf(file, " [%03u] %" PRIu64 ".%06u: %s:", sample->cpu, micros / 1000000,
            (unsigned)(micros % 1000000), event);
    for (int i = 0; sample->process && i < METRICS; i++)
        write_metric(flame_prof, file, sample, (enum metric)i);
    fputc('\n', file);
}
