// SPDX-License-Identifier: Apache-2.0
/*
 * WriteRaw of Parca's profile store, by its JSON gateway
 * (proto/parca/profilestore/v1alpha1/profilestore.proto, v0.28.0). The gateway does not decompress
 * requests, but Parca decompresses profiles (pkg/normalizer/normalizer.go:534).
 */
#include "push/push_format.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/json/json.h"
#include "push/gzip.h"
#include "util/encode.h"

static void write_series(struct json *json, const struct push_profile *profile)
{
    struct buffer compressed = {0}, text = {0};

    gzip_put(&compressed, profile->data, profile->size);
    encode_base64(&text, compressed.data, compressed.size);
    buffer_byte(&text, '\0');
    json_open(json, NULL, '{');
    json_open(json, "labels", '{');
    json_open(json, "labels", '[');
    for (size_t i = 0; i < profile->label_count; i++) {
        json_open(json, NULL, '{');
        json_text(json, "name", profile->labels[i].name);
        json_text(json, "value", profile->labels[i].value);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    json_open(json, "samples", '[');
    json_open(json, NULL, '{');
    json_text(json, "rawProfile", text.data);
    json_close(json, '}');
    json_close(json, ']');
    json_close(json, '}');
    buffer_free(&compressed);
    buffer_free(&text);
}

static void write_request(struct buffer *body, const struct push_profile *profiles, size_t count)
{
    struct json json = {.compact = true};
    char *text = NULL;
    size_t size = 0;

    json.file = open_memstream(&text, &size);
    if (!json.file)
        abort();
    json_open(&json, NULL, '{');
    json_open(&json, "series", '[');
    for (size_t i = 0; i < count; i++)
        write_series(&json, &profiles[i]);
    json_close(&json, ']');
    json_bool(&json, "normalized", true);
    json_close(&json, '}');
    if (fclose(json.file))
        abort(); /* out of memory */
    buffer_put(body, text, size);
    free(text);
}

static const char *const headers[] = {"Content-Type: application/json", NULL};

const struct push_format parca_request_format = {
    .path = "/api/profiles/writeraw",
    .headers = headers,
    .most = SIZE_MAX,
    .write = write_request,
    .problem = push_format_problem,
    .is_later = push_format_is_later,
};
