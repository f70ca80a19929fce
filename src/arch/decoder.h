// SPDX-License-Identifier: Apache-2.0
/*
 * The instructions of machine code. Another process decodes them (arch/disassembler.h), some
 * hundred with one request. Its answers are not trusted: hostile code may have taken it over. They
 * are checked, so they can be wrong, but do no harm.
 */
#pragma once

#include <stdbool.h>

#include "arch/code_bytes.h"
#include "arch/instruction.h"
#include "util/buffer.h"

/* Bytes of code in a request, at most. */
enum { DECODER_REQUEST_BYTES = 1 << 12 };

/* Let a disassembler decode the code. Its answer replaces the content of `answer`. False if there
 * is none. */
typedef bool (*decoder_ask)(void *context, const struct code_bytes *code, struct buffer *answer);

struct decoder;

/* A decoder of code that stays the same until the decoder is freed. */
struct decoder *decoder_new(decoder_ask ask, void *context);
void decoder_free(struct decoder *decoder);

/* Ask for all instructions of the code now, because they will be needed in another order. Useful up
 * to 64 KB, which the decoder keeps. */
void decoder_ahead(struct decoder *decoder, const struct code_bytes *code);

/* Decode the first instruction, and move `code` behind it. False if the bytes are none, if there is
 * no answer or an unsound one, or if the decoder has asked too often. */
bool decoder_next(struct decoder *decoder, struct code_bytes *code,
                  struct instruction *instruction);
