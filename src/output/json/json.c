// SPDX-License-Identifier: Apache-2.0
#include "output/json/json.h"

#include <inttypes.h>

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

static void put_key(struct json *json, const char *key)
{
    fputs(json->before, json->file);
    json->before = ", ";
    if (!key)
        return;
    json_string(json->file, key);
    fputs(": ", json->file);
}

void json_open(struct json *json, const char *key, char bracket)
{
    put_key(json, key);
    putc(bracket, json->file);
    json->before = "";
}

void json_row(struct json *json, bool first)
{
    if (!first)
        json->before = ",\n ";
    json_open(json, NULL, '{');
}

void json_close(struct json *json, char bracket)
{
    putc(bracket, json->file);
    json->before = ", ";
}

void json_text(struct json *json, const char *key, const char *text)
{
    put_key(json, key);
    json_string(json->file, text);
}

void json_number(struct json *json, const char *key, uint64_t number)
{
    put_key(json, key);
    fprintf(json->file, "%" PRIu64, number);
}

void json_bool(struct json *json, const char *key, bool value)
{
    put_key(json, key);
    fputs(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    put_key(json, key);
    fputs("null", json->file);
}
