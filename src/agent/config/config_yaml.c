// SPDX-License-Identifier: Apache-2.0
/*
 * From the events of libyaml to values.
 *
 * A configuration has keys with texts, and lists of keys with texts. All other YAML is refused as
 * soon as it begins; aliases too, because a short file of them can stand for any amount of data.
 */
#include "agent/config/config_yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "agent/config/config_internal.h"
#include "agent/config/config_store.h"
#include "agent/config/config_suggestion.h"
#include "agent/config/config_table.h"
#include "agent/config/config_value.h"
#include "util/span.h"

struct yaml_input {
    yaml_parser_t parser;
    yaml_event_t event; /* the newest */
    struct buffer text;
    struct agent_config *config;
    size_t section_lines[CONFIG_SECTIONS]; /* where each begins; 0: nowhere yet */
    struct error *error;
};

static int refuse(struct yaml_input *input, yaml_mark_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Set the error with the place in the file. */
static int refuse(struct yaml_input *input, yaml_mark_t mark, const char *format, ...)
{
    char text[sizeof(input->error->text)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    error_set(input->error, ERROR_USAGE, "%s", text);
    return config_store_prefix_line(input->config, mark.line + 1, mark.column + 1, input->error);
}

/* True if the line is indented by a tab. libyaml's message does not say so. */
static bool line_begins_with_tab(const struct buffer *text, size_t line)
{
    struct span rest = {text->data, text->size};

    for (; line; line--) {
        const char *end = memchr(rest.at, '\n', rest.size);

        if (!end) /* libyaml has more kinds of line breaks */
            return false;
        rest = span_skip(rest, (size_t)(end - rest.at) + 1);
    }
    while (span_begins(rest, " "))
        rest = span_skip(rest, 1);
    return span_begins(rest, "\t");
}

static int refuse_syntax(struct yaml_input *input)
{
    const yaml_parser_t *parser = &input->parser;

    if (parser->error == YAML_MEMORY_ERROR)
        return error_set(input->error, ERROR_FAILED, "no memory to read the configuration");
    if (line_begins_with_tab(&input->text, parser->problem_mark.line))
        return refuse(input, parser->problem_mark,
                      "a line must be indented by spaces, not by tabs");
    return refuse(input, parser->problem_mark, "this is not YAML: %s%s%s",
                  parser->problem ? parser->problem : "unknown", parser->context ? " " : "",
                  parser->context ? parser->context : "");
}

/* Refuse what belongs to no configuration: anchors, tags and NULs in texts. */
static int check_event(struct yaml_input *input)
{
    const yaml_event_t *event = &input->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_ALIAS_EVENT)
        return refuse(input, event->start_mark,
                      "an alias (*%s) can't be used here: write the value",
                      config_value_shown((const char *)event->data.alias.anchor).text);
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (memchr(event->data.scalar.value, 0, event->data.scalar.length))
            return refuse(input, event->start_mark, "a text can't have the character U+0000");
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return refuse(input, event->start_mark, "an anchor (&%s) can't be used here",
                      config_value_shown((const char *)anchor).text);
    if (tag)
        return refuse(input, event->start_mark, "a tag (%s) can't be used here",
                      config_value_shown((const char *)tag).text);
    return 0;
}

/* Read the next event. */
static int next(struct yaml_input *input)
{
    yaml_event_delete(&input->event);
    if (!yaml_parser_parse(&input->parser, &input->event))
        return refuse_syntax(input);
    return check_event(input);
}

bool config_yaml_is_null(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
        if (!strcmp(text, nulls[i]))
            return true;
    return false;
}

static bool is_null(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           config_yaml_is_null((const char *)event->data.scalar.value);
}

/* What a value is, for messages. */
static const char *kind_of(const yaml_event_t *event)
{
    if (is_null(event))
        return "nothing";
    return event->type == YAML_SCALAR_EVENT           ? "a text"
           : event->type == YAML_SEQUENCE_START_EVENT ? "a list"
                                                      : "keys";
}

static struct config_source source_at(yaml_mark_t mark)
{
    return (struct config_source){CONFIG_FILE, mark.line + 1, mark.column + 1};
}

/* ---- keys ---- */

/* Return the key that the event names, or NULL with error. */
static const struct config_key *known_key(struct yaml_input *input, enum config_section section,
                                          size_t index)
{
    const yaml_event_t *event = &input->event;
    const char *name = (const char *)event->data.scalar.value;
    char path[CONFIG_PATH_ROOM], suggestion[CONFIG_SUGGESTION_ROOM];
    const struct config_key *key;
    struct config_source source;

    if (event->type != YAML_SCALAR_EVENT) {
        refuse(input, event->start_mark, "a key must be a name, not %s", kind_of(event));
        return NULL;
    }
    key = config_key_find(section, name);
    if (!key) {
        config_suggestion_of_key(section, name, suggestion);
        refuse(input, event->start_mark, "%s has no key '%s'%s", config_section_name(section),
               config_value_shown(name).text, suggestion);
        return NULL;
    }
    source = config_store_source(input->config, key, index);
    if (source.origin == CONFIG_FILE) {
        config_key_path(key, path);
        refuse(input, event->start_mark, "%s is given twice; line %zu has it too", path,
               source.line);
        return NULL;
    }
    return key;
}

/* Read the value of a key. */
static int read_value(struct yaml_input *input, const struct config_key *key, size_t index)
{
    const yaml_event_t *event = &input->event;
    char path[CONFIG_PATH_ROOM];

    if (next(input))
        return -1;
    config_key_path(key, path);
    if (is_null(event))
        return refuse(input, event->start_mark, "%s has no value; write one, or leave the key out",
                      path);
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(input, event->start_mark, "%s must be one value (%s), not %s", path,
                      key->type->name, kind_of(event));
    return config_store(input->config, key, index, (const char *)event->data.scalar.value,
                        source_at(event->start_mark), input->error);
}

/* Read keys with values, after the start of their mapping. */
static int read_keys(struct yaml_input *input, enum config_section section, size_t index)
{
    for (;;) {
        const struct config_key *key;

        if (next(input))
            return -1;
        if (input->event.type == YAML_MAPPING_END_EVENT)
            return 0;
        key = known_key(input, section, index);
        if (!key || read_value(input, key, index))
            return -1;
    }
}

/* ---- sections ---- */

/* Read the entries of a list, after its start. */
static int read_entries(struct yaml_input *input, enum config_section section)
{
    const yaml_event_t *event = &input->event;

    for (;;) {
        if (next(input))
            return -1;
        if (event->type == YAML_SEQUENCE_END_EVENT)
            return 0;
        if (event->type != YAML_MAPPING_START_EVENT)
            return refuse(input, event->start_mark,
                          "an entry of %s must have keys, such as '%s: ...', not %s",
                          config_section_name(section), config_section_example(section),
                          kind_of(event));
        if (config_store_add(input->config, section, source_at(event->start_mark), input->error))
            return config_store_prefix_line(input->config, event->start_mark.line + 1,
                                            event->start_mark.column + 1, input->error);
        if (read_keys(input, section, config_store_count(input->config, section) - 1))
            return -1;
    }
}

/* Read the keys below the name of a section. Nothing is allowed: its keys may be commented out. */
static int read_section(struct yaml_input *input, enum config_section section)
{
    const yaml_event_t *event = &input->event;
    bool is_list = config_section_is_list(section);

    if (next(input))
        return -1;
    if (is_null(event))
        return 0;
    if (event->type != (is_list ? YAML_SEQUENCE_START_EVENT : YAML_MAPPING_START_EVENT))
        return refuse(input, event->start_mark, "%s must have %s, not %s",
                      config_section_name(section),
                      is_list ? "a list below it, whose entries begin with '- '" : "keys below it",
                      kind_of(event));
    return is_list ? read_entries(input, section) : read_keys(input, section, 0);
}

/* Return the section that the event names, or CONFIG_SECTIONS with error. */
static enum config_section known_section(struct yaml_input *input)
{
    const yaml_event_t *event = &input->event;
    const char *name = (const char *)event->data.scalar.value;
    char suggestion[CONFIG_SUGGESTION_ROOM];

    if (event->type != YAML_SCALAR_EVENT) {
        refuse(input, event->start_mark, "a key must be a name, not %s", kind_of(event));
        return CONFIG_SECTIONS;
    }
    for (int i = 0; i < CONFIG_SECTIONS; i++) {
        size_t *line = &input->section_lines[i];

        if (strcmp(name, config_section_name((enum config_section)i)) != 0)
            continue;
        if (*line) {
            refuse(input, event->start_mark, "%s is given twice; line %zu has it too", name, *line);
            return CONFIG_SECTIONS;
        }
        *line = event->start_mark.line + 1;
        return (enum config_section)i;
    }
    config_suggestion_of_key(CONFIG_SECTIONS, name, suggestion);
    refuse(input, event->start_mark, "there is no key '%s'%s", config_value_shown(name).text,
           suggestion);
    return CONFIG_SECTIONS;
}

static int read_sections(struct yaml_input *input)
{
    for (;;) {
        enum config_section section;

        if (next(input))
            return -1;
        if (input->event.type == YAML_MAPPING_END_EVENT)
            return 0;
        section = known_section(input);
        if (section == CONFIG_SECTIONS || read_section(input, section))
            return -1;
    }
}

/* ---- the file ---- */

static int read_document(struct yaml_input *input)
{
    const yaml_event_t *event = &input->event;

    if (next(input))
        return -1;
    if (!is_null(event)) {
        if (event->type != YAML_MAPPING_START_EVENT)
            return refuse(input, event->start_mark,
                          "the file must have the keys record, spool and push, not %s",
                          kind_of(event));
        if (read_sections(input))
            return -1;
    }
    return next(input);
}

/* A file without a document has comments at most. */
static int read_stream(struct yaml_input *input)
{
    if (next(input) || next(input))
        return -1;
    if (input->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (read_document(input) || next(input))
        return -1;
    if (input->event.type != YAML_STREAM_END_EVENT)
        return refuse(input, input->event.start_mark,
                      "the file must have one document; another one begins here");
    return 0;
}

int config_yaml_read(struct agent_config *config, struct error *error)
{
    struct yaml_input input = {.config = config, .error = error};
    int result = -1;

    if (config_file_read(config, &input.text, error)) {
        buffer_free(&input.text);
        return -1;
    }
    if (yaml_parser_initialize(&input.parser)) {
        yaml_parser_set_encoding(&input.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&input.parser, (const unsigned char *)input.text.data,
                                     input.text.size);
        result = read_stream(&input);
        yaml_event_delete(&input.event);
        yaml_parser_delete(&input.parser);
    } else {
        error_set(error, ERROR_FAILED, "no memory to read the configuration");
    }
    buffer_free(&input.text);
    return result;
}
