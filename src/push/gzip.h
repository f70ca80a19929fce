// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/buffer.h"

/* Append data as a file of gzip. Equal data give equal files. */
void gzip_put(struct buffer *buffer, const void *data, size_t size);
