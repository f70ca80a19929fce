// SPDX-License-Identifier: Apache-2.0
#include "capture/probe_link.h"

#include <stdbool.h>
#include <stdlib.h>

#include "arch/cpu.h"
#include "arch/decoder.h"
#include "capture/calibration.h"
#include "native/native_code.h"
#include "native/parser.h"
#include "util/alloc.h"

enum {
    REACH = 64,             /* bytes from the entry that are searched */
    FUNCTION_MAX = 1 << 16, /* bytes */
};

/* The registers that a program needs. */
static register_set needed_registers(const struct probe_needs *needs)
{
    register_set registers = needs->stack ? REGISTER_BIT(CPU_SP) : 0;

    for (unsigned int i = 0; i < CPU_ARGUMENTS && i < needs->arguments; i++)
        registers |= REGISTER_BIT(cpu.arguments[i]);
    return registers;
}

/* True if the instruction writes memory that may be needed: any but the function's own stack, and
 * that too if the stack is needed. */
static bool writes_memory(const struct instruction *instruction, const struct probe_needs *needs)
{
    for (unsigned int i = 0; i < instruction->count; i++) {
        const struct operand *to = &instruction->assignments[i].to;

        if (to->kind == OPERAND_MEMORY && (needs->stack || to->reg != CPU_SP))
            return true;
    }
    return false;
}

/* True if the next instruction runs after this one, and nothing that is needed changes. */
static bool leaves_alone(const struct instruction *instruction, const struct probe_needs *needs)
{
    return instruction->kind == INSTRUCTION_PLAIN && !writes_memory(instruction, needs) &&
           !(instruction_written(instruction) & needed_registers(needs));
}

/* True if a probe is cheap there. At the entry it may be on a nop of five bytes. Further on it may
 * not: on some kernels a probe on one does harm (capture/probe_safety.h). */
static bool is_cheap(const uint8_t *code, size_t size, bool at_entry,
                     const struct probe_needs *needs)
{
    enum trap trap = uprobe_trap_of_code(code, size);

    return trap == TRAP_EMULATED || (trap == TRAP_NOP5 && at_entry && !needs->no_nop5);
}

/* The offset of the first cheap instruction, if all before it leave the needs alone; else 0. */
static size_t first_cheap(struct decoder *decoder, struct code_bytes code,
                          const struct probe_needs *needs)
{
    struct instruction instruction;

    while (code.address < REACH && code.size > 0 &&
           !is_cheap(code.bytes, code.size, code.address == 0, needs)) {
        if (!decoder_next(decoder, &code, &instruction) || !leaves_alone(&instruction, needs))
            return 0;
    }
    return code.address < REACH && code.size > 0 ? code.address : 0;
}

/* The offset of the first instruction behind nops of five bytes; 0 if there are none. */
static size_t behind_nop5(const uint8_t *code, size_t size)
{
    size_t place = 0;

    while (place < size && uprobe_trap_of_code(code + place, size - place) == TRAP_NOP5)
        place += NOP5_BYTES;
    return place < size ? place : 0;
}

/* True if a jump leads behind the entry, up to `place`, or if that is unknown. */
static bool has_jump_before(struct decoder *decoder, struct code_bytes code, size_t place)
{
    struct instruction instruction;

    while (code.size > 0) {
        if (!decoder_next(decoder, &code, &instruction))
            return true;
        if (instruction.kind != INSTRUCTION_CALL && instruction_target(&instruction) > 0 &&
            instruction_target(&instruction) <= place)
            return true;
    }
    return false;
}

size_t probe_place(struct parser *parser, const uint8_t *code, size_t size,
                   const struct probe_needs *needs)
{
    const struct code_bytes all = {code, size, 0};
    struct decoder *decoder = parser_decoder(parser);
    size_t place = first_cheap(decoder, all, needs);

    if (!place && needs->no_nop5)
        place = behind_nop5(code, size);
    if (place && has_jump_before(decoder, all, place))
        place = 0;
    decoder_free(decoder);
    return place;
}

uint64_t probe_place_of(struct elf_file *file, uint64_t address, const struct probe_needs *needs)
{
    uint64_t start, end, place = 0;
    uint8_t *code;

    if (!native_code_find_function(file, address, &start, &end) || start != address ||
        end <= start || end - start > FUNCTION_MAX)
        return address;
    code = xmalloc(end - start);
    if (native_code_read(file, start, code, end - start))
        place = probe_place(file->parser, code, end - start, needs);
    free(code);
    return address + place;
}
