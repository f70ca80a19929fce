// SPDX-License-Identifier: Apache-2.0
/* Lines of JSON: each line is an object with a "type" (docs/json.md). */
#pragma once

#include "output/json/json.h"

static inline struct json json_line_open(FILE *file, const char *type)
{
    struct json json = {file};

    json_open(&json, NULL, '{');
    json_text(&json, "type", type);
    return json;
}

static inline void json_line_close(struct json *json)
{
    json_close(json, '}');
    putc('\n', json->file);
}
