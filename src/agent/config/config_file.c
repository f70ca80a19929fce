// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agent/config/config_store.h"
#include "os/patient_file.h"
#include "util/utf8.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

/* One byte more than is allowed shows that the file is too long, also if it grows meanwhile. */
static int read_text(const char *path, struct buffer *text, struct error *error)
{
    struct patient_file *file = patient_file_open(path, false, error);
    int code;

    if (!file)
        return -1;
    text->size +=
        patient_file_read(file, 0, buffer_reserve(text, FILE_BYTES_MAX + 1), FILE_BYTES_MAX + 1);
    code = errno;
    patient_file_close(file);
    if (text->size > FILE_BYTES_MAX)
        return error_set(error, ERROR_USAGE,
                         "'%s' has more than 1 MiB, which is no configuration of the agent", path);
    if (code)
        return error_set(error, ERROR_FAILED, "can't read '%s': %s", path,
                         patient_file_problem(code));
    return 0;
}

/* The characters that YAML allows (YAML 1.1, 5.1), without those that no text needs. The only line
 * breaks are LF and CR. */
static bool is_text(uint32_t point)
{
    if (point < 0x20)
        return point == '\t' || point == '\n' || point == '\r';
    return (point < 0x7f || point > 0x9f) && point != 0x2028 && point != 0x2029 &&
           point != 0xfffe && point != 0xffff;
}

/* Set the error that a character can't be there. Directives are refused because libyaml compares
 * each with all others. */
static int check_character(uint32_t point, bool is_first, struct error *error)
{
    if (!is_text(point))
        return error_set(error, ERROR_USAGE, "the file has the control character U+%04X here",
                         point);
    if (point == '%' && is_first)
        return error_set(error, ERROR_USAGE, "a directive of YAML (%%) can't be used here");
    return 0;
}

static int check_text(const struct agent_config *config, const struct buffer *text,
                      struct error *error)
{
    size_t line = 1, column = 1, length;
    uint32_t point = 0;

    for (size_t i = 0; i < text->size; i += length) {
        length = utf8_decode(text->data + i, text->size - i, &point);
        if (!length)
            error_set(error, ERROR_USAGE, "this is not UTF-8 text");
        if (!length || check_character(point, column == 1, error))
            return config_store_prefix_line(config, line, column, error);
        column++;
        if (point == '\n' ||
            (point == '\r' && (i + 1 == text->size || text->data[i + 1] != '\n'))) {
            line++;
            column = 1;
        }
    }
    return 0;
}

int config_file_read(const struct agent_config *config, struct buffer *text, struct error *error)
{
    size_t mark = strlen(BYTE_ORDER_MARK);

    if (read_text(config->sources->path, text, error))
        return -1;
    if (text->size >= mark && !memcmp(text->data, BYTE_ORDER_MARK, mark)) {
        text->size -= mark;
        memmove(text->data, text->data + mark, text->size);
    }
    return check_text(config, text, error);
}
