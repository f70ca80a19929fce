// SPDX-License-Identifier: Apache-2.0
#include "arch/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum {
    FIRST_BYTES = 1024,     /* of code in a request that does not continue a run */
    RUNS_MAX = 32,          /* that are kept */
    REQUESTS_MAX = 1 << 12, /* of a decoder: code can jump into the middle of its instructions */
};

/* Instructions that follow each other, from one answer. */
struct decoded_run {
    uint64_t start, end;
    char *bytes;  /* as arch/disassembler.h puts them */
    uint32_t *at; /* where each begins in `bytes` */
    size_t count;
};

struct decoder {
    decoder_ask ask;
    void *context;
    unsigned int requests_left;
    struct decoded_run runs[RUNS_MAX];
    unsigned int oldest;     /* the next one to be replaced */
    struct decoded_run *run; /* NULL: none */
    size_t next;             /* instruction in `run` */
};

struct decoder *decoder_new(decoder_ask ask, void *context)
{
    struct decoder *decoder = xcalloc(1, sizeof(*decoder));

    decoder->ask = ask;
    decoder->context = context;
    decoder->requests_left = REQUESTS_MAX;
    return decoder;
}

static void forget(struct decoded_run *run)
{
    free(run->bytes);
    free(run->at);
    memset(run, 0, sizeof(*run));
}

void decoder_free(struct decoder *decoder)
{
    if (!decoder)
        return;
    for (unsigned int i = 0; i < RUNS_MAX; i++)
        forget(&decoder->runs[i]);
    free(decoder);
}

/* ---- answers ---- */

/* Copy the instruction that begins at `bytes`. False if it has more bytes than `size`. */
static bool unpack(const char *bytes, size_t size, struct instruction *instruction)
{
    if (size < instruction_bytes(0))
        return false;
    memcpy(instruction, bytes, instruction_bytes(0));
    if (instruction->count > ASSIGNMENTS_MAX || size < instruction_bytes(instruction->count))
        return false;
    memcpy(instruction->assignments, bytes + instruction_bytes(0),
           instruction->count * sizeof(struct assignment));
    return true;
}

/* Read the instructions of an answer about `code`. If more code follows, those near the end are
 * left out, because they may be cut. False if the answer is unsound. */
static bool read_answer(const struct buffer *answer, const struct code_bytes *code, bool is_cut,
                        struct decoded_run *run)
{
    size_t left = code->size, room = 0;
    struct instruction instruction;

    run->end = code->address;
    for (size_t at = 0; at < answer->size; at += instruction_bytes(instruction.count)) {
        if (!unpack(answer->data + at, answer->size - at, &instruction) ||
            !instruction_is_sound(&instruction) || instruction.address != run->end ||
            instruction.size > left)
            return false;
        if (is_cut && left < CPU_INSTRUCTION_BYTES_MAX)
            break;
        run->at = xgrow(run->at, &room, run->count, sizeof(*run->at));
        run->at[run->count++] = (uint32_t)at;
        run->end += instruction.size;
        left -= instruction.size;
    }
    return true;
}

/* ---- runs ---- */

/* Ask for the first instructions of the code, of at most `most` bytes. They become the current
 * run. */
static bool fetch(struct decoder *decoder, const struct code_bytes *code, size_t most)
{
    struct code_bytes first = {code->bytes, code->size < most ? code->size : most, code->address};
    struct buffer answer = {0};
    struct decoded_run run = {.start = code->address};

    if (!decoder->requests_left)
        return false;
    decoder->requests_left--;
    if (!decoder->ask(decoder->context, &first, &answer) ||
        !read_answer(&answer, &first, first.size < code->size, &run)) {
        decoder->requests_left = 0;
        run.count = 0;
    }
    run.bytes = answer.data;
    if (!run.count) {
        forget(&run);
        return false;
    }
    decoder->run = &decoder->runs[decoder->oldest];
    decoder->oldest = (decoder->oldest + 1) % RUNS_MAX;
    forget(decoder->run);
    *decoder->run = run;
    decoder->next = 0;
    return true;
}

static uint64_t address_in(const struct decoded_run *run, size_t index)
{
    uint64_t address;

    memcpy(&address, run->bytes + run->at[index] + offsetof(struct instruction, address),
           sizeof(address));
    return address;
}

/* The number of instructions before `address`. */
static size_t before(const struct decoded_run *run, uint64_t address)
{
    size_t low = 0, high = run->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (address_in(run, middle) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Go to the instruction at `address`. False if no run has it. */
static bool seek(struct decoder *decoder, uint64_t address)
{
    for (unsigned int i = 0; i < RUNS_MAX; i++) {
        struct decoded_run *run = &decoder->runs[i];
        size_t index;

        if (address < run->start || address >= run->end)
            continue;
        index = before(run, address);
        if (index < run->count && address_in(run, index) == address) {
            decoder->run = run;
            decoder->next = index;
            return true;
        }
    }
    return false;
}

static bool is_next(const struct decoder *decoder, uint64_t address)
{
    return decoder->run && decoder->next < decoder->run->count &&
           address_in(decoder->run, decoder->next) == address;
}

void decoder_ahead(struct decoder *decoder, const struct code_bytes *code)
{
    struct code_bytes rest = *code;

    while (rest.size && fetch(decoder, &rest, DECODER_REQUEST_BYTES)) {
        size_t size = decoder->run->end - rest.address;

        rest = (struct code_bytes){rest.bytes + size, rest.size - size, decoder->run->end};
    }
}

/* Ask for instructions that no run has. Code that does not continue a run may be left soon. */
static bool ask(struct decoder *decoder, const struct code_bytes *code)
{
    bool continues = decoder->run && decoder->run->end == code->address;

    return fetch(decoder, code, continues ? DECODER_REQUEST_BYTES : FIRST_BYTES);
}

bool decoder_next(struct decoder *decoder, struct code_bytes *code, struct instruction *instruction)
{
    const char *bytes;

    if (!code->size ||
        (!is_next(decoder, code->address) && !seek(decoder, code->address) && !ask(decoder, code)))
        return false;
    bytes = decoder->run->bytes + decoder->run->at[decoder->next];
    unpack(bytes, instruction_bytes(ASSIGNMENTS_MAX), instruction);
    if (instruction->size > code->size)
        return false;
    decoder->next++;
    code->bytes += instruction->size;
    code->size -= instruction->size;
    code->address += instruction->size;
    return true;
}
