// SPDX-License-Identifier: Apache-2.0
/* The program behind tools/layout-gen: print the lines of src/beam/layout_tables.h, with the
 * columns of the given releases read from DWARF and the others unchanged. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "beam/layout.h"
#include "elf/struct_offsets.h"

enum {
    RELEASES = NEWEST_RELEASE - OLDEST_RELEASE + 1,
    ROWS = sizeof(struct layout) / sizeof(int32_t),
};

static const char *const members[ROWS] = {
#define LAYOUT_ROW(member, name) [offsetof(struct layout, member) / sizeof(int32_t)] = #member,
#include "beam/layout_rows.h"
#undef LAYOUT_ROW
};

static const char *const names[ROWS] = {
#define LAYOUT_ROW(member, name) [offsetof(struct layout, member) / sizeof(int32_t)] = name,
#include "beam/layout_rows.h"
#undef LAYOUT_ROW
};

static int32_t columns[ROWS][RELEASES] = {
#define LAYOUT_COLUMNS(member, ...)                                                                \
    [offsetof(struct layout, member) / sizeof(int32_t)] = {__VA_ARGS__},
#include "beam/layout_tables.h"
};

/* Replace a column; false if the file has no DWARF of a VM. */
static bool read_column(int release, const char *path)
{
    const size_t process = offsetof(struct layout, sizeof_process) / sizeof(int32_t);
    int32_t offsets[ROWS];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && struct_offsets_find(fd, names, ROWS, offsets) &&
                 offsets[process] != STRUCT_UNKNOWN;

    if (fd >= 0)
        close(fd);
    for (size_t row = 0; found && row < ROWS; row++)
        columns[row][release - OLDEST_RELEASE] =
            offsets[row] == STRUCT_UNKNOWN ? MEMBER_UNKNOWN : offsets[row];
    return found;
}

static void print_columns(void)
{
    for (size_t row = 0; row < ROWS; row++) {
        printf("LAYOUT_COLUMNS(%s", members[row]);
        for (int i = 0; i < RELEASES; i++)
            printf(", %d", columns[row][i]);
        printf(")\n");
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *path;
        long release = strtol(argv[i], &path, 10);

        if (*path != '=' || release < OLDEST_RELEASE || release > NEWEST_RELEASE) {
            fprintf(stderr, "usage: layout-gen RELEASE=FILE..., releases %d to %d\n",
                    OLDEST_RELEASE, NEWEST_RELEASE);
            return 2;
        }
        if (!read_column((int)release, path + 1)) {
            fprintf(stderr, "layout-gen: %s has no DWARF of an Erlang VM\n", path + 1);
            return 1;
        }
    }
    print_columns();
    return 0;
}
