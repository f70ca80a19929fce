// SPDX-License-Identifier: Apache-2.0
/* A census, for people and for programs. */
#pragma once

#include <stdio.h>

#include "profile/census.h"

/* Processes by equal stacks and status, the largest group first, of each the first few members. */
void census_write_text(FILE *file, const struct census *census);

/* One JSON object with each process, and each stack once. */
void census_write_json(FILE *file, const struct census *census);
