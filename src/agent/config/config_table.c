// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "agent/config/agent_config.h"
#include "agent/config/config_value.h"

#define MIB               0x1p20
#define GIB               0x1p30
#define HOUR              3600.0
#define DAY               (24 * HOUR)
#define OF(field)         offsetof(struct agent_config, field)
#define OF_RULE(field)    offsetof(struct agent_rule, field)
#define OF_TRIGGER(field) offsetof(struct agent_trigger, field)
#define OF_SERVICE(field) offsetof(struct push_service, field)

static const struct config_key keys[] = {
    {CONFIG_RECORD, "cpu", &config_count, OF(record.cpu), "19", false, 0, 1000,
     "CPU samples a second on each CPU; 0: none"},
    {CONFIG_RECORD, "wall", &config_count, OF(record.wall), "1", false, 0, 1000,
     "sweeps over the processes a second, for event wall; 0: none"},
    {CONFIG_RECORD, "events", &config_events, OF(record.events), "gc,alloc,sched", false, 0, 1024,
     "other events, as for the option -e; '' for none"},
    {CONFIG_RECORD, "budget", &config_percent, OF(record.budget), "0.5", false, 0.001, 100,
     "share of each VM's CPU time that probes may cost, in percent"},
    {CONFIG_RECORD, "host_budget", &config_percent, OF(record.host_budget), "1", false, 0.001,
     10000, "share of one CPU that probes in all VMs and the agent may cost, in percent"},
    {CONFIG_RECORD, "stacks", &config_count, OF(record.stacks), "5", false, 1, 2000,
     "stacks of each event in record.events that are taken of a VM a second, on average"},
    {CONFIG_RECORD, "interval", &config_duration, OF(record.interval), "15s", false, 1, HOUR,
     "time of a profile"},
    {CONFIG_RECORD, "max_memory", &config_size, OF(record.max_memory), "64M", false, 32 * MIB,
     1024 * GIB, "memory of a recording; beyond it profiles become coarser"},
    {CONFIG_RECORD, "beside_others", &config_flag, OF(record.beside_others), "false", false, 0, 0,
     "true: record also if another agent records this host"},
    {CONFIG_SPOOL, "directory", &config_path, OF(spool.directory), "/var/lib/beamflame", false, 0,
     4000, "where recordings wait until they are sent"},
    {CONFIG_SPOOL, "max_size", &config_size, OF(spool.max_size), "256M", false, MIB, 1024 * GIB,
     "beyond it the oldest recordings are removed"},
    {CONFIG_SPOOL, "max_age", &config_duration, OF(spool.max_age), "1h", false, 1, 365 * DAY,
     "older recordings are removed"},
    {CONFIG_HTTP, "listen", &config_listen, OF(http.listen), "unix:http.sock", false, 0, 200,
     "address to answer HTTP at: 127.0.0.1:9466, [::1]:9466, unix:/PATH, or unix:NAME in "
     "spool.directory; '' for none"},
    {CONFIG_HTTP, "token_file", &config_path, OF(http.token_file), NULL, false, 0, 4000,
     "file with the token that requests must have"},
    {CONFIG_RULES, "node", &config_text, OF_RULE(node), NULL, false, 0, 512,
     "pattern of the node's name, such as shop@*"},
    {CONFIG_RULES, "container", &config_text, OF_RULE(container), NULL, false, 0, 256,
     "pattern of the container's name in its pod, or of its id"},
    {CONFIG_RULES, "namespace", &config_text, OF_RULE(name_space), NULL, false, 0, 256,
     "pattern of the namespace of Kubernetes"},
    {CONFIG_RULES, "pod", &config_text, OF_RULE(pod), NULL, false, 0, 256,
     "pattern of the pod's name"},
    {CONFIG_RULES, "profile", &config_flag, OF_RULE(profile), NULL, true, 0, 0,
     "true: profile the VMs that match; false: do not"},
    {CONFIG_RULES, "service_name", &config_text, OF_RULE(service), NULL, false, 0, 256,
     "name of the service that these VMs are part of"},
    {CONFIG_RULES, "cpu", &config_count, OF_RULE(cpu), NULL, false, 0, 1000,
     "CPU samples a second on each CPU, of these VMs; 0: none", "cpu"},
    {CONFIG_RULES, "wall", &config_count, OF_RULE(wall), NULL, false, 0, 1000,
     "sweeps over the processes a second, of these VMs; 0: none", "wall"},
    {CONFIG_RULES, "events", &config_events, OF_RULE(events), NULL, false, 0, 1024,
     "other events of these VMs, as for the option -e; '' for none", "events"},
    {CONFIG_TRIGGERS, "name", &config_name, OF_TRIGGER(name), NULL, false, 0, 64,
     "name of the trigger in messages, metrics and folders; if left out, it is made of `when`"},
    {CONFIG_TRIGGERS, "when", &config_trigger, OF_TRIGGER(when), NULL, true, 0, 512,
     "condition, as for the option --trigger: msgq>10000"},
    {CONFIG_TRIGGERS, "node", &config_text, OF_TRIGGER(nodes.node), NULL, false, 0, 512,
     "pattern of the node's name, of VMs that the trigger is for"},
    {CONFIG_TRIGGERS, "container", &config_text, OF_TRIGGER(nodes.container), NULL, false, 0, 256,
     "pattern of the container's name in its pod, or of its id"},
    {CONFIG_TRIGGERS, "namespace", &config_text, OF_TRIGGER(nodes.name_space), NULL, false, 0, 256,
     "pattern of the namespace of Kubernetes"},
    {CONFIG_TRIGGERS, "pod", &config_text, OF_TRIGGER(nodes.pod), NULL, false, 0, 256,
     "pattern of the pod's name"},
    {CONFIG_TRIGGERS, "before", &config_duration, OF_TRIGGER(before), "30s", false, 0, HOUR,
     "keep recordings of this time before the trigger fires"},
    {CONFIG_TRIGGERS, "after", &config_duration, OF_TRIGGER(after), "30s", false, 0, HOUR,
     "keep recordings of this time after the trigger fires"},
    {CONFIG_TRIGGERS, "holdoff", &config_duration, OF_TRIGGER(holdoff), "5m", false, 1, 365 * DAY,
     "shortest time from one firing at a VM to the next"},
    {CONFIG_TRIGGERS, "max_kept", &config_count, OF_TRIGGER(max_kept), "10", false, 1, 1000,
     "beyond so many firings of all VMs, the recordings of the oldest one are removed"},
    {CONFIG_TRIGGERS, "max_size", &config_size, OF_TRIGGER(max_size), "64M", false, MIB, 1024 * GIB,
     "beyond this size of the trigger's kept recordings, the oldest firing's are removed"},
    {CONFIG_PUSH, "name", &config_name, OF_SERVICE(name), NULL, false, 0, 64,
     "name of the service in messages and files; the protocol if it is left out"},
    {CONFIG_PUSH, "protocol", &config_protocol, OF_SERVICE(protocol), NULL, true, 0, 0,
     "how the service takes profiles"},
    {CONFIG_PUSH, "url", &config_url, OF_SERVICE(url), NULL, true, 0, 2000,
     "where the service is, up to the path that the protocol adds"},
    {CONFIG_PUSH, "tenant", &config_text, OF_SERVICE(tenant), NULL, false, 0, 255,
     "tenant of a service that has several"},
    {CONFIG_PUSH, "user", &config_user, OF_SERVICE(user), NULL, false, 0, 255,
     "user for Basic authentication; needs password_file"},
    {CONFIG_PUSH, "password_file", &config_path, OF_SERVICE(password_file), NULL, false, 0, 4000,
     "file with the password of the user"},
    {CONFIG_PUSH, "token_file", &config_path, OF_SERVICE(token_file), NULL, false, 0, 4000,
     "file with a token for Bearer authentication; not beside user"},
    {CONFIG_PUSH, "ca_file", &config_path, OF_SERVICE(ca_file), NULL, false, 0, 4000,
     "certificates to trust instead of the system's"},
    {CONFIG_PUSH, "events", &config_events, OF_SERVICE(events), NULL, false, 0, 1024,
     "events to send, such as cpu,gc; without it all that are recorded"},
    {CONFIG_PUSH, "traces", &config_flag, OF_SERVICE(traces), "false", false, 0, 0,
     "true: send the trace and span of samples; profiles get larger. Pyroscope must be 2.1.0 or "
     "later"},
    {CONFIG_PUSH, "timestamps", &config_flag, OF_SERVICE(timestamps), "false", false, 0, 0,
     "true: send each sample with its time, by protocol otlp; Elastic needs it"},
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

const struct config_key *config_key_at(size_t position)
{
    return position < KEYS ? &keys[position] : NULL;
}

size_t config_key_position(const struct config_key *key)
{
    return (size_t)(key - keys);
}

const struct config_key *config_key_find(enum config_section section, const char *name)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].section == section && !strcmp(keys[i].name, name))
            return &keys[i];
    return NULL;
}

void config_key_path(const struct config_key *key, char path[CONFIG_PATH_ROOM])
{
    snprintf(path, CONFIG_PATH_ROOM, "%s.%s", config_section_name(key->section), key->name);
}

void config_key_variable(const struct config_key *key, size_t index,
                         char name[CONFIG_VARIABLE_ROOM])
{
    const char *section = config_section_name(key->section);

    if (config_section_is_list(key->section))
        snprintf(name, CONFIG_VARIABLE_ROOM, CONFIG_VARIABLE_PREFIX "%s_%zu_%s", section, index,
                 key->name);
    else
        snprintf(name, CONFIG_VARIABLE_ROOM, CONFIG_VARIABLE_PREFIX "%s_%s", section, key->name);
    for (char *at = name; *at; at++)
        *at = (char)toupper((unsigned char)*at);
}

/* ---- sections ---- */

static const struct {
    const char *name, *entry, *example;
} sections[CONFIG_SECTIONS] = {[CONFIG_RECORD] = {"record", NULL, NULL},
                               [CONFIG_SPOOL] = {"spool", NULL, NULL},
                               [CONFIG_HTTP] = {"http", NULL, NULL},
                               [CONFIG_RULES] = {"rules", "rule", "node"},
                               [CONFIG_TRIGGERS] = {"triggers", "trigger", "when"},
                               [CONFIG_PUSH] = {"push", "service", "url"}};

const char *config_section_name(enum config_section section)
{
    return sections[section].name;
}

bool config_section_is_list(enum config_section section)
{
    return section >= CONFIG_RULES;
}

const char *config_section_entry(enum config_section section)
{
    return sections[section].entry;
}

const char *config_section_example(enum config_section section)
{
    return sections[section].example;
}
