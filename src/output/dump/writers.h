// SPDX-License-Identifier: Apache-2.0
/* Writers of a dump (profile/dump.h): text and JSON. */
#pragma once

#include <stdio.h>

#include "output/json/json.h"
#include "profile/dump.h"

/* Write text: processes grouped by stack and status, with the first few members of each group. The
 * group of the crashed process comes first, then the largest. */
void dump_write_text(FILE *file, const struct dump *dump);

/* Write one JSON object with every process, and every stack once. */
void dump_write_json(FILE *file, const struct dump *dump);

/* ---- the sections: a file writes each as text and as JSON ---- */

/* Write a section, which begins and ends with a line. */
void dump_processes_text(FILE *file, const struct dump *dump);
void dump_tables_text(FILE *file, const struct dump *dump);
void dump_memory_text(FILE *file, const struct dump *dump);
void dump_ports_text(FILE *file, const struct dump *dump);

/* Write the members of a section into the object of the dump. */
void dump_processes_json(struct json *json, const struct dump *dump);
void dump_tables_json(struct json *json, const struct dump *dump);
void dump_memory_json(struct json *json, const struct dump *dump);
void dump_ports_json(struct json *json, const struct dump *dump);

/* Write the text, or null for 0. */
void dump_text_json(struct json *json, const char *key, const struct profile *profile,
                    string_id text);
/* Write the member "owner": the process, or null for 0. */
void dump_owner_json(struct json *json, const struct profile *profile, process_id owner);
