// SPDX-License-Identifier: Apache-2.0
#include "output/stats/microstates.h"

static uint32_t pid_of(const struct profile *profile, target_id target)
{
    return target ? profile_get_target(profile, target)->pid : 0;
}

static void put_counted(struct json *json, const struct microstate_row *row)
{
    json_ms(json, "cpu_ms", row->cpu_ns);
    json_ms(json, "no_cpu_ms", row->wait_ns);
    if (row->cpu_ns)
        json_decimal(json, "sampled_ratio", (double)row->sampled_ns / (double)row->cpu_ns, 4);
}

static void put_row(struct json *json, const struct profile *profile,
                    const struct microstate_row *row)
{
    json_open(json, NULL, '{');
    json_number(json, "pid", pid_of(profile, row->target));
    json_text(json, "type", thread_type_name(row->type));
    json_number(json, "id", row->number);
    json_number(json, "tid", row->tid);
    json_number(json, "samples", row->samples);
    json_ms(json, "span_ms", row->span_ns);
    json_ms(json, "sampled_ms", row->sampled_ns);
    if (row->counted) {
        put_counted(json, row);
    } else {
        json_null(json, "cpu_ms");
        json_null(json, "no_cpu_ms");
    }
    json_open(json, "states_ms", '{');
    for (int i = 0; i < MICROSTATE_COUNT; i++)
        json_ms(json, microstate_name(i), row->ns[i]);
    json_close(json, '}');
    json_close(json, '}');
}

void stats_put_microstates(struct json *json, const struct profile *profile,
                           const struct microstate_row *rows, size_t count)
{
    json_open_lines(json, "microstates", '[');
    for (size_t i = 0; i < count; i++)
        put_row(json, profile, &rows[i]);
    json_close(json, ']');
}
