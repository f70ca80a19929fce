// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_internal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/config/config_store.h"
#include "agent/config/config_suggestion.h"
#include "agent/config/config_value.h"
#include "util/alloc.h"
#include "util/span.h"

/* "BEAMFLAME_PUSH_0_URL=http://..." */
struct variable {
    const struct config_key *key;
    size_t index; /* of the entry, in a list */
    const char *value;
    size_t order; /* in the environment */
};

struct variables {
    struct variable *list;
    size_t count, room;
};

/* Return the size of "BEAMFLAME_RECORD_" if the text begins with it, or 0. */
static size_t family_size(const char *text, enum config_section section)
{
    const char *name = config_section_name(section);
    size_t size = strlen(CONFIG_VARIABLE_PREFIX);

    if (!begins_with(text, CONFIG_VARIABLE_PREFIX))
        return 0;
    for (; *name; name++, size++)
        if (text[size] != toupper((unsigned char)*name))
            return 0;
    return text[size] == '_' ? size + 1 : 0;
}

/* Take "0_" off the front of what follows the section. Without it the index is 0. */
static size_t take_index(struct span *name)
{
    struct span rest = *name;
    uint64_t index;

    if (!span_take_number(&rest, UINT32_MAX, &index) || !rest.size || rest.at[0] != '_')
        return 0;
    *name = span_skip(rest, 1);
    return (size_t)index;
}

static int refuse_unknown(enum config_section section, size_t index, struct span whole,
                          struct span name, struct error *error)
{
    char *variable = xstrndup(whole.at, whole.size), *key = xstrndup(name.at, name.size);
    char suggestion[CONFIG_SUGGESTION_ROOM];

    for (char *at = key; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    config_suggestion_of_variable(section, index, key, suggestion);
    error_set(error, ERROR_USAGE, "the variable %s sets nothing%s",
              config_value_shown(variable).text, suggestion);
    free(variable);
    free(key);
    return -1;
}

/* Add a variable "NAME=VALUE" whose name begins with the name of a section. */
static int add_variable(struct variables *variables, const char *text, enum config_section section,
                        size_t family, struct error *error)
{
    struct span whole = {text, strcspn(text, "=")}, name = span_skip(whole, family);
    size_t index = config_section_is_list(section) ? take_index(&name) : 0;

    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);
        char known[CONFIG_VARIABLE_ROOM];

        if (key->section != section)
            continue;
        config_key_variable(key, index, known);
        if (!span_is(whole, known))
            continue;
        variables->list =
            xgrow(variables->list, &variables->room, variables->count, sizeof(*variables->list));
        variables->list[variables->count] =
            (struct variable){key, index, text + whole.size + 1, variables->count};
        variables->count++;
        return 0;
    }
    return refuse_unknown(section, index, whole, name, error);
}

static int find_variables(struct variables *variables, struct error *error)
{
    for (char **text = environ; text && *text; text++)
        for (int i = 0; i < CONFIG_SECTIONS; i++) {
            enum config_section section = (enum config_section)i;
            size_t family = strchr(*text, '=') ? family_size(*text, section) : 0;

            if (family && add_variable(variables, *text, section, family, error))
                return -1;
        }
    return 0;
}

/* Entries of lists are added in the order of their indexes. */
static int compare_variables(const void *a, const void *b)
{
    const struct variable *first = a, *second = b;

    if (first->index != second->index)
        return first->index < second->index ? -1 : 1;
    return first->order < second->order ? -1 : 1;
}

/* Add the entry of a variable if its index is the next one. */
static int reach_entry(struct agent_config *config, const struct variable *variable,
                       struct config_source source, struct error *error)
{
    enum config_section section = variable->key->section;
    size_t count = config_store_count(config, section);
    char next[CONFIG_VARIABLE_ROOM];

    if (variable->index < count)
        return 0;
    if (variable->index > count) {
        config_key_variable(variable->key, count, next);
        error_set(error, ERROR_USAGE, "there is no such %s; the next one is set by %s",
                  config_section_entry(section), next);
        return config_store_prefix(config, variable->key, variable->index, source, error);
    }
    if (config_store_add(config, section, (struct config_source){CONFIG_DEFAULT, 0, 0}, error))
        return config_store_prefix(config, variable->key, variable->index, source, error);
    return 0;
}

static int apply(struct agent_config *config, const struct variable *variable, struct error *error)
{
    const struct config_source source = {CONFIG_ENVIRONMENT, 0, 0};

    if (config_section_is_list(variable->key->section) &&
        reach_entry(config, variable, source, error))
        return -1;
    return config_store(config, variable->key, variable->index, variable->value, source, error);
}

int config_environment_apply(struct agent_config *config, struct error *error)
{
    struct variables variables = {0};
    int result = find_variables(&variables, error);

    if (variables.count)
        qsort(variables.list, variables.count, sizeof(*variables.list), compare_variables);
    for (size_t i = 0; !result && i < variables.count; i++)
        result = apply(config, &variables.list[i], error);
    free(variables.list);
    return result;
}
