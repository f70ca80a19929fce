// SPDX-License-Identifier: Apache-2.0
/* The process of a parser (native/parser.h), and its messages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "elf/requests.h"

enum {
    PARSER_LOG_MAX = 4096,
    PARSER_MESSAGE_MAX = 16 + ELF_ANSWER_MAX + PARSER_LOG_MAX,
};

/* A message of the parser: this, the answer, and lines for the log. */
struct parser_answer {
    uint32_t answer_bytes, log_bytes;
};

/* Send a request and its text, with the socket `file` that has the descriptor to pass
 * (patient_open_for_reading() in os/patient_open.h; -1: none). False if the parser is gone. */
bool parser_process_send(int socket, const struct elf_request *request, const char *text, int file);

/* Give up all rights, and answer the requests that come through `socket`, until it is closed. For a
 * process that fork() has just made. */
noreturn void parser_process_run(int socket);
