// SPDX-License-Identifier: Apache-2.0
/* Answers requests about ELF files and machine code (elf/requests.h), which may be hostile. */
#pragma once

#include "elf/requests.h"
#include "util/buffer.h"

struct elf_service;

struct elf_service *elf_service_new(void);
void elf_service_free(struct elf_service *service);

/* Append the answer to `answer`, at most ELF_ANSWER_MAX bytes. `text` has request->text_bytes
 * bytes. Takes `fd`, the passed descriptor (-1: none). */
void elf_service_answer(struct elf_service *service, const struct elf_request *request,
                        const char *text, int fd, struct buffer *answer);
