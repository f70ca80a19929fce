// SPDX-License-Identifier: Apache-2.0
/* The configuration as YAML. */
#include "agent/config/agent_config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/config_store.h"
#include "agent/config/config_value.h"
#include "agent/config/config_yaml.h"
#include "util/utf8.h"

/* True if the text needs no quotes in YAML. A colon is the end of a key unless something other than
 * a blank follows. */
static bool is_plain(const char *text)
{
    if (!isalnum((unsigned char)text[0]) && text[0] != '/')
        return false;
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("/._,+-", *at) && (*at != ':' || !at[1]))
            return false;
    return !config_yaml_is_null(text);
}

static void put_quoted(const char *text, struct buffer *line)
{
    buffer_byte(line, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buffer_byte(line, '\'');
        buffer_byte(line, *text);
    }
    buffer_byte(line, '\'');
}

static void put_value(const struct config_key *key, const void *target, struct buffer *line)
{
    struct buffer value = {0};

    config_value_print(key, target, &value);
    buffer_byte(&value, '\0');
    if (is_plain(value.data))
        buffer_text(line, value.data);
    else
        put_quoted(value.data, line);
    buffer_free(&value);
}

/* Append where a value is from, as a comment. */
static void put_source(const struct agent_config *config, const struct config_key *key,
                       size_t index, struct buffer *line)
{
    struct config_source source = config_store_source(config, key, index);
    char variable[CONFIG_VARIABLE_ROOM], *path;

    buffer_text(line, " # ");
    if (source.origin == CONFIG_DEFAULT) {
        buffer_text(line, "default");
    } else if (source.origin == CONFIG_FILE) {
        path = utf8_clean_string(config->sources->path);
        buffer_format(line, "%s:%zu", path, source.line);
        free(path);
    } else {
        config_key_variable(key, index, variable);
        buffer_text(line, variable);
    }
}

/* Append the keys of a section, or of one entry of its list. */
static void put_keys(const struct agent_config *config, enum config_section section, size_t index,
                     struct buffer *text)
{
    bool first = config_section_is_list(section);

    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);

        if (key->section != section ||
            !config_value_is_given(key, config_store_target(config, key, index)))
            continue;
        buffer_format(text, "%s%s: ",
                      first                             ? "  - "
                      : config_section_is_list(section) ? "    "
                                                        : "  ",
                      key->name);
        put_value(key, config_store_target(config, key, index), text);
        put_source(config, key, index, text);
        buffer_byte(text, '\n');
        first = false;
    }
}

void config_print(const struct agent_config *config, FILE *file)
{
    struct buffer text = {0};

    for (int i = 0; i < CONFIG_SECTIONS; i++) {
        enum config_section section = (enum config_section)i;
        bool is_list = config_section_is_list(section);

        buffer_format(&text, "%s:%s\n", config_section_name(section),
                      is_list && !config_store_count(config, section) ? " [] # default" : "");
        for (size_t entry = 0; entry < (is_list ? config_store_count(config, section) : 1); entry++)
            put_keys(config, section, entry, &text);
    }
    fwrite(text.data, 1, text.size, file);
    buffer_free(&text);
}
