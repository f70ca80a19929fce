// SPDX-License-Identifier: Apache-2.0
/*
 * Samples as bytes, added in order of time and read process by process: then neighbours in a column
 * are similar and compress well. A row holds only the fields that a page stores process by process:
 * stack, thread, detail, status, activity, flags and metrics, but not time, event or values.
 */
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

struct html_row {
    process_id process;
    size_t start; /* offset in html_rows.bytes */
};

/* All zero is empty. */
struct html_rows {
    struct buffer bytes;
    struct html_row *list; /* in order of time */
    uint32_t count;
    size_t room;
};

void html_rows_add(struct html_rows *rows, const struct sample *sample);
void html_rows_free(struct html_rows *rows);

/* Pass all rows to `each`, process by process, and in order of time within a process. `processes`
 * is the highest process id. */
void html_rows_each(const struct html_rows *rows, uint32_t processes,
                    void (*each)(void *context, const struct sample *sample), void *context);
