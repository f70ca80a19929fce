// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_suggestion.h"

#include <stdio.h>
#include <string.h>

#include "util/nearest_word.h"

static void write_word(const char *word, char text[CONFIG_SUGGESTION_ROOM])
{
    snprintf(text, CONFIG_SUGGESTION_ROOM, "; did you mean '%s'?", word);
}

/* Consider the names that are allowed there. */
static void consider_section(enum config_section section, struct nearest_word *nearest)
{
    if (section == CONFIG_SECTIONS)
        for (int i = 0; i < CONFIG_SECTIONS; i++)
            nearest_word_consider(nearest, config_section_name((enum config_section)i));
    else
        for (size_t i = 0; config_key_at(i); i++)
            if (config_key_at(i)->section == section)
                nearest_word_consider(nearest, config_key_at(i)->name);
}

void config_suggestion_of_key(enum config_section section, const char *name,
                              char text[CONFIG_SUGGESTION_ROOM])
{
    struct nearest_word nearest = nearest_word_begin(name);
    char path[CONFIG_PATH_ROOM];

    text[0] = '\0';
    for (size_t i = 0; config_key_at(i); i++)
        if (!strcmp(config_key_at(i)->name, name)) {
            config_key_path(config_key_at(i), path);
            write_word(path, text);
            return;
        }
    consider_section(section, &nearest);
    if (nearest.word)
        write_word(nearest.word, text);
}

void config_suggestion_of_variable(enum config_section section, size_t index, const char *name,
                                   char text[CONFIG_SUGGESTION_ROOM])
{
    struct nearest_word nearest = nearest_word_begin(name);
    char variable[CONFIG_VARIABLE_ROOM], best[CONFIG_VARIABLE_ROOM] = "";

    text[0] = '\0';
    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);

        if (key->section != section)
            continue;
        config_key_variable(key, index, variable);
        nearest.word = NULL;
        nearest_word_consider(&nearest, variable + strlen(variable) - strlen(key->name));
        if (nearest.word)
            memcpy(best, variable, sizeof(best));
    }
    if (best[0])
        write_word(best, text);
}
