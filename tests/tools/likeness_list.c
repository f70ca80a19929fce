// SPDX-License-Identifier: Apache-2.0
/*
 * likeness_list FILE: print the functions of an ELF file that have a likeness (elf/likenesses.h), a
 * line for each: its start and its likeness, hexadecimal.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "elf/likenesses.h"

enum { ADDRESSES = 32 << 20 };

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    struct likenesses *likenesses;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    if (!elf)
        return 1;
    likenesses = likenesses_new(elf, fd);
    for (uint64_t start = 0; start < ADDRESSES; start++) {
        uint64_t likeness = likenesses_find(likenesses, start);

        if (likeness)
            printf("%" PRIx64 " %" PRIx64 "\n", start, likeness);
    }
    likenesses_free(likenesses);
    elf_end(elf);
    close(fd);
    return 0;
}
