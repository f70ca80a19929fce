// SPDX-License-Identifier: Apache-2.0
/* A layout from DWARF (elf/struct_offsets.h). */
#include <stddef.h>
#include <string.h>

#include "beam/layout.h"
#include "elf/struct_offsets.h"
#include "native/parser.h"

static const struct layout_row {
    const char *name;
    size_t index;
} rows[] = {
#define LAYOUT_ROW(member, name) {name, offsetof(struct layout, member) / sizeof(int32_t)},
#include "beam/layout_rows.h"
#undef LAYOUT_ROW
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char PROCESS[] = "sizeof(Process)";

/* Ask for the offsets of all rows. False if the file has none. */
static bool ask(struct parser *parser, int fd, int32_t offsets[ROWS])
{
    struct elf_request request = {.call = ELF_OFFSETS};
    struct buffer names = {0}, answer = {0};
    bool answered;

    for (size_t i = 0; i < ROWS; i++)
        buffer_put(&names, rows[i].name, strlen(rows[i].name) + 1);
    request.text_bytes = (uint32_t)names.size;
    answered = parser_ask(parser, &request, names.data, fd, &answer) &&
               answer.size == ROWS * sizeof(offsets[0]);
    if (answered)
        memcpy(offsets, answer.data, answer.size);
    buffer_free(&names);
    buffer_free(&answer);
    return answered;
}

/* True if the file is a VM's. */
static bool has_process(const int32_t offsets[ROWS])
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, PROCESS))
            return offsets[i] != STRUCT_UNKNOWN;
    return false;
}

bool layout_from_dwarf(struct parser *parser, int fd, struct layout *layout)
{
    int32_t offsets[ROWS];

    if (!ask(parser, fd, offsets) || !has_process(offsets))
        return false;
    for (size_t i = 0; i < ROWS; i++)
        if (offsets[i] != STRUCT_UNKNOWN)
            ((int32_t *)layout)[rows[i].index] = offsets[i];
    return true;
}
