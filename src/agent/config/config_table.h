// SPDX-License-Identifier: Apache-2.0
/* The keys of the configuration. Reading, printing and the docs use this table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum config_section {
    CONFIG_RECORD,
    CONFIG_SPOOL,
    CONFIG_HTTP,
    /* lists, of which each entry has the keys */
    CONFIG_RULES,
    CONFIG_TRIGGERS,
    CONFIG_PUSH,
    CONFIG_SECTIONS,
};

struct config_key {
    enum config_section section;
    const char *name;               /* "cpu" */
    const struct config_type *type; /* config_value.h */
    size_t field;         /* in struct agent_config; of lists: in the struct of their entries */
    const char *fallback; /* the default, as a file has it; NULL: none */
    bool required;        /* each entry has it */
    double least, most;   /* of a number; `most` also: bytes of a text */
    const char *help;     /* its meaning, in one line */
    const char *like;     /* a key of section `record`, whose value is the default; NULL: none */
};

enum {
    CONFIG_SERVICES_MAX = 16,
    CONFIG_RULES_MAX = 100,
    CONFIG_TRIGGERS_MAX = 16,
    CONFIG_PATH_ROOM = 40,     /* "record.max_memory" */
    CONFIG_VARIABLE_ROOM = 64, /* "BEAMFLAME_PUSH_0_PASSWORD_FILE" */
};

/* Before the section in the names of environment variables. */
#define CONFIG_VARIABLE_PREFIX "BEAMFLAME_"

/* Return the key at a position of the table, or NULL after the last one. */
const struct config_key *config_key_at(size_t position);
size_t config_key_position(const struct config_key *key);

/* Return the key of a section with this name, or NULL. */
const struct config_key *config_key_find(enum config_section section, const char *name);

/* "record.cpu" */
void config_key_path(const struct config_key *key, char path[CONFIG_PATH_ROOM]);

/* The name of the environment variable that sets the key, of the entry `index` in a list. */
void config_key_variable(const struct config_key *key, size_t index,
                         char name[CONFIG_VARIABLE_ROOM]);

/* "record" */
const char *config_section_name(enum config_section section);
bool config_section_is_list(enum config_section section);

/* The word for an entry of a list, and one of its keys, for messages: "rule", "node". */
const char *config_section_entry(enum config_section section);
const char *config_section_example(enum config_section section);
