// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config/config_table.h"

enum { CONFIG_SUGGESTION_ROOM = 100 };

/* Write "; did you mean 'cpu'?" for the unknown key `name` of a section; CONFIG_SECTIONS: the name
 * of a section. Write "" if no key is like it. A key of the same name in another section counts:
 * "; did you mean 'record.cpu'?". */
void config_suggestion_of_key(enum config_section section, const char *name,
                              char text[CONFIG_SUGGESTION_ROOM]);

/* The same for the variables of a section, of the entry `index` if it is a list. `name` is what
 * follows the section and the index: "CPU". */
void config_suggestion_of_variable(enum config_section section, size_t index, const char *name,
                                   char text[CONFIG_SUGGESTION_ROOM]);
