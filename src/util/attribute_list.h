// SPDX-License-Identifier: Apache-2.0
/*
 * A list of attributes as one text, in the form of the variable OTEL_RESOURCE_ATTRIBUTES:
 * "a=b,c=d". In keys and values, %XX stands for a byte (OpenTelemetry 1.48,
 * specification/resource/sdk.md: "Specifying resource information via an environment variable").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* Append an attribute. No NUL is appended. */
void attribute_list_put(struct buffer *list, const char *key, const char *value);

/* Take the attribute at `*at`, and move `*at` behind it. Key and value are new texts with NUL in
 * the buffers, and safe to show (utf8_clean()). A part without '=' is skipped. False at the end. */
bool attribute_list_next(const char **at, struct buffer *key, struct buffer *value);

/* Return the value of the first attribute with this key, to be freed; NULL if there is none. */
char *attribute_list_find(const char *list, const char *key);
