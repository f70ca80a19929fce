// SPDX-License-Identifier: Apache-2.0
#include "agent/http/agent_metrics.h"

#include <inttypes.h>
#include <stddef.h>

#define OF(field)         offsetof(struct agent_status, field)
#define OF_SERVICE(field) offsetof(struct service_status, field)

struct agent_metric {
    const char *name, *type, *help;
    size_t field; /* in struct agent_status, or in struct service_status */
};

static const struct agent_metric agent_metrics[] = {
    {"beamflame_start_time_seconds", "gauge", "When the agent started, since 1970.",
     OF(started_at)},
    {"beamflame_nodes", "gauge", "VMs that are recorded.", OF(nodes)},
    {"beamflame_samples_total", "counter", "Samples that were recorded.", OF(samples)},
    {"beamflame_samples_lost_total", "counter", "Samples that were lost: the ring buffer was full.",
     OF(lost)},
    {"beamflame_recordings_total", "counter", "Recordings that are complete.", OF(segments)},
    {"beamflame_http_restarts_total", "counter", "Restarts of the process that answers HTTP.",
     OF(http_restarts)},
    {"beamflame_spool_bytes", "gauge", "Size of the recordings in the spool.", OF(spool_bytes)},
    {"beamflame_spool_recordings", "gauge", "Recordings in the spool.", OF(spool_recordings)},
};

static const struct agent_metric service_metrics[] = {
    {"beamflame_push_requests_total", "counter", "Requests that the service has accepted.",
     OF_SERVICE(requests)},
    {"beamflame_push_profiles_total", "counter", "Profiles that the service has accepted.",
     OF_SERVICE(profiles)},
    {"beamflame_push_bytes_total", "counter", "Bytes of accepted requests.", OF_SERVICE(bytes)},
    {"beamflame_push_refused_total", "counter", "Profiles that the service has refused.",
     OF_SERVICE(refused)},
    {"beamflame_push_retries_total", "counter", "Requests that failed and are sent again.",
     OF_SERVICE(retries)},
    {"beamflame_push_unreadable_total", "counter", "Recordings of which no profiles could be made.",
     OF_SERVICE(unreadable)},
    {"beamflame_push_dropped_total", "counter",
     "Recordings that left the spool before the service had them.", OF_SERVICE(dropped)},
    {"beamflame_push_restarts_total", "counter", "Restarts of the process that sends.",
     OF_SERVICE(restarts)},
    {"beamflame_push_waiting", "gauge", "Recordings in the spool that the service does not have.",
     OF_SERVICE(waiting)},
    {"beamflame_push_accepted_timestamp_seconds", "gauge",
     "When the service accepted a request last, since 1970; 0: never.", OF_SERVICE(accepted_at)},
};

enum {
    AGENT_METRICS = sizeof(agent_metrics) / sizeof(*agent_metrics),
    SERVICE_METRICS = sizeof(service_metrics) / sizeof(*service_metrics),
};

static void put_head(const struct agent_metric *metric, struct buffer *text)
{
    buffer_format(text, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
                  metric->type);
}

static uint64_t value_at(const void *status, size_t field)
{
    return *(const _Atomic uint64_t *)((const char *)status + field);
}

/* Names of services are letters, digits, '-' and '_', so they need no escapes. */
void agent_metrics_write(const struct agent_config *config, const struct agent_status *status,
                         struct buffer *text)
{
    for (int i = 0; i < AGENT_METRICS; i++) {
        put_head(&agent_metrics[i], text);
        buffer_format(text, "%s %" PRIu64 "\n", agent_metrics[i].name,
                      value_at(status, agent_metrics[i].field));
    }
    for (int i = 0; i < SERVICE_METRICS; i++) {
        if (config->service_count)
            put_head(&service_metrics[i], text);
        for (size_t service = 0; service < config->service_count; service++)
            buffer_format(text, "%s{service=\"%s\"} %" PRIu64 "\n", service_metrics[i].name,
                          config->services[service].name,
                          value_at(&status->services[service], service_metrics[i].field));
    }
}
