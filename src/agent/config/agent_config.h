// SPDX-License-Identifier: Apache-2.0
/*
 * The configuration of the agent: defaults, then a YAML file, then environment variables.
 *
 *   record:
 *     cpu: 19                # samples a second and CPU; 0: none
 *     wall: 1                # sweeps a second; 0: none
 *     events: gc,alloc,sched # as for -e; "" for none
 *     budget: 0.5            # percent of each VM's CPU time
 *     host_budget: 1         # percent of one CPU, for all VMs and the agent
 *     stacks: 5              # of each of these events and VM a second
 *     interval: 15s          # time of a profile
 *     max_memory: 64M
 *     beside_others: false
 *   spool:
 *     directory: /var/lib/beamflame
 *     max_size: 256M
 *     max_age: 1h
 *   http:
 *     listen: 127.0.0.1:9466
 *     token_file: /etc/beamflame/token
 *   push:
 *     - name: central        # default: the protocol
 *       protocol: pyroscope  # or otlp, parca
 *       url: https://pyroscope:4040
 *       tenant: shop
 *       user: agent
 *       password_file: /etc/beamflame/password
 *       token_file: /etc/beamflame/token
 *       ca_file: /etc/beamflame/ca.pem
 *       events: cpu,gc       # default: all
 *       traces: true
 *       timestamps: true     # only otlp
 *
 *   rules:                   # which VMs; the first one that matches decides
 *     - namespace: test-*    # node, container, namespace, pod: patterns
 *       profile: false
 *     - node: shop@*
 *       profile: true
 *       service_name: shop   # default: by environment, pod or node
 *       cpu: 99              # the same as in record, whose values are the defaults
 *       wall: 5
 *       events: gc,msg
 *
 *   triggers:                # what is kept when a condition holds
 *     - name: long-queue     # default: made of `when`
 *       when: msgq>10000     # as for --trigger
 *       node: shop@*         # the same patterns as for rules
 *       before: 30s
 *       after: 30s
 *       holdoff: 5m
 *       max_kept: 10
 *       max_size: 64M
 *
 * BEAMFLAME_RECORD_CPU=19 overrides record.cpu, BEAMFLAME_SPOOL_DIRECTORY spool.directory, and
 * BEAMFLAME_PUSH_0_URL the url of the first service. The index after the last one adds an entry.
 *
 * config_table.c has the keys, and docs/agent.md describes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "push/push_service.h"
#include "session/target_rules.h"
#include "util/error.h"

/* A rule that says if VMs are profiled, and what is recorded of them. Patterns are NULL where they
 * are not given. */
struct agent_rule {
    char *node, *container, *name_space, *pod;
    bool profile;
    char *service;      /* the name of their service; NULL: by what is known of them */
    uint32_t cpu, wall; /* as in agent_config.record, and the next one */
    char *events;
};

/* A trigger: recordings of the time around its firings are kept. */
struct agent_trigger {
    char *name;               /* each has a name of its own */
    char *when;               /* as for --trigger */
    struct target_rule nodes; /* the VMs; `profile` is unused */
    double before, after;     /* seconds */
    double holdoff;           /* seconds from one firing at a VM to the next */
    uint32_t max_kept;        /* firings */
    uint64_t max_size;        /* bytes */
};

struct agent_config {
    struct {
        uint32_t cpu;       /* samples a second and CPU; 0: none */
        uint32_t wall;      /* sweeps a second; 0: none */
        char *events;       /* other events, as for -e; "" for none */
        double budget;      /* percent of each VM's CPU time */
        double host_budget; /* percent of one CPU */
        uint32_t stacks;    /* of each of `events` and VM a second, on average */
        double interval;    /* seconds of a segment */
        uint64_t max_memory;
        bool beside_others; /* another agent may record this host */
    } record;
    struct {
        char *directory;
        uint64_t max_size; /* bytes */
        double max_age;    /* seconds */
    } spool;
    struct {
        char *listen;     /* as listen_address_parse() takes it; "": nowhere */
        char *token_file; /* NULL: everyone who can connect may ask */
    } http;
    struct agent_rule *rules;
    size_t rule_count;
    struct agent_trigger *triggers;
    size_t trigger_count;
    struct push_service *services; /* each has a name of its own */
    size_t service_count;
    struct config_sources *sources; /* where each value is from (config_store.h) */
};

/* Read the configuration. `path` NULL: no file. ERROR_USAGE: the text names the file, line and
 * column of the fault, or the variable. ERROR_FAILED: the file can't be read. */
int agent_config_load(const char *path, struct agent_config *config, struct error *error);
void agent_config_free(struct agent_config *config);

/* Write the configuration in force as YAML that agent_config_load() can read. A comment says where
 * each value is from: "# default", "# FILE:LINE", "# BEAMFLAME_RECORD_CPU". */
void config_print(const struct agent_config *config, FILE *file);
