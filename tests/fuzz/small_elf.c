// SPDX-License-Identifier: Apache-2.0
/* Compiled, a small file with what is read of ELF files: a seed of elf_fuzz.c. */

__asm__(".pushsection .note.stapsdt,\"\",@note\n"
        ".balign 4\n"
        ".4byte 8, 32, 3\n"
        ".asciz \"stapsdt\"\n"
        ".8byte 0x100, 0, 0\n"
        ".asciz \"p\"\n"
        ".asciz \"name\"\n"
        ".asciz \"\"\n"
        ".balign 4\n"
        ".popsection\n");

int calls(int number);
int elsewhere(int number); /* in another file, so that there is a .plt */

static int twice(int number)
{
    return 2 * number;
}

int calls(int number)
{
    volatile int room[100];

    room[0] = twice(number);
    return room[0] > 1000 ? elsewhere(number) : calls(room[0] + 1) + 1;
}
