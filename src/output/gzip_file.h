// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

/* A FILE that writes gzip to `fd`, which it owns; NULL if out of memory. */
FILE *gzip_fdopen(int fd);
