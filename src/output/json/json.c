// SPDX-License-Identifier: Apache-2.0
#include "output/json/json.h"

#include <string.h>

#include "util/utf8.h"

/* Functions of stdio without locks: a file is written by one thread, and large profiles are mostly
 * short strings and numbers. */

static bool must_escape(unsigned char byte, bool in_script)
{
    return byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\' || (byte == '<' && in_script);
}

static void put_ascii(FILE *file, unsigned char byte, bool in_script)
{
    if (!must_escape(byte, in_script))
        putc_unlocked(byte, file);
    else if (byte == '"' || byte == '\\')
        fprintf(file, "\\%c", byte);
    else
        fprintf(file, "\\u%04x", byte);
}

/* Bytes that are not UTF-8, and characters that control a terminal, become U+FFFD: JSON is printed
 * on terminals too. */
static void put_string(const struct json *json, const char *text)
{
    FILE *file = json->file;
    size_t size = strlen(text);
    bool clean = utf8_is_clean(text, size);
    uint32_t point;

    putc_unlocked('"', file);
    for (size_t at = 0, length; at < size; at += length ? length : 1) {
        length = 1;
        if ((unsigned char)text[at] < 0x80 || clean) {
            put_ascii(file, (unsigned char)text[at], json->in_script);
            continue;
        }
        length = utf8_decode(text + at, size - at, &point);
        if (length && utf8_is_clean(text + at, length))
            fwrite_unlocked(text + at, 1, length, file);
        else
            fputs_unlocked("\xef\xbf\xbd", file);
    }
    putc_unlocked('"', file);
}

static void put_digits(FILE *file, uint64_t number)
{
    char digits[20], *at = digits + sizeof(digits);

    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (at < digits + sizeof(digits))
        putc_unlocked(*at++, file);
}

static void break_line(const struct json *json)
{
    putc_unlocked('\n', json->file);
    if (json->compact)
        return;
    for (int i = 0; i < __builtin_popcountll(json->by_line); i++)
        fputs_unlocked("  ", json->file);
}

/* Write what is between this element and the previous one, and the key. */
static void begin_element(struct json *json, const char *key)
{
    if (json->has_elements)
        putc_unlocked(',', json->file);
    if (json->by_line & 1)
        break_line(json);
    else if (json->has_elements && !json->compact)
        putc_unlocked(' ', json->file);
    json->has_elements = true;
    if (!key)
        return;
    put_string(json, key);
    putc_unlocked(':', json->file);
    if (!json->compact)
        putc_unlocked(' ', json->file);
}

static void open_bracket(struct json *json, const char *key, char bracket, bool by_line)
{
    begin_element(json, key);
    putc_unlocked(bracket, json->file);
    json->has_elements = false;
    json->by_line = json->by_line << 1 | by_line;
}

void json_open(struct json *json, const char *key, char bracket)
{
    open_bracket(json, key, bracket, false);
}

void json_open_lines(struct json *json, const char *key, char bracket)
{
    open_bracket(json, key, bracket, true);
}

void json_close(struct json *json, char bracket)
{
    bool breaks = json->has_elements && json->by_line & 1;

    json->by_line >>= 1;
    if (breaks)
        break_line(json);
    putc_unlocked(bracket, json->file);
    json->has_elements = true;
}

void json_text(struct json *json, const char *key, const char *text)
{
    begin_element(json, key);
    put_string(json, text);
}

void json_text_or_null(struct json *json, const char *key, const char *text)
{
    if (*text)
        json_text(json, key, text);
    else
        json_null(json, key);
}

void json_number(struct json *json, const char *key, uint64_t number)
{
    begin_element(json, key);
    put_digits(json->file, number);
}

void json_number_if(struct json *json, const char *key, uint64_t number)
{
    if (number)
        json_number(json, key, number);
}

void json_signed(struct json *json, const char *key, int64_t number)
{
    begin_element(json, key);
    if (number < 0)
        putc_unlocked('-', json->file);
    put_digits(json->file, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void json_thousandths(struct json *json, const char *key, uint64_t thousandths)
{
    begin_element(json, key);
    put_digits(json->file, thousandths / 1000);
    fprintf(json->file, ".%03u", (unsigned)(thousandths % 1000));
}

void json_ms(struct json *json, const char *key, uint64_t ns)
{
    json_thousandths(json, key, ns / 1000);
}

void json_decimal(struct json *json, const char *key, double number, int decimals)
{
    begin_element(json, key);
    fprintf(json->file, "%.*f", decimals, number);
}

void json_bool(struct json *json, const char *key, bool value)
{
    begin_element(json, key);
    fputs_unlocked(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    begin_element(json, key);
    fputs_unlocked("null", json->file);
}
