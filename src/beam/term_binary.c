// SPDX-License-Identifier: Apache-2.0
#include "beam/term.h"

/*
 * Until OTP 26 (ErlHeapBin, erl_binary.h 25.2.3:174; ProcBin, global.h 25.2.3:272; ErlSubBin,
 * erl_bits.h 25.2.3:31):
 *
 *   heap     header | size in bytes | data...
 *   refc     header | size in bytes | next | Binary * | data * | flags
 *   part     header | size in bytes | byte offset | bitsize, bitoffs, writable | original
 */
static bool old_binary(struct memory *memory, uint64_t address, int depth, struct term_bytes *bytes)
{
    uint64_t words[5], size;

    if (!memory_read(memory, address, words, 2 * sizeof(words[0])))
        return false;
    size = words[1];
    switch (term_header_kind(words[0])) {
    case REFC_BINARY_SUBTAG:
        if (!memory_read(memory, address, words, sizeof(words)))
            return false;
        *bytes = (struct term_bytes){words[4], size};
        return true;
    case HEAP_BINARY_SUBTAG:
        *bytes = (struct term_bytes){address + 16, size};
        return true;
    case SUB_BINARY_SUBTAG:
        if (depth > 0 || !memory_read(memory, address, words, sizeof(words)) ||
            (words[3] & 0xffff) != 0 || !term_is_boxed(words[4]) ||
            !old_binary(memory, term_address(words[4]), depth + 1, bytes) ||
            words[2] > bytes->size || size > bytes->size - words[2])
            return false;
        *bytes = (struct term_bytes){bytes->address + words[2], size};
        return true;
    default:
        return false;
    }
}

/* The flags in the base of a part (erl_bits.h 27.3.4.1:77, 27.3.4.1:80). */
enum { PART_FLAGS = 3, PART_IS_VOLATILE = 2 };

/* Find the bytes of a part whose binary was appended to. They move when they grow: the base of the
 * part is old then, and only the Binary knows where they are (ERTS_GET_BITSTRING_REF). */
static bool find_moving_bytes(struct memory *memory, const struct layout *layout, uint64_t original,
                              uint64_t *base)
{
    uint64_t reference[2];

    if (layout->binary_orig_size < 0 || !term_is_boxed(original) ||
        !memory_read(memory, term_address(original), reference, sizeof(reference)) ||
        term_header_kind(reference[0]) != BIN_REF_SUBTAG)
        return false;
    *base = reference[1] + (uint64_t)layout->binary_orig_size + 8;
    return true;
}

/*
 * From OTP 27 (ErlHeapBits, erl_bits.h 27.3.4.1:136; ErlSubBits, erl_bits.h 27.3.4.1:46; BinRef,
 * erl_bits.h 27.3.4.1:121):
 *
 *   heap     header | size in bits | data...
 *   part     header | base *, two flags in the low bits | start bit | end bit | BinRef, boxed
 *   BinRef   header | Binary * | next
 *   Binary   ... | size in bytes | data...
 */
static bool new_binary(struct memory *memory, const struct layout *layout, uint64_t address,
                       struct term_bytes *bytes)
{
    uint64_t words[5], base;

    if (!memory_read(memory, address, words, 2 * sizeof(words[0])))
        return false;
    switch (term_header_kind(words[0])) {
    case HEAP_BITS_SUBTAG:
        if (words[1] % 8)
            return false;
        *bytes = (struct term_bytes){address + 16, words[1] / 8};
        return true;
    case SUB_BITS_SUBTAG:
        if (!memory_read(memory, address, words, sizeof(words)) || words[2] % 8 || words[3] % 8 ||
            words[3] < words[2])
            return false;
        base = words[1] & ~(uint64_t)PART_FLAGS;
        if (words[1] & PART_IS_VOLATILE && !find_moving_bytes(memory, layout, words[4], &base))
            return false;
        *bytes = (struct term_bytes){base + words[2] / 8, (words[3] - words[2]) / 8};
        return true;
    default:
        return false;
    }
}

bool term_binary(struct memory *memory, const struct layout *layout, bool in_bits, uint64_t address,
                 struct term_bytes *bytes)
{
    struct term_bytes found;

    if (!(in_bits ? new_binary(memory, layout, address, &found)
                  : old_binary(memory, address, 0, &found)))
        return false;
    *bytes = found;
    return true;
}
