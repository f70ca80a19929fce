// SPDX-License-Identifier: Apache-2.0
/* A part of a text that has another owner. It has no NUL at its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const char *at;
    size_t size;
};

static inline struct span span_skip(struct span text, size_t size)
{
    return (struct span){text.at + size, text.size - size};
}

static inline bool span_is(struct span text, const char *other)
{
    return text.size == strlen(other) && !memcmp(text.at, other, text.size);
}

static inline bool span_begins(struct span text, const char *with)
{
    return text.size >= strlen(with) && !memcmp(text.at, with, strlen(with));
}

static inline bool span_ends(struct span text, const char *with)
{
    return text.size >= strlen(with) &&
           !memcmp(text.at + text.size - strlen(with), with, strlen(with));
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Return the text after leading spaces and tabs. */
static inline struct span span_after_blank(struct span text)
{
    size_t size = 0;

    while (size < text.size && (text.at[size] == ' ' || text.at[size] == '\t'))
        size++;
    return span_skip(text, size);
}

/* Take a decimal number off the front. False if there is none or it is above `max`. */
static inline bool span_take_number(struct span *text, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t size = 0;

    for (; size < text->size && is_digit(text->at[size]); size++) {
        unsigned digit = (unsigned)(text->at[size] - '0');

        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (!size)
        return false;
    *ret_value = value;
    *text = span_skip(*text, size);
    return true;
}

/* Take a lower-case hexadecimal number off the front. False if there is none or it has more than 64
 * bits. */
static inline bool span_take_hex(struct span *text, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t size = 0;

    for (; size < text->size; size++) {
        char c = text->at[size];
        unsigned digit;

        if (is_digit(c))
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a' + 10);
        else
            break;
        if (value >> 60)
            return false;
        value = value << 4 | digit;
    }
    if (!size)
        return false;
    *ret_value = value;
    *text = span_skip(*text, size);
    return true;
}

/* True if a text with a NUL at its end begins with `start`. */
static inline bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}
