// SPDX-License-Identifier: Apache-2.0
/* Texts in a row of a table, besides names and values (output/rows.h). */
#pragma once

#include "output/number_text.h"
#include "output/rows.h"

/* "+- 196.0 us"; "+- ?" if the interval is unknown; "" if the value is exact. */
struct number_text half_text(double half, enum unit unit);

/* Append "other (12 rows)", or "other" if it has no rows. `what` is the singular: "row". */
void rest_text(const struct rows_rest *rest, const char *what, struct buffer *text);
