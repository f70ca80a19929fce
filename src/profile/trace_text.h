// SPDX-License-Identifier: Apache-2.0
/* The ids of traces and spans as W3C's trace context writes them: lower-case hexadecimal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

enum { TRACE_ID_TEXT = 33, SPAN_ID_TEXT = 17 }; /* bytes with the NUL */

void trace_id_text(const struct trace_span *span, char text[TRACE_ID_TEXT]);
void span_id_text(const struct trace_span *span, char text[SPAN_ID_TEXT]);

/* Set the ids of *ret_span that the text has, in lower or upper case. False if it is no such id. */
bool trace_id_parse(const char *text, struct trace_span *ret_span);
bool span_id_parse(const char *text, struct trace_span *ret_span);
