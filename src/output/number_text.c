// SPDX-License-Identifier: Apache-2.0
#include "output/number_text.h"

#include <string.h>

struct number_text number_text(uint64_t number)
{
    struct number_text result = {{0}};
    char *at = result.text + sizeof(result.text) - 1;
    int digits = 0;

    do {
        if (digits && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
        digits++;
    } while (number /= 10);
    memmove(result.text, at, strlen(at) + 1);
    return result;
}

double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
