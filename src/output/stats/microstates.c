// SPDX-License-Identifier: Apache-2.0
#include "output/stats/microstates.h"

#include <inttypes.h>

static void put_ms(FILE *file, const char *key, uint64_t ns)
{
    fprintf(file, "\"%s\": %" PRIu64 ".%03u", key, ns / 1000000, (unsigned)(ns / 1000 % 1000));
}

static uint32_t pid_of(const struct profile *profile, target_id target)
{
    return target ? profile_get_target(profile, target)->pid : 0;
}

static void put_row(FILE *file, const struct profile *profile, const struct microstate_row *row)
{
    fprintf(file,
            "{\"pid\": %u, \"type\": \"%s\", \"id\": %u, \"tid\": %u, \"samples\": %" PRIu64 ", ",
            pid_of(profile, row->target), thread_type_name(row->type), row->number, row->tid,
            row->samples);
    put_ms(file, "span_ms", row->span_ns);
    fputs(", ", file);
    put_ms(file, "sampled_ms", row->sampled_ns);
    fputs(", ", file);
    if (row->counted) {
        put_ms(file, "cpu_ms", row->cpu_ns);
        fputs(", ", file);
        put_ms(file, "no_cpu_ms", row->wait_ns);
        if (row->cpu_ns)
            fprintf(file, ", \"sampled_ratio\": %.4f",
                    (double)row->sampled_ns / (double)row->cpu_ns);
    } else {
        fputs("\"cpu_ms\": null, \"no_cpu_ms\": null", file);
    }
    fputs(",\n     \"states_ms\": {", file);
    for (int i = 0; i < MICROSTATE_COUNT; i++) {
        if (i)
            fputs(", ", file);
        put_ms(file, microstate_name(i), row->ns[i]);
    }
    fputs("}}", file);
}

void stats_put_microstates(FILE *file, const struct profile *profile,
                           const struct microstate_row *rows, size_t count)
{
    fputs("  \"microstates\": [", file);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n    " : "\n    ", file);
        put_row(file, profile, &rows[i]);
    }
    fputs(count ? "\n  ],\n" : "],\n", file);
}
