// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_store.h"

#include <stdlib.h>
#include <string.h>

#include "agent/config/config_value.h"
#include "util/alloc.h"
#include "util/buffer.h"

enum { PATH_SHOWN = 200 }; /* bytes of a path in a message */

/* The number of keys of a list's entries. They are the last ones of the table. */
static size_t list_keys(void)
{
    size_t count = 0;

    for (size_t i = 0; config_key_at(i); i++)
        count += config_section_is_list(config_key_at(i)->section);
    return count;
}

static size_t source_position(const struct config_key *key, size_t index)
{
    return config_key_position(key) + index * list_keys();
}

static void set_source(struct agent_config *config, const struct config_key *key, size_t index,
                       struct config_source source)
{
    struct config_sources *sources = config->sources;
    size_t position = source_position(key, index);

    sources->list = xgrow(sources->list, &sources->room, position, sizeof(*sources->list));
    sources->list[position] = source;
}

struct config_source config_store_source(const struct agent_config *config,
                                         const struct config_key *key, size_t index)
{
    return config->sources->list[source_position(key, index)];
}

/* A list of the configuration. */
struct config_list {
    char *entries;
    size_t *count;
    size_t size; /* of an entry */
    size_t most; /* entries */
};

static struct config_list list_of(struct agent_config *config, enum config_section section)
{
    if (section == CONFIG_RULES)
        return (struct config_list){(char *)config->rules, &config->rule_count,
                                    sizeof(*config->rules), CONFIG_RULES_MAX};
    if (section == CONFIG_TRIGGERS)
        return (struct config_list){(char *)config->triggers, &config->trigger_count,
                                    sizeof(*config->triggers), CONFIG_TRIGGERS_MAX};
    return (struct config_list){(char *)config->services, &config->service_count,
                                sizeof(*config->services), CONFIG_SERVICES_MAX};
}

/* Make room for one more entry, which is all zero. */
static void grow_list(struct agent_config *config, enum config_section section)
{
    struct config_sources *sources = config->sources;
    struct config_list list = list_of(config, section);
    size_t count = *list.count;

    if (section == CONFIG_RULES)
        config->rules = xgrow(config->rules, &sources->rule_room, count, list.size);
    else if (section == CONFIG_TRIGGERS)
        config->triggers = xgrow(config->triggers, &sources->trigger_room, count, list.size);
    else
        config->services = xgrow(config->services, &sources->service_room, count, list.size);
    memset(list_of(config, section).entries + count * list.size, 0, list.size);
    ++*list.count;
}

void *config_store_target(const struct agent_config *config, const struct config_key *key,
                          size_t index)
{
    struct config_list list;

    if (!config_section_is_list(key->section))
        return (char *)config + key->field;
    list = list_of((struct agent_config *)config, key->section);
    return list.entries + index * list.size + key->field;
}

static void store_default(struct agent_config *config, const struct config_key *key, size_t index,
                          struct config_source source)
{
    struct error none;

    if (key->fallback)
        config_store(config, key, index, key->fallback, source, &none);
    else
        set_source(config, key, index, source);
}

void config_store_begin(struct agent_config *config, const char *path)
{
    *config = (struct agent_config){.sources = xcalloc(1, sizeof(*config->sources))};
    config->sources->path = path ? xstrdup(path) : NULL;
    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);
        const struct config_source source = {CONFIG_DEFAULT, 0, 0};

        if (!config_section_is_list(key->section))
            store_default(config, key, 0, source);
    }
}

int config_store(struct agent_config *config, const struct config_key *key, size_t index,
                 const char *text, struct config_source source, struct error *error)
{
    if (config_value_parse(key, text, config_store_target(config, key, index), error))
        return config_store_prefix(config, key, index, source, error);
    set_source(config, key, index, source);
    return 0;
}

static void store_like(struct agent_config *config, const struct config_key *key, size_t index)
{
    const struct config_key *like = config_key_find(CONFIG_RECORD, key->like);
    struct config_source source = config_store_source(config, key, index);
    struct buffer text = {0};
    struct error none;

    if (source.origin != CONFIG_DEFAULT)
        return;
    config_value_print(like, config_store_target(config, like, 0), &text);
    buffer_byte(&text, '\0');
    config_store(config, key, index, text.data, source, &none);
    buffer_free(&text);
}

void config_store_likes(struct agent_config *config)
{
    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);

        for (size_t entry = 0; key->like && entry < config_store_count(config, key->section);
             entry++)
            store_like(config, key, entry);
    }
}

size_t config_store_count(const struct agent_config *config, enum config_section section)
{
    return *list_of((struct agent_config *)config, section).count;
}

int config_store_add(struct agent_config *config, enum config_section section,
                     struct config_source source, struct error *error)
{
    struct config_list list = list_of(config, section);
    size_t index = *list.count;

    if (index == list.most)
        return error_set(error, ERROR_USAGE, "%s can have at most %zu entries",
                         config_section_name(section), list.most);
    grow_list(config, section);
    for (size_t i = 0; config_key_at(i); i++)
        if (config_key_at(i)->section == section)
            store_default(config, config_key_at(i), index,
                          (struct config_source){CONFIG_DEFAULT, source.line, source.column});
    return 0;
}

int config_store_prefix_line(const struct agent_config *config, size_t line, size_t column,
                             struct error *error)
{
    const char *path = config->sources->path;
    size_t size = strlen(path), cut = size > PATH_SHOWN ? size - PATH_SHOWN : 0;

    return error_prefix(error, "%s%s:%zu:%zu", cut ? "..." : "", path + cut, line, column);
}

int config_store_prefix(const struct agent_config *config, const struct config_key *key,
                        size_t index, struct config_source source, struct error *error)
{
    char variable[CONFIG_VARIABLE_ROOM];

    if (source.line)
        return config_store_prefix_line(config, source.line, source.column, error);
    config_key_variable(key, index, variable);
    return error_prefix(error, "%s", variable);
}
