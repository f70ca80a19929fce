// SPDX-License-Identifier: Apache-2.0
#include "output/html/html_internal.h"

#include "output/summary/summary_text.h"
#include "output/json/json.h"
#include "profile/row_interval.h"

static void put_string(struct json *json, const char *key, const struct profile *profile,
                       string_id id)
{
    json_text(json, key, profile_text(profile, id));
}

/* ---- what was recorded ---- */

static void put_losses(struct json *json, const uint64_t losses[LOSS_COUNT])
{
    json_open(json, "losses", '[');
    for (int i = 0; i < LOSS_COUNT; i++) {
        if (!losses[i])
            continue;
        json_open(json, NULL, '{');
        json_text(json, "name", profile_loss_name(i));
        json_text(json, "sentence", profile_loss_sentence(i));
        json_number(json, "count", losses[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_totals(struct json *json, const struct recording_totals *totals)
{
    json_open(json, "totals", '{');
    json_number(json, "samples", totals->samples);
    json_number(json, "erlangSamples", totals->erlang_samples);
    json_number(json, "completeStacks", totals->complete_stacks);
    json_number(json, "truncatedStacks", totals->truncated_stacks);
    json_number(json, "frames", totals->frames);
    json_number(json, "erlangFrames", totals->erlang_frames);
    json_number(json, "unknownErlangFrames", totals->unknown_erlang_frames);
    json_number(json, "unknownNativeFrames", totals->unknown_native_frames);
    json_number(json, "leftOut", totals->left_out);
    json_number(json, "otherEvents", totals->of_other_events);
    json_number(json, "attachNs", totals->attach_ns);
    json_number(json, "profilerCpuNs", totals->profiler_cpu_ns);
    json_number(json, "peakRssKb", totals->peak_rss_kb);
    json_number(json, "cpuSampledNs", totals->cpu_sampled_ns);
    json_number(json, "cpuAccountedNs", totals->cpu_accounted_ns);
    json_close(json, '}');
}

static void put_account(struct json *json, const struct comparison_side *part)
{
    struct buffer text = {0};

    cpu_account_text(&part->header, &part->totals, &text);
    buffer_put(&text, "", 1);
    json_text(json, "cpuAccount", text.data);
    buffer_free(&text);
}

static void put_part(struct json *json, const struct comparison_side *part)
{
    const struct recording_header *header = &part->header;

    json_open(json, NULL, '{');
    json_text(json, "name", part->name);
    json_number(json, "from", part->from_ms);
    json_number(json, "to", part->to_ms);
    json_number(json, "startRealtime", header->start_realtime / 1000000);
    json_text(json, "hostname", header->hostname);
    json_text(json, "kernel", header->kernel);
    json_text(json, "command", header->command);
    json_text(json, "occasion", header->trigger);
    json_number(json, "frequency", header->frequency);
    json_number(json, "cpus", header->cpus);
    json_text(json, "event", header->event);
    json_bool(json, "cut", part->totals.cut);
    put_account(json, part);
    put_losses(json, part->totals.losses);
    put_totals(json, &part->totals);
    json_close(json, '}');
}

/* Return the selected part of a recording that is not compared. A recording that was cut can have
 * samples after its newest totals. */
static struct comparison_side whole(const struct output_source *source,
                                    const struct recording_totals *totals,
                                    const struct html_samples *samples)
{
    const struct selection_options *selection = source->selection;
    struct comparison_side part = {.name = "", .header = *source->header, .totals = *totals};

    part.to_ms = comparison_recording_ms(source->header, totals);
    if (selection && selection->has_end && selection->to_ns / 1000000 < part.to_ms)
        part.to_ms = (selection->to_ns + 999999) / 1000000;
    if (selection)
        part.from_ms = selection->from_ns / 1000000;
    if (samples->rows.count && samples->last_ms >= part.to_ms)
        part.to_ms = samples->last_ms + 1;
    if (part.from_ms > part.to_ms)
        part.from_ms = part.to_ms;
    return part;
}

static void put_parts(struct json *json, const struct output_source *source,
                      const struct recording_totals *totals, const struct html_samples *samples)
{
    const struct comparison *comparison = source->comparison;
    struct comparison_side part;

    json_bool(json, "compares", comparison != NULL);
    json_open(json, "parts", '[');
    if (comparison) {
        put_part(json, &comparison->sides[0]);
        put_part(json, &comparison->sides[1]);
    } else {
        part = whole(source, totals, samples);
        put_part(json, &part);
    }
    json_close(json, ']');
}

static void put_targets(struct json *json, const struct profile *profile)
{
    json_open(json, "targets", '[');
    for (target_id id = 1; id <= profile_counts(profile).targets; id++) {
        const struct target_entry *target = profile_get_target(profile, id);

        json_open(json, NULL, '{');
        json_number(json, "pid", target->pid);
        put_string(json, "node", profile, target->node);
        put_string(json, "host", profile, target->host);
        put_string(json, "otpRelease", profile, target->otp_release);
        put_string(json, "erts", profile, target->erts);
        put_string(json, "flavor", profile, target->flavor);
        put_string(json, "executable", profile, target->executable);
        put_string(json, "container", profile, target->container);
        json_number(json, "schedulers", target->schedulers);
        json_number(json, "processes", target->processes);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- events ---- */

static void put_summary(struct json *json, const struct event_summary *summary, uint32_t values)
{
    if (!summary) {
        json_null(json, NULL);
        return;
    }
    json_open(json, NULL, '{');
    json_number(json, "hits", summary->hits);
    json_number(json, "lost", summary->lost);
    json_number(json, "spanNs", summary->span_ns);
    json_number(json, "coveredNs", summary->covered_ns);
    json_number(json, "windows", summary->windows);
    json_open(json, "sums", '[');
    for (uint32_t i = 0; i < values; i++)
        json_number(json, NULL, summary->sums[i]);
    json_close(json, ']');
    json_open(json, "errors", '[');
    for (uint32_t i = 0; i < values; i++) {
        if (summary->errors[i] == EVENT_ERROR_UNKNOWN)
            json_null(json, NULL);
        else
            json_number(json, NULL, summary->errors[i]);
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* Write the summary of each part of the recording. */
static void put_summaries(struct json *json, const struct output_source *source, event_id id)
{
    const struct event_entry *event = profile_get_event(source->profile, id);
    const char *name = profile_text(source->profile, event->name);

    json_open(json, "summaries", '[');
    if (source->comparison) {
        for (int side = 0; side < 2; side++)
            put_summary(json, comparison_summary(&source->comparison->sides[side], name),
                        event->value_count);
    } else {
        put_summary(json, recording_get_summary(source->recording, id), event->value_count);
    }
    json_close(json, ']');
}

static void put_unit(struct json *json, const char *name, enum unit unit)
{
    json_open(json, NULL, '{');
    json_text(json, "name", name);
    json_text(json, "unit", profile_unit_name(unit));
    json_close(json, '}');
}

static void put_events(struct json *json, const struct output_source *source)
{
    const struct profile *profile = source->profile;

    json_open(json, "events", '[');
    for (event_id id = 1; id <= profile_counts(profile).events; id++) {
        const struct event_entry *event = profile_get_event(profile, id);

        if (!output_source_selects(source, id))
            continue;
        json_open(json, NULL, '{');
        put_string(json, "name", profile, event->name);
        json_open(json, "values", '[');
        for (uint32_t i = 0; i < event->value_count; i++)
            put_unit(json, profile_text(profile, event->values[i].name), event->values[i].unit);
        json_close(json, ']');
        put_summaries(json, source, id);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- what is selected, and names ---- */

static void put_range(struct json *json, const char *key, const struct comparison_side *side)
{
    json_open(json, key, '{');
    json_number(json, "from", side->from_ms);
    json_number(json, "to", side->to_ms);
    json_close(json, '}');
}

/* The page shows what has grown in side 1 ("range") against side 0 ("against"). */
static void put_comparison(struct json *json, const struct comparison *comparison)
{
    put_range(json, "range", &comparison->sides[1]);
    put_range(json, "against", &comparison->sides[0]);
    json_text(json, "per", comparison_per_name(comparison->per));
}

static void put_choice(struct json *json, const struct output_source *source)
{
    const struct view_options *view = view_get_options(source->view);
    const enum group_by *key = view->grouping.keys;

    json_open(json, "choice", '{');
    if (source->event)
        put_string(json, "event", source->profile,
                   profile_get_event(source->profile, source->event)->name);
    if (source->value)
        json_text(json, "weight", source->value);
    json_bool(json, "change", source->change);
    json_bool(json, "idle", source->keeps_idle);
    json_open(json, "groupBy", '[');
    for (; *key; key++)
        if (*key < GROUP_COUNT)
            json_text(json, NULL, group_by_name(*key));
    json_close(json, ']');
    json_bool(json, "foldRecursion", view->fold_recursion);
    if (source->comparison)
        put_comparison(json, source->comparison);
    json_close(json, '}');
}

static void put_names(struct json *json)
{
    json_open(json, "statuses", '[');
    for (int i = 0; i < STATUS_COUNT; i++)
        json_text(json, NULL, profile_status_name((enum process_status)i));
    json_close(json, ']');
    json_open(json, "activities", '[');
    for (int i = 0; i < ACTIVITY_COUNT; i++)
        json_text(json, NULL, profile_activity_name((enum activity)i));
    json_close(json, ']');
    json_open(json, "metrics", '[');
    for (int i = 0; i < METRICS; i++)
        put_unit(json, metric_name((enum metric)i), metric_unit((enum metric)i));
    json_close(json, ']');
    json_open(json, "nodeMetrics", '[');
    for (int i = 0; i < NODE_METRICS; i++)
        put_unit(json, node_metric_name((enum node_metric)i),
                 node_metric_unit((enum node_metric)i));
    json_close(json, ']');
}

static void put_moments(struct json *json, const struct output_source *source)
{
    const struct time_marks *marks = recording_get_marks(source->recording);
    uint64_t start = source->header->start_monotonic;

    json_open(json, "moments", '[');
    for (size_t i = 0; i < marks->count; i++) {
        uint64_t time = marks->list[i].time;

        json_open(json, NULL, '{');
        json_number(json, "time", time > start ? (time - start) / 1000000 : 0);
        put_string(json, "label", source->profile, marks->list[i].label);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Write the sizes of the tables, and the names and sizes of the columns. */
static void put_layout(struct json *json, const struct profile *profile,
                       const struct html_samples *samples, const struct html_columns *columns)
{
    struct profile_counts counts = profile_counts(profile);

    json_open(json, "counts", '{');
    json_number(json, "samples", samples->rows.count);
    json_number(json, "strings", counts.strings);
    json_number(json, "frames", counts.frames);
    json_number(json, "stacks", counts.stacks);
    json_number(json, "ancestors", counts.ancestors);
    json_number(json, "processes", counts.processes);
    json_number(json, "threads", counts.threads);
    json_number(json, "traces", samples->traces.listed);
    json_number(json, "tracesNotListed", samples->traces.keys.count - samples->traces.listed);
    json_close(json, '}');
    json_open(json, "columns", '[');
    for (size_t i = 0; i < columns->count; i++) {
        const struct html_column *column = columns->list[i];

        json_open(json, NULL, '[');
        json_text(json, NULL, column->name);
        json_number(json, NULL, column->packed.size);
        json_number(json, NULL, column->size);
        json_close(json, ']');
    }
    json_close(json, ']');
}

void html_header_write(FILE *file, const struct output_source *source,
                       const struct recording_totals *totals, const struct html_samples *samples,
                       const struct html_columns *columns)
{
    struct json json = {file, .in_script = true};

    json_open(&json, NULL, '{');
    json_text(&json, "version", source->header->version);
    json_number(&json, "rowWindowNs", ROW_WINDOW_NS);
    put_parts(&json, source, totals, samples);
    put_choice(&json, source);
    put_moments(&json, source);
    put_names(&json);
    put_targets(&json, source->profile);
    put_events(&json, source);
    put_layout(&json, source->profile, samples, columns);
    json_close(&json, '}');
}
