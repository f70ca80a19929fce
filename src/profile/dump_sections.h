// SPDX-License-Identifier: Apache-2.0
/* The sections of a dump: what `dump --list` selects. */
#pragma once

#include <stdint.h>

#include "util/error.h"

enum dump_section { DUMP_PROCESSES, DUMP_TABLES, DUMP_PORTS, DUMP_MEMORY, DUMP_SECTIONS };

/* A set of sections: 1 << enum dump_section each. */
enum { DUMP_ALL = (1 << DUMP_SECTIONS) - 1 };

/* What the VM has besides processes. */
enum { DUMP_NODE = DUMP_ALL & ~(1 << DUMP_PROCESSES) };

/* Parse "processes,tables", of which each must be in `allowed`. Return 0, or -1 with ERROR_USAGE.
 */
int dump_sections_parse(const char *text, uint32_t allowed, uint32_t *ret_sections,
                        struct error *error);

/* The names of all sections, or of those in DUMP_NODE: "tables, ports, memory". */
const char *dump_section_names(void);
const char *dump_node_section_names(void);
