// SPDX-License-Identifier: Apache-2.0
#include "output/json.h"

void json_string(FILE *file, const char *text)
{
    putc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f || *at == '<')
            fprintf(file, "\\u%04x", *at);
        else
            putc(*at, file);
    }
    putc('"', file);
}

void json_string_or_null(FILE *file, const char *text)
{
    if (*text)
        json_string(file, text);
    else
        fputs("null", file);
}
