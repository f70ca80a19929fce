// SPDX-License-Identifier: Apache-2.0
#include "agent/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/dumper.h"
#include "agent/http/http_server.h"
#include "agent/sender.h"
#include "util/alloc.h"
#include "util/optional_text.h"

/* Report a start that failed, once until one succeeds. */
static void note_start(const struct services *services, bool *failed, int result,
                       const struct error *error)
{
    if (result && !*failed)
        services->warn("%s", error->text);
    *failed = result != 0;
}

/* ---- senders ---- */

static void start_sender(struct services *services, struct service *service)
{
    const struct sender_options options = {
        .directory = services->directory, .warn = services->warn, .log_file = services->log_file};
    struct error error;
    int result = sender_start(&service->worker, &service->push, &options, service->status, &error);

    note_start(services, &service->failed, result, &error);
}

static bool is_used(const struct services *services, const struct service_status *status)
{
    for (size_t i = 0; i < services->count; i++)
        if (services->of[i].status == status)
            return true;
    for (size_t i = 0; i < SERVICES_MAX; i++)
        if (services->leaving[i].pid && services->left[i] == status)
            return true;
    return false;
}

/* Find the counters of a service: those that it had before, or new ones. There are twice as many
 * as services, so one is free. */
static struct service_status *status_for(const struct services *services, const char *name)
{
    struct service_status *all = services->status->services, *unused = NULL;

    for (size_t i = 0; i < STATUS_SERVICES_MAX; i++) {
        if (all[i].is_shown && !strcmp(all[i].name, name))
            return &all[i];
        if (!unused && !all[i].is_shown && !is_used(services, &all[i]))
            unused = &all[i];
    }
    if (!unused)
        abort();
    memset(unused, 0, sizeof(*unused));
    snprintf(unused->name, sizeof(unused->name), "%s", name);
    unused->is_shown = true;
    return unused;
}

/* Let a sender finish its request while its successor waits for it. */
static void let_go(struct services *services, struct service *service)
{
    size_t place = 0;

    while (place < SERVICES_MAX - 1 && worker_runs(&services->leaving[place]))
        place++;
    worker_await(&services->leaving[place], 0);
    services->leaving[place] = service->worker;
    services->left[place] = service->status;
    worker_ask_to_end(&services->leaving[place], true);
    push_service_free(&service->push);
}

static const struct push_service *find(const struct agent_config *config,
                                       const struct push_service *wanted)
{
    for (size_t i = 0; i < config->service_count; i++)
        if (push_service_is_equal(&config->services[i], wanted))
            return &config->services[i];
    return NULL;
}

static bool is_named_in(const struct agent_config *config, const char *name)
{
    const struct push_service *services = config->services;

    for (size_t i = 0; services && i < config->service_count; i++)
        if (!strcmp(services[i].name, name))
            return true;
    return false;
}

/* End the senders whose services are no longer there, or have changed. */
static void drop_senders(struct services *services, const struct agent_config *config)
{
    size_t kept = 0;

    for (size_t i = 0; i < services->count; i++) {
        struct service *service = &services->of[i];

        if (find(config, &service->push)) {
            services->of[kept++] = *service;
            continue;
        }
        if (!is_named_in(config, service->push.name))
            service->status->is_shown = false;
        let_go(services, service);
    }
    services->count = kept;
}

static void add_senders(struct services *services, const struct agent_config *config)
{
    for (size_t i = 0; i < config->service_count; i++) {
        struct service *service = &services->of[services->count];
        bool runs = false;

        for (size_t other = 0; other < services->count; other++)
            runs |= push_service_is_equal(&services->of[other].push, &config->services[i]);
        if (runs)
            continue;
        *service = (struct service){.push = push_service_copy(&config->services[i]),
                                    .status = status_for(services, config->services[i].name)};
        services->count++;
        start_sender(services, service);
    }
}

static void look_at_sender(struct services *services, struct service *service, uint64_t now)
{
    if (!worker_must_start(&service->worker, now))
        return;
    service->status->restarts++;
    if (!service->failed)
        services->warn("the process that sends to service %s has ended, and is started again",
                       service->push.name);
    start_sender(services, service);
}

/* ---- dumps ---- */

static void start_dumper(struct services *services)
{
    struct error error;
    int result;

    if (!services->dump_ends[1]) { /* HTTP is not answered */
        services->dumper_failed = true;
        return;
    }
    result = dumper_start(&services->dumper,
                          &(struct dumper_options){.roster = services->roster,
                                                   .channel = services->dump_ends[1],
                                                   .log_file = services->log_file},
                          &error);
    note_start(services, &services->dumper_failed, result, &error);
}

static void end_dumper(struct services *services)
{
    worker_await(&services->dumper, 0);
    for (int i = 0; i < 2; i++)
        if (services->dump_ends[i])
            close(services->dump_ends[i]);
    services->dump_ends[0] = services->dump_ends[1] = 0;
}

static void look_at_dumper(struct services *services, uint64_t now)
{
    if (!services->http_listen || !worker_must_start(&services->dumper, now))
        return;
    if (!services->dumper_failed)
        services->warn("the process that takes dumps has ended, and is started again");
    start_dumper(services);
}

/* ---- HTTP ---- */

static int start_server(struct services *services, const struct agent_config *config,
                        struct error *error)
{
    if (!services->dump_ends[1] && dumper_open_channel(services->dump_ends, error))
        return -1;
    return http_server_start(&services->http,
                             &(struct http_server_options){.config = config,
                                                           .status = services->status,
                                                           .warn = services->warn,
                                                           .dumps = services->dump_ends[0],
                                                           .log_file = services->log_file},
                             error);
}

static void start_http(struct services *services, const struct agent_config *config)
{
    struct error error;

    note_start(services, &services->http_failed, start_server(services, config, &error), &error);
}

static void apply_http(struct services *services, const struct agent_config *config)
{
    const char *listen = *config->http.listen ? config->http.listen : NULL;
    const char *token_file = config->http.token_file;

    if (optional_text_equal(services->http_listen, listen) &&
        optional_text_equal(services->http_token_file, token_file))
        return;
    http_server_end(&services->http);
    end_dumper(services);
    free(services->http_listen);
    free(services->http_token_file);
    services->http_listen = optional_text_copy(listen);
    services->http_token_file = optional_text_copy(token_file);
    services->http_failed = false;
    if (!listen)
        return;
    start_http(services, config);
    start_dumper(services);
}

static void look_at_http(struct services *services, const struct agent_config *config, uint64_t now)
{
    if (!services->http_listen || !worker_must_start(&services->http, now))
        return;
    if (!services->http_failed)
        services->warn("the process that answers HTTP has ended, and is started again");
    start_http(services, config);
    services->status->http_restarts += !services->http_failed;
}

/* ---- all ---- */

void services_apply(struct services *services, const struct agent_config *config)
{
    drop_senders(services, config);
    add_senders(services, config);
    apply_http(services, config);
}

void services_look(struct services *services, const struct agent_config *config, uint64_t now)
{
    for (size_t i = 0; i < SERVICES_MAX; i++)
        worker_runs(&services->leaving[i]);
    for (size_t i = 0; i < services->count; i++)
        look_at_sender(services, &services->of[i], now);
    look_at_http(services, config, now);
    look_at_dumper(services, now);
}

void services_end(struct services *services)
{
    struct worker workers[2 * SERVICES_MAX] = {{0}};

    for (size_t i = 0; i < services->count; i++) {
        worker_ask_to_end(&services->of[i].worker, false);
        workers[i] = services->of[i].worker;
        push_service_free(&services->of[i].push);
    }
    memcpy(workers + services->count, services->leaving, sizeof(services->leaving));
    senders_await(workers, services->count + SERVICES_MAX);
    http_server_end(&services->http);
    end_dumper(services);
    free(services->http_listen);
    free(services->http_token_file);
    services->count = 0;
}
