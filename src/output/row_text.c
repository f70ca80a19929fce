// SPDX-License-Identifier: Apache-2.0
#include "output/row_text.h"

#include <math.h>
#include <stdio.h>

#include "util/number.h"

struct number_text half_text(double half, enum unit unit)
{
    struct number_text text = {"+- ?"};

    if (isnan(half))
        return text;
    text.text[0] = '\0';
    if (half > 0)
        snprintf(text.text, sizeof(text.text), "+- %.36s",
                 unit == UNIT_COUNT ? number_text(whole_part(ceil(half))).text
                                    : amount_text(whole_part(ceil(half)), unit).text);
    return text;
}

void rest_text(const struct rows_rest *rest, const char *what, struct buffer *text)
{
    buffer_text(text, "other");
    if (rest->rows)
        buffer_format(text, " (%s %s%s)", number_text(rest->rows).text, what,
                      rest->rows == 1 ? "" : "s");
}
