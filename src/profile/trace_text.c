// SPDX-License-Identifier: Apache-2.0
#include "profile/trace_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 16 }; /* of 64 bits */

void trace_id_text(const struct trace_span *span, char text[TRACE_ID_TEXT])
{
    snprintf(text, TRACE_ID_TEXT, "%016" PRIx64 "%016" PRIx64, span->trace_high, span->trace_low);
}

void span_id_text(const struct trace_span *span, char text[SPAN_ID_TEXT])
{
    snprintf(text, SPAN_ID_TEXT, "%016" PRIx64, span->span);
}

/* True if the text has `size` hexadecimal digits, and nothing else. */
static bool is_hexadecimal(const char *text, size_t size)
{
    return strlen(text) == size && strspn(text, "0123456789abcdefABCDEF") == size;
}

bool trace_id_parse(const char *text, struct trace_span *ret_span)
{
    char high[DIGITS + 1];

    if (!is_hexadecimal(text, TRACE_ID_TEXT - 1))
        return false;
    memcpy(high, text, DIGITS);
    high[DIGITS] = '\0';
    ret_span->trace_high = strtoull(high, NULL, 16);
    ret_span->trace_low = strtoull(text + DIGITS, NULL, 16);
    return true;
}

bool span_id_parse(const char *text, struct trace_span *ret_span)
{
    if (!is_hexadecimal(text, SPAN_ID_TEXT - 1))
        return false;
    ret_span->span = strtoull(text, NULL, 16);
    return true;
}
