// SPDX-License-Identifier: Apache-2.0
#include "native/reachability.h"

#include <stdlib.h>
#include <string.h>

#include "arch/decoder.h"
#include "native/mappings.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "native/parser.h"
#include "util/alloc.h"

enum {
    PARTS_MAX = 8,        /* parts of code that are followed */
    PART_BYTES = 1 << 16, /* of one part */
};

/* Where the paths from an instruction lead. */
enum { LEADS_TO_CALL = 1, LEADS_TO_END = 2, LEADS_TO_ANYTHING = LEADS_TO_CALL | LEADS_TO_END };

struct point {
    uint64_t address;
    uint64_t next, jump; /* possible next instructions; 0: none */
    bool is_wanted;      /* a call of a wanted function: what follows it does not matter */
    uint8_t leads_to;
};

struct code_range {
    uint64_t start, end;
};

struct reachability {
    struct point *points; /* by address */
    size_t count, room;
};

struct follower {
    struct elf_file *file;
    code_call_wanted wanted;
    void *context;
    struct decoder *decoder;
    struct code_range parts[PARTS_MAX];
    int part_count;
    struct reachability *reachability;
};

/* ---- code ---- */

/* Reads the instructions of a part in order: C compilers put no data into functions. */
struct instruction_reader {
    struct decoder *decoder;
    uint8_t *bytes;
    struct code_bytes rest;
    struct instruction instruction;
};

static bool is_in(const struct code_range *part, uint64_t address)
{
    return address >= part->start && address < part->end;
}

static bool reader_open(struct instruction_reader *reader, const struct follower *follower,
                        const struct code_range *part)
{
    size_t size = part->end - part->start;

    if (part->end <= part->start || size > PART_BYTES)
        return false;
    reader->bytes = xmalloc(size);
    if (!native_code_read(follower->file, part->start, reader->bytes, size)) {
        free(reader->bytes);
        return false;
    }
    reader->decoder = follower->decoder;
    reader->rest = (struct code_bytes){reader->bytes, size, part->start};
    return true;
}

static bool reader_next(struct instruction_reader *reader)
{
    return decoder_next(reader->decoder, &reader->rest, &reader->instruction);
}

static void reader_close(struct instruction_reader *reader)
{
    free(reader->bytes);
}

static bool is_jump(const struct instruction *instruction)
{
    return instruction->kind == INSTRUCTION_JUMP || instruction->kind == INSTRUCTION_BRANCH;
}

/* True for the PLT stub of a library function that never returns. The stack protector calls such a
 * function too. */
static bool is_known_to_end(const struct follower *follower, uint64_t function)
{
    static const char *const stubs[] = {"abort@plt", "exit@plt", "_exit@plt", "__assert_fail@plt",
                                        "__stack_chk_fail@plt"};
    struct native_symbol symbol;

    if (!native_symbol_find(follower->file, function, &symbol))
        return false;
    for (size_t i = 0; i < sizeof(stubs) / sizeof(*stubs); i++)
        if (!strcmp(symbol.name, stubs[i]))
            return true;
    return false;
}

/* True if the function may return, or is unknown. A function that always ends the program has no
 * instruction that returns or jumps elsewhere: compilers leave no way to return in it. */
static bool returns(const struct follower *follower, uint64_t function)
{
    struct instruction_reader reader;
    struct code_range part;
    bool may = false;

    if (is_known_to_end(follower, function))
        return false;
    if (!native_code_find_function(follower->file, function, &part.start, &part.end) ||
        part.start != function || !reader_open(&reader, follower, &part))
        return true;
    while (!may && reader_next(&reader))
        may = reader.instruction.kind == INSTRUCTION_RETURN ||
              (is_jump(&reader.instruction) &&
               !is_in(&part, instruction_target(&reader.instruction)));
    may |= reader.rest.size > 0;
    reader_close(&reader);
    return may;
}

/* ---- points ---- */

/* Add the code at an address to the parts. False if it can't be followed. */
static bool add_part(struct follower *follower, uint64_t address)
{
    struct code_range part;

    for (int i = 0; i < follower->part_count; i++)
        if (is_in(&follower->parts[i], address))
            return true;
    if (follower->part_count == PARTS_MAX ||
        !native_code_find_function(follower->file, address, &part.start, &part.end) ||
        !is_in(&part, address))
        return false;
    follower->parts[follower->part_count++] = part;
    return true;
}

/* A jump through a word at a fixed address, as in the stub of a library function, leaves the
 * function. Any other computed jump may go through a table, to anything. */
static uint8_t computed_jump(const struct instruction *instruction)
{
    const struct operand *target = &instruction->target;
    bool fixed = target->kind == OPERAND_MEMORY && target->reg == NO_REGISTER &&
                 target->index == NO_REGISTER;

    return fixed ? LEADS_TO_END : LEADS_TO_ANYTHING;
}

static void look_at_jump(struct follower *follower, const struct instruction *instruction,
                         struct point *point)
{
    uint64_t target = instruction_target(instruction);

    if (instruction->kind == INSTRUCTION_JUMP)
        point->next = 0;
    if (!target)
        point->leads_to = computed_jump(instruction);
    else if (follower->wanted(follower->context, target))
        point->leads_to = LEADS_TO_CALL;
    else if (add_part(follower, target))
        point->jump = target;
    else
        point->leads_to = LEADS_TO_ANYTHING;
}

static void look_at_call(const struct follower *follower, const struct instruction *instruction,
                         struct point *point)
{
    uint64_t target = instruction_target(instruction);

    if (!target)
        return;
    point->is_wanted = follower->wanted(follower->context, target);
    if (point->is_wanted)
        point->leads_to = LEADS_TO_CALL;
    else if (!returns(follower, target))
        point->next = 0;
}

static void add_point(struct follower *follower, const struct code_range *part,
                      const struct instruction_reader *reader)
{
    struct reachability *reachability = follower->reachability;
    const struct instruction *instruction = &reader->instruction;
    struct point point = {.address = instruction->address};

    if (is_in(part, reader->rest.address))
        point.next = reader->rest.address;
    switch ((enum instruction_kind)instruction->kind) {
    case INSTRUCTION_RETURN:
        point.leads_to = LEADS_TO_END;
        point.next = 0;
        break;
    case INSTRUCTION_TRAP:
        point.next = 0;
        break;
    case INSTRUCTION_CALL:
        look_at_call(follower, instruction, &point);
        break;
    case INSTRUCTION_JUMP:
    case INSTRUCTION_BRANCH:
        look_at_jump(follower, instruction, &point);
        break;
    case INSTRUCTION_PLAIN:
    case INSTRUCTION_SYSTEM:
        break;
    }
    reachability->points = xgrow(reachability->points, &reachability->room, reachability->count,
                                 sizeof(*reachability->points));
    reachability->points[reachability->count++] = point;
}

static bool read_part(struct follower *follower, const struct code_range *part)
{
    struct instruction_reader reader;

    if (!reader_open(&reader, follower, part))
        return false;
    while (reader_next(&reader))
        add_point(follower, part, &reader);
    reader_close(&reader);
    return true;
}

/* ---- paths ---- */

static int compare(const void *a, const void *b)
{
    const struct point *left = a, *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

static const struct point *point_at(const struct reachability *reachability, uint64_t address)
{
    struct point key = {.address = address};

    return reachability->count ? bsearch(&key, reachability->points, reachability->count,
                                         sizeof(*reachability->points), compare)
                               : NULL;
}

/* The effect of the code at an address: LEADS_TO_ANYTHING if it is unknown, 0 for address 0 (no
 * instruction). */
static uint8_t known_at(const struct reachability *reachability, uint64_t address)
{
    const struct point *point = address ? point_at(reachability, address) : NULL;

    if (!address)
        return 0;
    return point ? point->leads_to : LEADS_TO_ANYTHING;
}

static uint8_t known_of(const struct reachability *reachability, const struct point *point)
{
    if (point->is_wanted)
        return point->leads_to;
    return point->leads_to | known_at(reachability, point->next) |
           known_at(reachability, point->jump);
}

/* Propagate effects from the ends back to the starts, until nothing changes. */
static void spread(struct reachability *reachability)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = reachability->count; i-- > 0;) {
            struct point *point = &reachability->points[i];
            uint8_t known = known_of(reachability, point);

            changed |= known != point->leads_to;
            point->leads_to = known;
        }
    }
}

static bool follow(struct follower *follower, uint64_t function)
{
    if (!add_part(follower, function))
        return false;
    for (int i = 0; i < follower->part_count; i++)
        if (!read_part(follower, &follower->parts[i]) && i == 0)
            return false;
    qsort(follower->reachability->points, follower->reachability->count,
          sizeof(*follower->reachability->points), compare);
    spread(follower->reachability);
    return true;
}

struct reachability *reachability_new(struct elf_file *file, uint64_t function,
                                      code_call_wanted wanted, void *context)
{
    struct follower follower = {.file = file, .wanted = wanted, .context = context};
    bool known;

    follower.decoder = parser_decoder(file->parser);
    follower.reachability = xcalloc(1, sizeof(*follower.reachability));
    known = follow(&follower, function);
    decoder_free(follower.decoder);
    if (known)
        return follower.reachability;
    reachability_free(follower.reachability);
    return NULL;
}

void reachability_free(struct reachability *reachability)
{
    if (!reachability)
        return;
    free(reachability->points);
    free(reachability);
}

enum call_ahead reachability_call_ahead(const struct reachability *reachability, uint64_t address)
{
    static const enum call_ahead meaning[] = {
        [0] = CALL_PERHAPS, /* no path ends in the function: the program will end */
        [LEADS_TO_CALL] = CALL_ALWAYS,
        [LEADS_TO_END] = CALL_NEVER,
        [LEADS_TO_ANYTHING] = CALL_PERHAPS,
    };
    const struct point *point = point_at(reachability, address);

    return point ? meaning[point->leads_to] : CALL_UNKNOWN;
}

bool reachability_calls_once(const struct reachability *reachability)
{
    for (size_t i = 0; i < reachability->count; i++)
        if (reachability->points[i].is_wanted &&
            (known_at(reachability, reachability->points[i].next) & LEADS_TO_CALL))
            return false;
    return true;
}
