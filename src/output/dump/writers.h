// SPDX-License-Identifier: Apache-2.0
/* Writers of a dump (profile/dump.h): text and JSON. */
#pragma once

#include <stdio.h>

#include "profile/dump.h"

/* Write text: processes grouped by stack and status, with the first few members of each group. The
 * group of the crashed process comes first, then the largest. */
void dump_write_text(FILE *file, const struct dump *dump);

/* Write one JSON object with every process, and every stack once. */
void dump_write_json(FILE *file, const struct dump *dump);
