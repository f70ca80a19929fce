// SPDX-License-Identifier: Apache-2.0
#include "push/push_format.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

#define CUT "..."

/* Replace each run of white space by a blank, and remove it at both ends. */
static void join_lines(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        if (!isspace((unsigned char)*at))
            *to++ = *at;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

/* Return how many bytes of a clean text, in whole characters, fit into `room`. */
static size_t whole_characters(const char *text, size_t room)
{
    uint32_t point;
    size_t at = 0, length;

    while (text[at] && (length = utf8_decode(text + at, strlen(text + at), &point)) > 0 &&
           at + length <= room)
        at += length;
    return at;
}

void push_reason_set(struct push_reply *reply, const char *format, ...)
{
    char *text, *clean;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    join_lines(text);
    clean = utf8_clean_string(text);
    if (strlen(clean) < sizeof(reply->reason))
        strcpy(reply->reason, clean);
    else
        snprintf(reply->reason, sizeof(reply->reason), "%.*s" CUT,
                 (int)whole_characters(clean, sizeof(reply->reason) - sizeof(CUT)), clean);
    free(text);
    free(clean);
}
