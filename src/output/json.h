// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

/* Write a string of JSON (RFC 8259, section 7) with its quotes; valid UTF-8 is kept as it is. The
 * escapes make it safe inside of an HTML script element as well. */
void json_string(FILE *file, const char *text);
/* The same, but null for an empty text. */
void json_string_or_null(FILE *file, const char *text);
