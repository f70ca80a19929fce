// SPDX-License-Identifier: Apache-2.0
#include "os/container_annotations.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/files.h"

/* A walk through the file: {"annotations": {KEY: VALUE...}, OTHER: ...}. */
struct annotation_walk {
    size_t depth;  /* of the mappings and lists that are open */
    char *section; /* the key of the file whose value comes next; NULL: a key does */
    char *key;     /* the same for a key of the annotations */
    void (*found)(void *context, const char *key, const char *value);
    void *context;
};

static void drop(char **text)
{
    free(*text);
    *text = NULL;
}

static void end_value(struct annotation_walk *walk)
{
    if (walk->depth == 1)
        drop(&walk->section);
    else if (walk->depth == 2)
        drop(&walk->key);
}

static bool in_annotations(const struct annotation_walk *walk)
{
    return walk->section && !strcmp(walk->section, "annotations");
}

/* True if a mapping or a list can begin here. */
static bool may_begin(const struct annotation_walk *walk, bool is_mapping)
{
    if (walk->depth == 0)
        return is_mapping;
    if (walk->depth == 1)
        return walk->section && (is_mapping || !in_annotations(walk));
    return true;
}

static void take_text(struct annotation_walk *walk, const char *text)
{
    char **key = walk->depth == 1 ? &walk->section : &walk->key;

    if (walk->depth > 2 || (walk->depth == 2 && !in_annotations(walk)))
        return;
    if (!*key) {
        *key = xstrdup(text);
        return;
    }
    if (walk->depth == 2)
        walk->found(walk->context, *key, text);
    end_value(walk);
}

/* Return 1 if more events follow, 0 at the end, -1 if the file is not a runtime's. */
static int take(struct annotation_walk *walk, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        if (!may_begin(walk, event->type == YAML_MAPPING_START_EVENT))
            return -1;
        walk->depth++;
        return 1;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        walk->depth--;
        end_value(walk);
        return 1;
    case YAML_SCALAR_EVENT:
        if (walk->depth == 0)
            return -1;
        take_text(walk, (const char *)event->data.scalar.value);
        return 1;
    case YAML_ALIAS_EVENT: /* not in JSON */
        return -1;
    default:
        return event->type != YAML_STREAM_END_EVENT;
    }
}

static void walk_file(struct annotation_walk *walk, const struct buffer *text)
{
    yaml_parser_t parser; /* JSON is a subset of YAML */
    yaml_event_t event;
    int more = 1;

    if (!yaml_parser_initialize(&parser))
        return;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->size);
    while (more > 0 && yaml_parser_parse(&parser, &event)) {
        more = take(walk, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

void container_annotations(int fd, void (*found)(void *context, const char *key, const char *value),
                           void *context)
{
    struct annotation_walk walk = {.found = found, .context = context};
    struct buffer text = {0};
    struct error ignored; /* the file is another program's */

    if (small_file_take(fd, "config.json", &text, &ignored))
        return;
    walk_file(&walk, &text);
    drop(&walk.section);
    drop(&walk.key);
    small_file_free(&text);
}
