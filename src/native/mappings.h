// SPDX-License-Identifier: Apache-2.0
/*
 * The target's mappings and the ELF files behind them.
 *
 * The list is read from /proc/PID/maps. A file is opened through /proc/PID/map_files/LO-HI. That is
 * the mapped file itself, even if it was deleted or has another path in the target's mount
 * namespace or chroot. Without permission for that (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), a
 * file is opened through /proc/PID/root, and only if device and inode agree. The vdso is read from
 * memory.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/requests.h"
#include "elf/symbols.h"
#include "native/recent_bytes.h"
#include "util/error.h"

struct memory;

struct mapping {
    uint64_t start, end; /* [start, end) in the target */
    uint64_t offset;     /* of `start` in the file */
    bool executable;
    const char *path; /* as in /proc/PID/maps, without " (deleted)"; "" if anonymous */
    uint64_t device;  /* as makedev() makes it; 0 if anonymous */
    uint64_t inode;
    struct elf_file *file; /* NULL until mapping_file() finds it */
    bool no_file;          /* mapping_file() found none; it does not try again */
};

/* A mapped ELF file. It is opened once and shared by all of its mappings; a file that is loaded
 * twice, as by dlmopen(3), counts as two. The parser reads it with pread() on request and does not
 * map it: if the owner truncates the file during profiling, SIGBUS must not end the parser. */
struct elf_file {
    int fd;          /* names the file, and may not be read: O_PATH (os/patient_open.h) */
    uint64_t device; /* as in struct mapping; 0: unknown */
    char *root;      /* root directory of its process; NULL: unknown */
    char *path;      /* as in struct mapping */
    uint64_t bias;   /* address in the target minus address in the file */
    bool in_memory;  /* the descriptor is a copy of memory (the vdso) */
    struct build_id build_id;
    struct elf_segment *segments; /* segment_count of them */
    uint32_t segment_count;
    /* of the parser (native/elf_file.h) */
    struct parser *parser;
    struct elf_opened opened;
    unsigned int epoch;                /* of the parser that opened it */
    bool is_lost;                      /* the parser can't read it */
    bool has_symbols;                  /* the parser has read its symbols */
    enum native_symbols_source source; /* of these symbols */
    bool has_no_debug_file;            /* it was looked for and not found */
    bool lacks_debug_file;             /* the same, and it is not requested yet */
    bool awaits_debug_file;            /* native/debug_fetch.h fetches it */
    uint32_t fetch_version;            /* debug_fetch_version() at the last look for it */
    enum debug_information {
        DEBUG_INFORMATION_UNKNOWN,
        DEBUG_INFORMATION_NONE,
        DEBUG_INFORMATION_KEPT,    /* by the parser */
        DEBUG_INFORMATION_REFUSED, /* the parser gave no answer: it is not asked again */
    } debug_information;
    unsigned int debug_epoch;       /* of the parser that got the request for it */
    uint32_t debug_version;         /* debug_fetch_version() at that time */
    struct known_symbols *known;    /* answers about its functions (native/native_symbols.h) */
    struct known_rules *rules;      /* answers about unwinding (native/cfi_rules.h) */
    struct address_map *likenesses; /* answers of native_symbol_likeness(); NULL: none yet */
    struct recent_bytes recent;     /* of its content */
    /* The starts of its functions: its .eh_frame_hdr (native/native_code.h). NULL until first used.
     */
    uint8_t *functions;
    bool has_no_functions;
};

struct mappings;

/* Read /proc/PID/maps. `memory` (for the vdso) is borrowed. NULL with error on failure. */
struct mappings *mappings_new(pid_t pid, struct memory *memory, struct error *error);
void mappings_free(struct mappings *mappings);

/* Make the mappings of a process that does not exist, from a list in address order. They are never
 * read again. Paths are copied. The elf_files are taken; several mappings can share one. */
struct mappings *mappings_of_list(const struct mapping *list, int count);

/* Return the mapping that contains `address`, or NULL. If there is none, read the list again, at
 * most once in 100 ms: something may have been loaded. The result is valid until the next
 * mappings_* call. Files stay open, at stable addresses, until mappings_free(). */
struct mapping *mappings_find(struct mappings *mappings, uint64_t address);

/* Return the executable mapping that contains `address`, or NULL. If the known mapping is not
 * executable, read the list again too (as above): code may have been loaded where data was. */
struct mapping *mappings_find_code(struct mappings *mappings, uint64_t address);

/* Return all `*count` mappings, in the order of the list, which is that of addresses. The result is
 * valid until mappings_find() or mappings_find_code() reads the list again. */
struct mapping *mappings_all(struct mappings *mappings, int *count);

/* Return the parser of the files, started at first use. */
struct parser *mappings_parser(struct mappings *mappings);
/* Let the parser end if it is not in use (parser_rest()), and forget what is kept of files for an
 * idle VM. */
void mappings_rest(struct mappings *mappings, bool is_idle);
/* True if no process could be started to parse files. */
bool mappings_lack_parser(const struct mappings *mappings);

/* Return the ELF file behind a mapping, opened at first use. NULL if there is none or it can't be
 * read. */
struct elf_file *mapping_file(struct mappings *mappings, struct mapping *mapping);

/* ---- mapped_ranges.c ---- */

/*
 * The addresses that a process can read, by /proc/PID/maps. Data that change while they are read
 * lead to addresses that are not mapped at all. No page tells these from a page that is not filled
 * yet, whose reader must be patient (os/patience.h).
 */

struct mapped_ranges;

struct mapped_ranges *mapped_ranges_new(pid_t pid);
void mapped_ranges_free(struct mapped_ranges *ranges);

/* False if the address was not mapped for reading when the list was read last. The list is read at
 * first use, and again if it does not have the address, at most ten times a second; that takes at
 * most 1 % of a CPU. True if the list can't be read. Any thread may call it. */
bool mapped_ranges_have(struct mapped_ranges *ranges, uint64_t address);
