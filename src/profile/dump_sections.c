// SPDX-License-Identifier: Apache-2.0
#include "profile/dump_sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/word_list.h"

static const char *const names[DUMP_SECTIONS] = {
    [DUMP_PROCESSES] = "processes",
    [DUMP_TABLES] = "tables",
    [DUMP_MEMORY] = "memory",
    [DUMP_PORTS] = "ports",
};

const char *dump_section_names(void)
{
    static char list[80];

    if (!list[0])
        for (int section = 0; section < DUMP_SECTIONS; section++)
            word_list_add(list, sizeof(list), names[section]);
    return list;
}

/* The section that the first `size` bytes of `text` name; DUMP_SECTIONS if there is none. */
static int section_named(const char *text, size_t size)
{
    int section = 0;

    while (section < DUMP_SECTIONS &&
           (strlen(names[section]) != size || strncmp(names[section], text, size) != 0))
        section++;
    return section;
}

int dump_sections_parse(const char *text, uint32_t *ret_sections, struct error *error)
{
    uint32_t sections = 0;
    bool more = true;

    while (more) {
        size_t size = strcspn(text, ",");
        int section = section_named(text, size);

        more = text[size];
        if (section == DUMP_SECTIONS)
            return error_set(error, ERROR_USAGE,
                             "a dump has no section '%.*s'; separate by commas: %s", (int)size,
                             text, dump_section_names());
        sections |= 1U << section;
        text += size + more;
    }
    *ret_sections = sections;
    return 0;
}
