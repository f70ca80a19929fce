// SPDX-License-Identifier: Apache-2.0
/*
 * Opens mapped ELF files with care, and asks the parser about them: the target may be hostile.
 * Addresses here are the file's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/cfi_tables.h"
#include "native/mappings.h"
#include "native/parser.h"

struct memory;

/* Open the file behind `mapping` of process `pid`. NULL if there is no file, if the parser does not
 * accept it, or if its server does not answer (FUSE, NFS). A reference of `parser` is shared. */
struct elf_file *elf_file_open(struct parser *parser, pid_t pid, struct memory *memory,
                               const struct mapping *mapping);
/* The parser has the file open until it ends. */
void elf_file_free(struct elf_file *file);

/* Make an elf_file of the file of `fd`, which can have O_PATH. Takes `fd`, also on failure. Return
 * NULL on failure, with errno EBUSY if its server does not answer, and for an `fd` of -1. `root` is
 * the root directory of the process, or a substitute for it: the debug file is searched for there.
 * elf_file_place() gives it its place. */
struct elf_file *elf_file_of_fd(struct parser *parser, int fd, const char *root, const char *path);

/* Compute the bias of the file from a mapping of it. False if `mapping` maps no loadable segment of
 * the file. */
bool elf_file_place(struct elf_file *file, const struct mapping *mapping);

/* Make an elf_file of an image in memory (the vdso; a recorded image in tests), and place it. */
struct elf_file *elf_file_of_image(struct parser *parser, const void *image, size_t size,
                                   const struct mapping *mapping);

/* Find the bias of the file if `mapping` maps it. False if no loadable segment is mapped by it. */
bool elf_file_bias(const struct elf_file *file, const struct mapping *mapping, uint64_t *bias);

/* Ask about the file (elf/requests.h); `fd` is -1 or a descriptor to pass (parser_ask()), borrowed.
 * False if there is no answer, now and later. An empty answer refuses the request. */
bool elf_file_ask(struct elf_file *file, enum elf_call call, uint64_t address, const char *text,
                  int fd, struct buffer *answer);

/* Read `size` bytes of the file at `offset`. Return the number of bytes read: fewer at the end of
 * the file, or on failure. */
size_t elf_file_read(struct elf_file *file, uint64_t offset, void *buffer, size_t size);

/* Append the rules for unwinding at `pc` and around it (ELF_RULES in elf/requests.h); nothing if
 * there is none. */
void elf_file_rules(struct elf_file *file, uint64_t pc, struct buffer *rules);

/* The build id of another file; unknown if it is no ELF file. */
struct build_id elf_file_build_id(struct parser *parser, int fd);
