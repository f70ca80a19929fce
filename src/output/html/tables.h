// SPDX-License-Identifier: Apache-2.0
/* The tables of a profile as columns of a page; html.c describes them. */
#pragma once

#include "output/html/columns.h"
#include "profile/profile.h"

/* Add the columns of all tables, and close them. */
void html_tables_add(const struct profile *profile, struct html_columns *columns);
