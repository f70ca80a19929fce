// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as the debug file that a server sent for a stripped file (libFuzzer): its symbols, the
 * functions that the compiler inlined, and the lines of the source. The bytes need not fit the
 * stripped file: a server can write the build id that native/debug_file.c compares.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_limits.h"
#include "elf/inlined.h"
#include "elf/service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LENGTH = 0x800, SYMBOL_STEP = 23, LINE_STEP = 11 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static int file_of(const void *data, size_t size)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);

    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

/* A file with code, and without symbols. */
static int stripped_file(void)
{
    const struct {
        Elf64_Ehdr header;
        Elf64_Phdr code;
    } file = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1},
        .code = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = LENGTH},
    };

    return file_of(&file, sizeof(file));
}

/* Ask about file 0. `fd` is passed, -1: none. Return the size of the answer, which is at most
 * ELF_ANSWER_MAX. */
static size_t ask(struct elf_service *service, enum elf_call call, uint64_t address, int fd,
                  struct buffer *answer)
{
    const struct elf_request request = {.call = call, .address = address};

    answer->size = 0;
    elf_service_answer(service, &request, "", fd, answer);
    check(answer->size <= ELF_ANSWER_MAX);
    return answer->size;
}

static void use_symbols(struct elf_service *service, int fd, struct buffer *answer)
{
    const struct elf_request named = {.call = ELF_DEBUG_SYMBOL_NAMED, .text_bytes = 4};

    check(ask(service, ELF_SYMBOLS, 0, dup(fd), answer) == sizeof(uint32_t));
    answer->size = 0;
    elf_service_answer(service, &named, "main", -1, answer);
    check(answer->size == 0 || answer->size == sizeof(uint64_t));
    for (uint64_t address = 0; address < LENGTH; address += SYMBOL_STEP)
        check(ask(service, ELF_SYMBOL_AT, address, -1, answer) >= sizeof(struct elf_found));
}

/* Functions fill the answer. Only the last has no name, unless there was no room for it. */
static void check_inlined(const struct buffer *answer)
{
    struct elf_inlined head;
    size_t at = 0;

    while (at < answer->size) {
        check(answer->size - at >= sizeof(head));
        memcpy(&head, answer->data + at, sizeof(head));
        at += sizeof(head);
        check(head.name_bytes <= answer->size - at);
        check(head.file_bytes <= answer->size - at - head.name_bytes);
        at += head.name_bytes + head.file_bytes;
        check(head.name_bytes || at == answer->size);
    }
}

static void use_debug_information(struct elf_service *service, int fd, struct buffer *answer)
{
    if (!ask(service, ELF_DEBUG_INFORMATION, 0, dup(fd), answer))
        return;
    for (uint64_t address = 0; address < LENGTH; address += LINE_STEP) {
        ask(service, ELF_INLINED, address, -1, answer);
        check_inlined(answer);
    }
}

/* What is kept of the file is counted, and nothing stays of it. */
static void check_room(int fd)
{
    struct elf_room room = {0};
    struct inlined *inlined = inlined_new(fd, &room);

    check(!inlined || room.taken > 0);
    inlined_free(inlined);
    check(room.taken == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_service *service = elf_service_new();
    struct buffer answer = {0};
    int fd = file_of(data, size);

    check(ask(service, ELF_OPEN, 0, stripped_file(), &answer) >= sizeof(struct elf_opened));
    use_symbols(service, fd, &answer);
    use_debug_information(service, fd, &answer);
    check_room(fd);
    elf_service_free(service);
    buffer_free(&answer);
    close(fd);
    return 0;
}
