// SPDX-License-Identifier: Apache-2.0
/* Stores values in a configuration, and remembers where each is from. */
#pragma once

#include <stddef.h>

#include "agent/config/agent_config.h"
#include "agent/config/config_table.h"

enum config_origin { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT };

struct config_source {
    enum config_origin origin;
    size_t line, column; /* in the file, from 1; of a default: of the list's entry, or 0 */
};

struct config_sources {
    char *path; /* of the file; NULL: none */
    /* By position in the table; the keys of the second and later services follow. */
    struct config_source *list;
    size_t room, service_room, rule_room, trigger_room;
};

/* Set all values to their defaults. `path` may be NULL. */
void config_store_begin(struct agent_config *config, const char *path);

/* Store the value of a key, of the entry `index` if its section is a list. The error of a bad
 * value begins with the source. */
int config_store(struct agent_config *config, const struct config_key *key, size_t index,
                 const char *text, struct config_source source, struct error *error);

/* Add an entry to a list, which begins there. */
int config_store_add(struct agent_config *config, enum config_section section,
                     struct config_source source, struct error *error);

/* Give each key that was not set the value of the key that is its default (config_key.like). */
void config_store_likes(struct agent_config *config);

/* The number of entries of a list. */
size_t config_store_count(const struct agent_config *config, enum config_section section);

struct config_source config_store_source(const struct agent_config *config,
                                         const struct config_key *key, size_t index);

/* The value of a key in the configuration. */
void *config_store_target(const struct agent_config *config, const struct config_key *key,
                          size_t index);

/* Put "FILE:LINE:COLUMN: " before the error's text. Return -1. */
int config_store_prefix_line(const struct agent_config *config, size_t line, size_t column,
                             struct error *error);

/* Put the place in the file before the error's text, or the variable. Return -1. */
int config_store_prefix(const struct agent_config *config, const struct config_key *key,
                        size_t index, struct config_source source, struct error *error);
