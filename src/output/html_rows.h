// SPDX-License-Identifier: Apache-2.0
/*
 * Samples as bytes, taken in order of time and given back process by process: what is near in a
 * column is alike then, and compresses. A row has of a sample what
 * tells of its process; what tells of its moment is not in it.
 */
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

struct html_row {
    process_id process;
    size_t start; /* in bytes */
};

/* All zero is none. */
struct html_rows {
    struct buffer bytes;
    struct html_row *list; /* in order of time */
    uint32_t count;
    size_t room;
};

void html_rows_add(struct html_rows *rows, const struct sample *sample);
void html_rows_free(struct html_rows *rows);

/* All of them, by process (there are so many), and in order of time within one. */
void html_rows_each(const struct html_rows *rows, uint32_t processes,
                    void (*each)(void *context, const struct sample *sample), void *context);
