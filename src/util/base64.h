// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Write bytes as base64 (RFC 4648, section 4), padded, without line breaks. */
void base64_write(FILE *file, const void *data, size_t size);
