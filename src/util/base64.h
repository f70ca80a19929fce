// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/buffer.h"

/* Append bytes as base64 (RFC 4648, section 4), padded, without line breaks. */
void base64_put(struct buffer *buffer, const void *data, size_t size);
