// SPDX-License-Identifier: Apache-2.0
/* The files of web/ that make up the page, embedded in the program (page_files.S). */
#pragma once

#include <stddef.h>

struct html_file {
    const char *path; /* "web/analysis/tree.js" */
    const char *start, *end;
};

/* The last entry has no path. */
extern const struct html_file html_files[];
