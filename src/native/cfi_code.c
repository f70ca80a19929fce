// SPDX-License-Identifier: Apache-2.0
/*
 * Rules for code without call-frame information, such as that of musl: from the code itself.
 *
 * A function that returns has the stack pointer at its return address then. So the code from the
 * instruction on is followed to a return. Compilers give each instruction one stack depth, so the
 * first return that is found is as good as any other. Values are followed as far as functions save
 * and restore registers: moves, additions of constants, and words of the stack.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/decoder.h"
#include "native/cfi_internal.h"
#include "native/elf_file.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "util/alloc.h"

enum {
    WORD_BYTES = 8,
    STEPS_MAX = 1 << 11,     /* instructions that are followed */
    PATHS_MAX = 64,          /* branches that wait to be followed */
    PATH_BYTES = 1 << 12,    /* of code that is read at a time */
    WORDS_MAX = 32,          /* words below the stack pointer at the start that are followed */
    DISTANCE_MAX = 16 << 20, /* of a value from its register */
};

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_REGISTER, /* what a register had at the start, plus `offset` */
    VALUE_WORD,     /* the word that was there in memory at the start */
};

struct value {
    uint8_t kind; /* enum value_kind */
    uint8_t reg;
    int64_t offset;
};

/* The registers, and the words that the code has pushed. */
struct path {
    uint64_t address; /* of the next instruction */
    struct value registers[CPU_REGISTERS];
    struct value words[WORDS_MAX]; /* words[i] is at the start's stack pointer - 8 * (i + 1) */
};

struct return_search {
    struct elf_file *file;
    struct decoder *decoder;
    uint8_t bytes[PATH_BYTES];
    uint64_t seen[STEPS_MAX]; /* addresses of instructions */
    size_t seen_count;
    struct path paths[PATHS_MAX];
    int path_count;
    bool is_unclear; /* a path did not end where the program or thread ends */
};

/* ---- values ---- */

static bool is_stack(struct value value)
{
    return value.kind == VALUE_REGISTER && value.reg == CPU_SP;
}

/* The place of a word that the code has pushed; NULL if the address is none of these. */
static struct value *pushed_word(struct path *path, struct value address)
{
    uint64_t index = (uint64_t)(-address.offset / WORD_BYTES - 1);

    if (!is_stack(address) || address.offset >= 0 || address.offset % WORD_BYTES ||
        index >= WORDS_MAX)
        return NULL;
    return &path->words[index];
}

static struct value plus(struct value value, int64_t number)
{
    if (value.kind == VALUE_REGISTER && number > -DISTANCE_MAX && number < DISTANCE_MAX) {
        value.offset += number;
        if (value.offset > -DISTANCE_MAX && value.offset < DISTANCE_MAX)
            return value;
    }
    if (number)
        value = (struct value){0};
    return value;
}

static struct value address_of(const struct path *path, const struct operand *memory)
{
    if (memory->reg >= CPU_REGISTERS || memory->index != NO_REGISTER)
        return (struct value){0};
    return plus(path->registers[memory->reg], memory->number);
}

static struct value load(struct path *path, const struct operand *memory)
{
    struct value address = address_of(path, memory);
    const struct value *pushed = pushed_word(path, address);

    if (address.kind != VALUE_REGISTER || memory->size != WORD_BYTES)
        return (struct value){0};
    if (pushed)
        return *pushed;
    if (is_stack(address) && address.offset < 0)
        return (struct value){0};
    return (struct value){VALUE_WORD, address.reg, address.offset};
}

static void assign(struct path *path, const struct assignment *assignment)
{
    const struct operand *to = &assignment->to, *from = &assignment->from;
    const struct value unknown = {0};
    struct value value = unknown, *word;

    if (!assignment->is_rounded && from->size == WORD_BYTES) {
        if (from->kind == OPERAND_REGISTER)
            value = path->registers[from->reg];
        else if (from->kind == OPERAND_MEMORY)
            value = load(path, from);
        value = plus(value, assignment->plus);
    }
    if (to->kind == OPERAND_REGISTER) {
        path->registers[to->reg] = to->size == WORD_BYTES ? value : unknown;
        return;
    }
    word = pushed_word(path, address_of(path, to));
    if (word)
        *word = to->size == WORD_BYTES ? value : unknown;
}

static void forget(struct path *path, register_set set)
{
    for (unsigned int i = 0; i < CPU_REGISTERS; i++)
        if (registers_have(set, i))
            path->registers[i] = (struct value){0};
}

/* ---- paths ---- */

/* Note an instruction. False if it was followed before, or there is no room. */
static bool is_new(struct return_search *search, uint64_t address)
{
    for (size_t i = 0; i < search->seen_count; i++)
        if (search->seen[i] == address)
            return false;
    if (search->seen_count == STEPS_MAX)
        return false;
    search->seen[search->seen_count++] = address;
    return true;
}

static void add_path(struct return_search *search, const struct path *from, uint64_t address)
{
    if (!address || search->path_count == PATHS_MAX) {
        search->is_unclear = true;
        return;
    }
    search->paths[search->path_count] = *from;
    search->paths[search->path_count++].address = address;
}

/* True for a function of the C library that never returns. */
static bool never_returns(struct elf_file *file, uint64_t function)
{
    static const char *const names[] = {"abort", "exit", "_exit", "pthread_exit"};
    struct native_symbol symbol;

    if (!function || !native_symbol_find(file, function, &symbol) || symbol.address != function)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(symbol.name, names[i]))
            return true;
    return false;
}

/* Return the code at an address, as much as can be read up to the end of its segment. */
static struct code_bytes read_code(struct return_search *search, uint64_t address)
{
    for (size_t size = PATH_BYTES; size; size /= 2)
        if (native_code_read(search->file, address, search->bytes, size))
            return (struct code_bytes){search->bytes, size, address};
    return (struct code_bytes){0};
}

enum step { STEP_ON, STEP_ENDS, STEP_RETURNS };

/* A jump through a word at a fixed address, as in the stub of a library function, passes the return
 * address on. */
static bool is_stub(const struct operand *target)
{
    return target->kind == OPERAND_MEMORY && target->reg == NO_REGISTER &&
           target->index == NO_REGISTER;
}

static enum step jump(struct return_search *search, const struct path *path,
                      const struct instruction *instruction)
{
    if (is_stub(&instruction->target))
        return STEP_RETURNS;
    add_path(search, path, instruction_target(instruction));
    return instruction->kind == INSTRUCTION_JUMP ? STEP_ENDS : STEP_ON;
}

static enum step step(struct return_search *search, struct path *path,
                      const struct instruction *instruction)
{
    switch ((enum instruction_kind)instruction->kind) {
    case INSTRUCTION_RETURN:
        return STEP_RETURNS;
    case INSTRUCTION_TRAP:
        return STEP_ENDS;
    case INSTRUCTION_JUMP:
    case INSTRUCTION_BRANCH:
        return jump(search, path, instruction);
    case INSTRUCTION_CALL:
        forget(path, REGISTERS_ALL & ~(cpu.preserved | REGISTER_BIT(CPU_SP)));
        return never_returns(search->file, instruction_target(instruction)) ? STEP_ENDS : STEP_ON;
    case INSTRUCTION_PLAIN:
    case INSTRUCTION_SYSTEM:
        break;
    }
    for (int i = 0; i < instruction->count; i++)
        assign(path, &instruction->assignments[i]);
    forget(path, instruction->unknown);
    return STEP_ON;
}

/* Follow one path to a return, or to its end. Padding after a call, or after a system call, is
 * behind the end of a function: what was called does not return. */
static enum step follow_path(struct return_search *search, struct path *path)
{
    struct code_bytes code = read_code(search, path->address);
    bool may_end = false;

    while (is_new(search, code.address)) {
        struct instruction instruction;
        enum step next;

        if (!decoder_next(search->decoder, &code, &instruction) ||
            (may_end && instruction.is_padding))
            break;
        may_end = instruction.kind == INSTRUCTION_CALL || instruction.kind == INSTRUCTION_SYSTEM;
        path->address = code.address;
        next = step(search, path, &instruction);
        if (next != STEP_ON)
            return next;
        if (code.size < CPU_INSTRUCTION_BYTES_MAX)
            code = read_code(search, code.address);
    }
    search->is_unclear = true;
    return STEP_ENDS;
}

/* ---- rules ---- */

static void add_place(struct cfi_rule *rule, unsigned int reg, enum cfi_place_kind kind,
                      int64_t value)
{
    rule->places[rule->place_count++] =
        (struct cfi_place){.reg = (uint8_t)reg, .kind = (uint8_t)kind, .value = (int32_t)value};
}

static void add_register(struct cfi_rule *rule, unsigned int reg, struct value value)
{
    if (value.kind == VALUE_REGISTER && value.reg == reg && value.offset == 0)
        rule->same |= REGISTER_BIT(reg);
    else if (value.kind == VALUE_WORD && value.reg == rule->cfa_register)
        add_place(rule, reg, PLACE_AT_CFA, value.offset - rule->cfa_offset);
}

/* Make the rule of a path that is about to return. NULL if the place of the return address is not
 * known, or the code itself has written it. */
static struct cfi_rule *rule_of(const struct path *path, size_t *size)
{
    struct value top = path->registers[CPU_SP];
    struct cfi_rule *rule;

    if (top.kind != VALUE_REGISTER || (is_stack(top) && top.offset < 0))
        return NULL;
    rule = xcalloc(1, sizeof(*rule) + CPU_REGISTERS * sizeof(rule->places[0]));
    rule->cfa_register = top.reg;
    rule->cfa_offset = (int32_t)top.offset + WORD_BYTES;
    add_place(rule, CPU_PC, PLACE_AT_CFA, -WORD_BYTES);
    add_place(rule, CPU_SP, PLACE_CFA, 0);
    for (unsigned int i = 0; i < CPU_REGISTERS; i++)
        if (registers_have(cpu.preserved, i) && i != CPU_SP)
            add_register(rule, i, path->registers[i]);
    *size = sizeof(*rule) + rule->place_count * sizeof(rule->places[0]);
    return rule;
}

/* The rule of code that only leads to the end of the thread: its first function. */
static struct cfi_rule *outermost(size_t *size)
{
    struct cfi_rule *rule = xcalloc(1, sizeof(*rule));

    rule->is_outermost = true;
    *size = sizeof(*rule);
    return rule;
}

static struct cfi_rule *follow(struct return_search *search, size_t *size)
{
    while (search->path_count) {
        struct path path = search->paths[--search->path_count];

        if (follow_path(search, &path) == STEP_RETURNS)
            return rule_of(&path, size);
    }
    return search->is_unclear ? NULL : outermost(size);
}

struct cfi_rule *cfi_code_rule(struct elf_file *file, uint64_t pc, size_t *size)
{
    struct return_search *search = xcalloc(1, sizeof(*search));
    struct cfi_rule *rule;

    search->file = file;
    search->decoder = parser_decoder(file->parser);
    search->path_count = 1;
    search->paths[0].address = pc + file->bias;
    for (unsigned int i = 0; i < CPU_REGISTERS; i++)
        search->paths[0].registers[i] = (struct value){VALUE_REGISTER, (uint8_t)i, 0};
    rule = follow(search, size);
    decoder_free(search->decoder);
    free(search);
    return rule;
}
