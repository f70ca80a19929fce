// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_internal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/config_store.h"
#include "agent/config/config_value.h"
#include "os/listen_address.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/word_list.h"

/* Put before the error where a key of an entry is set, or where the entry begins. */
static int at_key(const struct agent_config *config, enum config_section section, const char *name,
                  size_t index, struct error *error)
{
    const struct config_key *key = config_key_find(section, name);

    return config_store_prefix(config, key, index, config_store_source(config, key, index), error);
}

static int check_required(const struct agent_config *config, enum config_section section,
                          size_t index, struct error *error)
{
    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);
        struct config_source source;
        char path[CONFIG_PATH_ROOM];

        if (key->section != section || !key->required)
            continue;
        source = config_store_source(config, key, index);
        if (source.origin != CONFIG_DEFAULT &&
            config_value_is_given(key, config_store_target(config, key, index)))
            continue;
        config_key_path(key, path);
        error_set(error, ERROR_USAGE, "%s is missing: every %s must have it", path,
                  config_section_entry(section));
        return config_store_prefix(config, key, index, source, error);
    }
    return 0;
}

static int check_authentication(const struct agent_config *config, size_t index,
                                struct error *error)
{
    const struct push_service *service = &config->services[index];

    if (service->user && service->token_file) {
        error_set(error, ERROR_USAGE,
                  "push.token_file can't be beside push.user: choose one of them");
        return at_key(config, CONFIG_PUSH, "token_file", index, error);
    }
    if (service->user && !service->password_file) {
        error_set(error, ERROR_USAGE, "push.user needs push.password_file");
        return at_key(config, CONFIG_PUSH, "user", index, error);
    }
    if (service->password_file && !service->user) {
        error_set(error, ERROR_USAGE, "push.password_file needs push.user");
        return at_key(config, CONFIG_PUSH, "password_file", index, error);
    }
    return 0;
}

/* True if an event is recorded of some VM. */
static bool is_recorded(const struct agent_config *config, const char *event)
{
    bool is_cpu = !strcmp(event, EVENT_CPU), is_wall = !strcmp(event, EVENT_WALL);
    bool found = is_cpu    ? config->record.cpu
                 : is_wall ? config->record.wall
                           : word_list_has(config->record.events, event);

    for (size_t i = 0; i < config->rule_count && !found; i++) {
        const struct agent_rule *rule = &config->rules[i];

        if (rule->profile)
            found = is_cpu ? rule->cpu : is_wall ? rule->wall : word_list_has(rule->events, event);
    }
    return found;
}

/* See that there is something to send of each event. */
static int check_events(const struct agent_config *config, size_t index, struct error *error)
{
    const char *at = config->services[index].events;
    int result = 0;

    if (at && !*at) {
        error_set(error, ERROR_USAGE, "push.events has no event: leave it out to send all");
        return at_key(config, CONFIG_PUSH, "events", index, error);
    }
    while (at && *at && !result) {
        size_t size = strcspn(at, ",");
        char *event = xstrndup(at, size);

        if (!is_recorded(config, event)) {
            error_set(error, ERROR_USAGE,
                      "push.events has '%s', which is not recorded: see record.%s", event,
                      !strcmp(event, EVENT_CPU) || !strcmp(event, EVENT_WALL) ? event : "events");
            result = at_key(config, CONFIG_PUSH, "events", index, error);
        }
        free(event);
        at += size + (at[size] == ',');
    }
    return result;
}

static int check_profiles(const struct agent_config *config, size_t index, struct error *error)
{
    const struct push_service *service = &config->services[index];

    if (service->timestamps && service->protocol != PUSH_OTLP) {
        error_set(error, ERROR_USAGE,
                  "push.timestamps needs push.protocol otlp: others have no time of a sample");
        return at_key(config, CONFIG_PUSH, "timestamps", index, error);
    }
    return check_events(config, index, error);
}

/* See that no entry before has the same name. */
static int check_name(const struct agent_config *config, enum config_section section, size_t index,
                      struct error *error)
{
    const struct config_key *key = config_key_find(section, "name");
    const char *name = *(char **)config_store_target(config, key, index);

    for (size_t i = 0; i < index; i++) {
        if (strcmp(*(char **)config_store_target(config, key, i), name) != 0)
            continue;
        error_set(error, ERROR_USAGE, "two %ss have the name '%s'; set %s.name",
                  config_section_entry(section), name, config_section_name(section));
        return at_key(config, section, "name", index, error);
    }
    return 0;
}

/* "process cart msgq>1000" gives "process-cart-msgq-1000". */
static char *name_of_condition(const char *when)
{
    enum { MOST = 64 };
    char *name = xcalloc(1, MOST + 1);
    size_t size = 0;

    for (; *when && size < MOST; when++)
        if (isascii(*when) && isalnum((unsigned char)*when))
            name[size++] = *when;
        else if (size && name[size - 1] != '-')
            name[size++] = '-';
    while (size && name[size - 1] == '-')
        name[--size] = '\0';
    return name;
}

static int check_trigger(const struct agent_config *config, size_t index, struct error *error)
{
    struct agent_trigger *trigger = &config->triggers[index];

    if (check_required(config, CONFIG_TRIGGERS, index, error))
        return -1;
    if (!trigger->name)
        trigger->name = name_of_condition(trigger->when);
    return check_name(config, CONFIG_TRIGGERS, index, error);
}

/* Whoever can connect may ask, so others than this host need a token. */
static int check_http(const struct agent_config *config, struct error *error)
{
    const struct config_key *key = config_key_find(CONFIG_HTTP, "listen");
    struct listen_address address;

    if (!*config->http.listen || config->http.token_file ||
        listen_address_parse(config->http.listen, "", &address, error) || address.is_local)
        return 0;
    error_set(error, ERROR_USAGE,
              "http.listen is an address that other hosts can reach: set http.token_file");
    return config_store_prefix(config, key, 0, config_store_source(config, key, 0), error);
}

int config_check(struct agent_config *config, struct error *error)
{
    config_store_likes(config);
    if (check_http(config, error))
        return -1;
    for (size_t i = 0; i < config->rule_count; i++)
        if (check_required(config, CONFIG_RULES, i, error))
            return -1;
    for (size_t i = 0; i < config->trigger_count; i++)
        if (check_trigger(config, i, error))
            return -1;
    for (size_t i = 0; i < config->service_count; i++) {
        struct push_service *service = &config->services[i];

        if (check_required(config, CONFIG_PUSH, i, error) ||
            check_authentication(config, i, error) || check_profiles(config, i, error))
            return -1;
        if (!service->name)
            service->name = xstrdup(push_service_protocol_name(service->protocol));
        if (check_name(config, CONFIG_PUSH, i, error))
            return -1;
    }
    return 0;
}
