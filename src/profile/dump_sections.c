// SPDX-License-Identifier: Apache-2.0
#include "profile/dump_sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/word_list.h"

enum { NAMES_BYTES = 80 };

static const char *const names[DUMP_SECTIONS] = {
    [DUMP_PROCESSES] = "processes",
    [DUMP_TABLES] = "tables",
    [DUMP_MEMORY] = "memory",
    [DUMP_PORTS] = "ports",
};

/* List the names of the sections in `list`, which has NAMES_BYTES. */
static const char *list_names(uint32_t sections, char *list)
{
    if (!list[0])
        for (int section = 0; section < DUMP_SECTIONS; section++)
            if (sections >> section & 1)
                word_list_add(list, NAMES_BYTES, names[section]);
    return list;
}

const char *dump_section_names(void)
{
    static char list[NAMES_BYTES];

    return list_names(DUMP_ALL, list);
}

const char *dump_node_section_names(void)
{
    static char list[NAMES_BYTES];

    return list_names(DUMP_NODE, list);
}

/* The section in `allowed` that the first `size` bytes of `text` name; DUMP_SECTIONS if there is
 * none. */
static int section_named(const char *text, size_t size, uint32_t allowed)
{
    int section = 0;

    while (section < DUMP_SECTIONS &&
           (!(allowed >> section & 1) || strlen(names[section]) != size ||
            strncmp(names[section], text, size) != 0))
        section++;
    return section;
}

int dump_sections_parse(const char *text, uint32_t allowed, uint32_t *ret_sections,
                        struct error *error)
{
    char listed[NAMES_BYTES] = "";
    uint32_t sections = 0;
    bool more = true;

    while (more) {
        size_t size = strcspn(text, ",");
        int section = section_named(text, size, allowed);

        more = text[size];
        if (section == DUMP_SECTIONS)
            return error_set(error, ERROR_USAGE,
                             "there is no section '%.*s'; separate by commas: %s", (int)size, text,
                             list_names(allowed, listed));
        sections |= 1U << section;
        text += size + more;
    }
    *ret_sections = sections;
    return 0;
}
