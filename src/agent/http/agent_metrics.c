// SPDX-License-Identifier: Apache-2.0
#include "agent/http/agent_metrics.h"

#include <stddef.h>

#include "agent/http/node_metrics_text.h"
#include "profile/profile.h"

#define OF(field)         offsetof(struct agent_status, field)
#define OF_SERVICE(field) offsetof(struct service_status, field)
#define OF_TRIGGER(field) offsetof(struct trigger_count, field)

struct agent_metric {
    struct metric_family family;
    size_t field; /* in struct agent_status, service_status or trigger_count */
    double unit;  /* that the field counts in; 0: 1 */
};

static const struct agent_metric agent_metrics[] = {
    {{"beamflame_start_time_seconds", "gauge", "When the agent started, since 1970."},
     OF(started_at),
     0},
    {{"beamflame_nodes", "gauge", "VMs that are recorded."}, OF(nodes), 0},
    {{"beamflame_samples_total", "counter", "Samples that were recorded."}, OF(samples), 0},
    {{"beamflame_samples_lost_total", "counter",
      "Samples that were lost: the ring buffer was full."},
     OF(lost),
     0},
    {{"beamflame_recordings_total", "counter", "Recordings that are complete."}, OF(segments), 0},
    {{"beamflame_recording_paused", "gauge",
      "1 while nothing is recorded, because the spool can't be written; else 0."},
     OF(paused),
     0},
    {{"beamflame_unrecorded_seconds_total", "counter",
      "Time in which nothing was recorded: the configuration changed, or the spool could not be "
      "written."},
     OF(unrecorded_ns),
     1e-9},
    {{"beamflame_http_restarts_total", "counter", "Restarts of the process that answers HTTP."},
     OF(http_restarts),
     0},
    {{"beamflame_spool_bytes", "gauge", "Size of the recordings in the spool."},
     OF(spool_bytes),
     0},
    {{"beamflame_spool_recordings", "gauge", "Recordings in the spool."}, OF(spool_recordings), 0},
    {{"beamflame_recorder_cpu_seconds_total", "counter",
      "CPU time of the process that records, without the time of probes."},
     OF(cpu_ns),
     1e-9},
    {{"beamflame_recorder_resident_bytes", "gauge", "Memory of the process that records."},
     OF(resident),
     0},
    {{"beamflame_cpu_seconds_total", "counter",
      "CPU time of all processes of the agent, without the time of probes; 0: the kernel does not "
      "list them."},
     OF(all_cpu_ns),
     1e-9},
    {{"beamflame_memory_bytes", "gauge",
      "Memory of all processes of the agent, as it was at most a minute ago; what several share "
      "counts once (PSS). 0: the kernel does not list them."},
     OF(all_bytes),
     0},
    {{"beamflame_budget_ratio", "gauge",
      "Share of each VM's CPU time that probes may cost; 0: no event needs any."},
     OF(budget_ppm),
     1e-6},
};

static const struct agent_metric service_metrics[] = {
    {{"beamflame_push_requests_total", "counter", "Requests that the service has accepted."},
     OF_SERVICE(requests),
     0},
    {{"beamflame_push_profiles_total", "counter", "Profiles that the service has accepted."},
     OF_SERVICE(profiles),
     0},
    {{"beamflame_push_bytes_total", "counter", "Bytes of accepted requests."},
     OF_SERVICE(bytes),
     0},
    {{"beamflame_push_refused_total", "counter", "Profiles that the service has refused."},
     OF_SERVICE(refused),
     0},
    {{"beamflame_push_retries_total", "counter", "Requests that failed and are sent again."},
     OF_SERVICE(retries),
     0},
    {{"beamflame_push_unreadable_total", "counter",
      "Recordings that no profile could be made from."},
     OF_SERVICE(unreadable),
     0},
    {{"beamflame_push_dropped_total", "counter",
      "Recordings that left the spool before the service had them."},
     OF_SERVICE(dropped),
     0},
    {{"beamflame_push_restarts_total", "counter", "Restarts of the process that sends."},
     OF_SERVICE(restarts),
     0},
    {{"beamflame_push_waiting", "gauge", "Recordings in the spool that the service does not have."},
     OF_SERVICE(waiting),
     0},
    {{"beamflame_push_accepted_timestamp_seconds", "gauge",
      "When the service accepted a request last, since 1970; 0: never."},
     OF_SERVICE(accepted_at),
     0},
};

static const struct agent_metric trigger_metrics[] = {
    {{"beamflame_trigger_fired_total", "counter", "How often the trigger has fired at the VM."},
     OF_TRIGGER(fired),
     0},
    {{"beamflame_trigger_dropped_total", "counter",
      "Firings whose recordings were removed, because of max_kept or max_size."},
     OF_TRIGGER(dropped),
     0},
    {{"beamflame_trigger_left_out_total", "counter",
      "Recordings that the trigger could not keep: no room, or no rights."},
     OF_TRIGGER(left_out),
     0},
};

enum {
    TRIGGER_METRICS = sizeof(trigger_metrics) / sizeof(*trigger_metrics),
    AGENT_METRICS = sizeof(agent_metrics) / sizeof(*agent_metrics),
    SERVICE_METRICS = sizeof(service_metrics) / sizeof(*service_metrics),
};

static const struct metric_family losses = {
    "beamflame_losses_total", "counter",
    "What is missing in recordings, by reason; samples, or parts of them."};

static const struct metric_family refusals = {"beamflame_nodes_refused", "gauge",
                                              "VMs that run and are not recorded, by reason."};

static const char *const refusal_names[REFUSAL_KINDS] = {
    [REFUSED_BY_RULE] = "rule",
    [REFUSED_STARTING] = "starting",
    [REFUSED_UNSUPPORTED] = "unsupported",
    [REFUSED_RIGHTS] = "rights",
    [REFUSED_OTHER] = "other",
};

static double value_at(const void *status, const struct agent_metric *metric)
{
    uint64_t value = *(const _Atomic uint64_t *)((const char *)status + metric->field);

    return (double)value * (metric->unit ? metric->unit : 1);
}

static void put(const struct metric_text *out, const struct metric_family *family,
                const char *label, const char *of, double value)
{
    struct buffer labels = {0};

    metric_text_label(&labels, label, of);
    buffer_byte(&labels, '\0');
    metric_text_put(out, family, "", labels.data, value);
    buffer_free(&labels);
}

static void put_services(const struct agent_status *status, const struct metric_text *out)
{
    for (int i = 0; i < SERVICE_METRICS; i++) {
        bool has_head = false;

        for (size_t slot = 0; slot < STATUS_SERVICES_MAX; slot++) {
            const struct service_status *service = &status->services[slot];

            if (!service->is_shown)
                continue;
            if (!has_head)
                metric_text_family(out, &service_metrics[i].family);
            has_head = true;
            put(out, &service_metrics[i].family, "service", service->name,
                value_at(service, &service_metrics[i]));
        }
    }
}

static void put_trigger(const struct metric_text *out, const struct agent_metric *metric,
                        const struct trigger_count *count)
{
    struct buffer labels = {0};

    metric_text_label(&labels, "trigger", count->trigger);
    metric_text_label(&labels, "node", count->node);
    buffer_byte(&labels, '\0');
    metric_text_put(out, &metric->family, "", labels.data, value_at(count, metric));
    buffer_free(&labels);
}

static void put_triggers(const struct trigger_counts *counts, const struct metric_text *out)
{
    for (int i = 0; i < TRIGGER_METRICS; i++) {
        bool has_head = false;

        for (size_t slot = 0; slot < TRIGGER_COUNTS_MAX; slot++) {
            if (!counts->of[slot].is_shown)
                continue;
            if (!has_head)
                metric_text_family(out, &trigger_metrics[i].family);
            has_head = true;
            put_trigger(out, &trigger_metrics[i], &counts->of[slot]);
        }
    }
}

void agent_metrics_write(const struct agent_status *status, const struct metric_text *out)
{
    for (int i = 0; i < AGENT_METRICS; i++) {
        metric_text_family(out, &agent_metrics[i].family);
        metric_text_put(out, &agent_metrics[i].family, "", "", value_at(status, &agent_metrics[i]));
    }
    metric_text_family(out, &losses);
    for (int i = 0; i < LOSS_COUNT; i++)
        put(out, &losses, "reason", profile_loss_name(i), (double)status->losses[i]);
    metric_text_family(out, &refusals);
    for (int i = 0; i < REFUSAL_KINDS; i++)
        put(out, &refusals, "reason", refusal_names[i], (double)status->refused_by[i]);
    put_services(status, out);
    put_triggers(&status->triggers, out);
    node_metrics_text_write(&status->nodes_board, out);
    metric_text_end(out);
}

void agent_metrics_families(void (*visit)(void *context, const struct metric_family *family),
                            void *context)
{
    for (int i = 0; i < AGENT_METRICS; i++)
        visit(context, &agent_metrics[i].family);
    visit(context, &losses);
    visit(context, &refusals);
    for (int i = 0; i < SERVICE_METRICS; i++)
        visit(context, &service_metrics[i].family);
    for (int i = 0; i < TRIGGER_METRICS; i++)
        visit(context, &trigger_metrics[i].family);
    node_metrics_text_families(visit, context);
}
