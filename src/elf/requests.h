// SPDX-License-Identifier: Apache-2.0
/*
 * Requests to the parser of ELF files and machine code, and its answers. Both sides are the same
 * program, so numbers are in the form that they have in memory. An answer of no bytes refuses the
 * request. The side that asks does not trust answers: a hostile file may have taken over the
 * parser.
 */
#pragma once

#include <stdint.h>

#include "elf/build_id.h"

enum elf_call {
    /* Open the file of the passed descriptor. Answer: struct elf_opened, then its segments. */
    ELF_OPEN,
    /* Close `file`. The answer is empty. */
    ELF_CLOSE,
    /* Read `size` bytes of `file` at the offset `address`. Answer: those that it has. */
    ELF_BYTES,
    /* Read the symbols of `file`, again if a descriptor is passed: that of its debug file, whose
     * symbols are read too.
     * Answer: enum native_symbols_source as uint32_t. */
    ELF_SYMBOLS,
    /* The function of `file` that contains `address`. Answer: struct elf_found, then its name,
     * which is empty if no symbol covers the address. */
    ELF_SYMBOL_AT,
    /* The likeness of the function that starts at `address` of `file` (elf/likenesses.h). Answer:
     * uint64_t. */
    ELF_LIKENESS,
    /* The address of the symbol `text`. Answer: uint64_t. */
    ELF_SYMBOL_NAMED,
    /* The same among the symbols that were split off `file` and that ELF_SYMBOLS has read. */
    ELF_DEBUG_SYMBOL_NAMED,
    /* The rules for unwinding at `address` and around it. Answer: a struct elf_rule for each,
     * followed by its struct cfi_rule; empty if `address` has none. */
    ELF_RULES,
    /* List the USDT probes of `file`, beginning with number `address`. Answer: a struct elf_probe
     * for each, followed by its provider and its name; as many as fit. */
    ELF_PROBES,
    /* The build id of the file of the passed descriptor. Answer: struct build_id. */
    ELF_BUILD_ID,
    /* Look up offsets in structs in the DWARF of the file of the passed descriptor. `text` lists
     * their names (elf/struct_offsets.h), each with a NUL. Answer: an int32_t for each. */
    ELF_OFFSETS,
    /* Keep the debug information of `file`, or of the passed descriptor, for ELF_INLINED. Answer: a
     * byte if there is any. */
    ELF_DEBUG_INFORMATION,
    /* The functions at `address` of `file` that the compiler inlined, youngest first, then the
     * function that contains them. Answer: a struct elf_inlined for each, followed by its name and
     * the file of its source. The name of the last is empty. */
    ELF_INLINED,
    /* Find direct calls of the function at `address` in the code of `file`. Answer: the address of
     * each as uint64_t. Their bytes match, but may be part of another instruction. Refused if
     * there are more than fit. */
    ELF_CALLS,
    /* Decode the machine code `text`, which is at `address`. Answer: its first instructions, as
     * many as fit (arch/disassembler.h). */
    ELF_INSTRUCTIONS,
};

enum {
    ELF_TEXT_MAX = 1 << 14,   /* bytes of `text` */
    ELF_ANSWER_MAX = 1 << 16, /* bytes of an answer: 1,024 segments are 40 KB */
    ELF_SEGMENTS_MAX = 1 << 10,
    ELF_SYMBOL_BYTES_MAX = 1 << 15, /* of a name; a longer one is cut */
    ELF_LINK_BYTES = 256,
};

struct elf_request {
    uint32_t call; /* enum elf_call */
    uint32_t file; /* as in struct elf_opened */
    uint64_t address;
    uint32_t size;       /* of what ELF_BYTES reads: at most ELF_ANSWER_MAX */
    uint32_t text_bytes; /* text follows */
    uint8_t has_descriptor;
};

/* A loadable segment. */
struct elf_segment {
    uint64_t offset, address, file_bytes, memory_bytes; /* address: in the file */
    uint8_t executable, writable; /* not bool, because an answer can have any value */
};

struct elf_opened {
    uint32_t file; /* its number in later requests */
    uint32_t segment_count;
    struct build_id build_id;
    uint64_t functions_offset, functions_bytes, functions_address; /* of .eh_frame_hdr */
    uint32_t checksum;         /* of the file that `link` names */
    char link[ELF_LINK_BYTES]; /* in .gnu_debuglink; "": none */
    uint8_t has_own_symbols;   /* no debug file is needed */
};

/* As struct elf_symbol in elf/symbols.h. */
struct elf_found {
    uint64_t start, end, same_from, same_to; /* addresses in the file */
};

struct elf_rule {
    uint64_t pc;    /* where it begins to hold, or the address of the request */
    uint64_t bytes; /* of the struct cfi_rule that follows */
};

struct elf_inlined {
    uint64_t start;                  /* address in the file; 0: unknown */
    uint32_t line;                   /* that runs, in the source; 0: unknown */
    uint32_t name_bytes, file_bytes; /* without NULs; the texts follow */
};

struct elf_probe {
    uint64_t file_offset, semaphore_offset;
    uint32_t provider_bytes, name_bytes; /* without NULs; the texts follow */
};
