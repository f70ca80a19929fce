// SPDX-License-Identifier: Apache-2.0
/*
 * The parser of ELF files and machine code. It is a process of its own without any rights, because
 * the files may be hostile and the libraries that parse them are large: the process has no
 * capabilities, opens no files, and can only read the descriptors that it is given. Each VM has its
 * own parser, so that its files can't harm other VMs' symbols.
 *
 * If a file or code makes the parser crash, use all its memory, or hang, the parser is started
 * again, and the file or code counts as one that can't be read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

#include "elf/requests.h"
#include "util/buffer.h"

struct decoder;
struct parser;

/* Start a parser. Never NULL: if no process can be started, no request has an answer. The caller
 * has one reference. */
struct parser *parser_start(void);

/* A parser in this process, for a process that has given up its rights itself, and for tests. */
struct parser *parser_here(void);

struct parser *parser_share(struct parser *parser);
/* Give up a reference; the last one ends the process. `parser` can be NULL. */
void parser_release(struct parser *parser);

/* False if no process could be started: the limit of processes is reached. */
bool parser_has_started(const struct parser *parser);

/* End the process if it had no request for a minute, for 10 s if many such processes run, or for
 * 1 s if the VM is idle. The next request starts it again. The process takes 2 to 8 MB, and most
 * VMs of a large host have no new code for hours. An agent that begins on a large host would have
 * hundreds of processes in the first minute. */
void parser_rest(struct parser *parser, bool is_idle);

/* A number that grows when the process has ended: the files that it had open must be opened
 * again. */
unsigned int parser_epoch(const struct parser *parser);

/* The device of files whose server did not answer; 0: none. They are not requested again, because
 * each time takes a while. */
uint64_t parser_silent_device(const struct parser *parser);
void parser_note_silent(struct parser *parser, uint64_t device);

/* Send a request (elf/requests.h) and wait for its answer, which replaces the content of `answer`.
 * `text` has request->text_bytes bytes. `fd` is a descriptor of the file to pass, which can have
 * O_PATH, borrowed (-1: none). False if there is no answer, because the parser crashed, hangs, or
 * has taken too long in all; and with errno EBUSY if the server of the file that is passed or read
 * does not answer (FUSE, NFS). */
bool parser_ask(struct parser *parser, const struct elf_request *request, const char *text, int fd,
                struct buffer *answer);

/* A decoder (arch/decoder.h) that lets the parser decode. Borrows `parser`. */
struct decoder *parser_decoder(struct parser *parser);

/* ---- parser_process.c ---- */

/* The process of a parser, and its messages. */

enum {
    PARSER_LOG_MAX = 4096,
    PARSER_MESSAGE_MAX = 16 + ELF_ANSWER_MAX + PARSER_LOG_MAX,
};

/* A message of the parser: this, the answer, and lines for the log. */
struct parser_answer {
    uint32_t answer_bytes, log_bytes;
};

/* Send a request and its text, with the socket `file` that has the descriptor to pass
 * (patient_open_for_reading() in os/patient_open.h; -1: none). False if the parser has ended. */
bool parser_process_send(int socket, const struct elf_request *request, const char *text, int file);

/* Give up all rights, and answer the requests that come through `socket`, until it is closed. For a
 * process that fork() has just made. */
noreturn void parser_process_run(int socket);

/* ---- parser_fork.c ---- */

/* Start a child of this process that runs parser_process_run(socket). Return its pid, or -1 with
 * errno. The caller keeps `socket`. Any thread may call this. */
pid_t parser_fork(int socket);
