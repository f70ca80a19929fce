// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/span.h"

/* Return the value of a key of a JSON object, if it is a string: malloc'ed, up to its first NUL.
 * NULL: there is none, or what is before it is no JSON. */
char *answer_json_text(struct span json, const char *key);
