// SPDX-License-Identifier: Apache-2.0
/*
 * Probes in the code of an OS process (uprobes, return probes and USDT), attached and detached as
 * one group.
 *
 * Where the kernel has uprobe_multi (6.6), one link serves all sites of a program. Elsewhere each
 * site has a perf event. Only the target is probed, even if others run the same file. All probes
 * belong to descriptors of this process: when it ends, in whatever way, the kernel removes the
 * breakpoints. The calls that attach and detach are made apart (util/unkillable.h): in a thread
 * that is being killed they would fail half-way and leave breakpoints behind (docs/safety.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/uprobe.h"
#include "native/mappings.h"
#include "util/error.h"

struct bpf_program;
struct probe_needs;

enum probe_way {
    PROBE_PERF,
    PROBE_MULTI,
};

struct probe_site {
    const struct bpf_program *program; /* loaded after probe_link_prepare() */
    const char *path;                  /* the mapped file; borrowed */
    uint64_t file_offset;
    uint64_t semaphore_offset; /* offset in the file, if a USDT probe has a semaphore; else 0 */
    uint64_t cookie;           /* bpf_get_attach_cookie() */
    bool is_return;
    enum trap trap; /* as in struct probe_point */
};

/* The place of a probe of the code at `address`: an offset in a file. The path leads to the file
 * that is mapped, whatever its name in the target's mount namespace or chroot, and even if it was
 * deleted since. The path is valid as long as `mappings` lives. */
struct probe_point {
    char path[32];
    uint64_t file_offset;
    enum trap trap; /* how the kernel gets past its instruction; TRAP_STEPPED if it is unknown */
};

/* Find the point for the function with its first instruction at `address`. It is the cheapest place
 * near the entry at which the program still finds what it needs: the whole call, or the parts in
 * `needs`. ERROR_FAILED if no file is mapped as code at `address`. */
int probe_link_point(struct mappings *mappings, uint64_t address, struct probe_point *point,
                     struct error *error);
int probe_link_point_for(struct mappings *mappings, uint64_t address,
                         const struct probe_needs *needs, struct probe_point *point,
                         struct error *error);

/* Make the point of an instruction by its offset in the file. */
struct probe_point probe_link_point_in(struct elf_file *file, uint64_t offset);

/* "uprobe_multi" or "perf events". */
const char *probe_link_way_name(enum probe_way way);

/* Prepare a program for a way of attaching, as calibration found it. Call this before the program
 * is loaded. */
void probe_link_prepare(struct bpf_program *program, enum probe_way way);

struct probe_links;

/* Attach all sites in `pid`, or none. A process that can be left behind reads their code first
 * (capture/probe_link.h). It waits mostly for the kernel's RCU: measured 6 to 14 ms (Linux 6.18),
 * with 0.1 ms of CPU time. ERROR_NO_PROCESS if the target has ended. */
struct probe_links *probe_link_attach(enum probe_way way, pid_t pid, const struct probe_site *sites,
                                      int count, struct error *error);

/* The CPU time that attaching took, in ns. The clock of the calling thread does not include it. */
uint64_t probe_link_attach_ns(const struct probe_links *links);

/* Return the descriptors that keep the probes attached, malloc'ed. */
int *probe_links_fds(const struct probe_links *links, int *ret_count);

/* Detach. Waits until the kernel has seen the last program end: 40 ms, at times a second. With
 * PROBE_MULTI the traps are gone early in this call (0.1 to 10 ms), with PROBE_PERF at its end.
 * Never fails, even if the target has ended. NULL is allowed. Return the CPU time that it took, in
 * ns; the clock of the calling thread does not include it. */
uint64_t probe_link_detach(struct probe_links *links);

/* ---- probe_place.c ---- */

/*
 * The place in a function where a breakpoint is cheapest and shows the same as at the entry.
 *
 * The cost of a hit depends on the instruction (capture/calibration.h), and functions often begin
 * with an expensive one: endbr64, or a move. A few instructions further there is often one that the
 * kernel emulates. That place is as good as the entry on two conditions: the instructions before it
 * do not change what the program needs, and no jump leads between. Then each call passes the place
 * once.
 */

struct elf_file;
struct parser;

/* The parts of a call that a program reads. */
struct probe_needs {
    unsigned int arguments; /* arguments in registers, from the first, up to 6 */
    bool stack;             /* the return address at the stack pointer, or what lies behind it: all
                             * probes at return need that */
    bool no_nop5;           /* the place must not be a nop of five bytes (capture/probe_safety.h) */
};

/* Return the offset of that place in a function of `size` bytes, which `parser` decodes; 0 if there
 * is none but the entry. A nop of five bytes is such a place only at the entry. */
size_t probe_place(struct parser *parser, const uint8_t *code, size_t size,
                   const struct probe_needs *needs);

/* The address of that place for the code of `file` at `address` in the target; `address` itself if
 * no function is known to begin there. */
uint64_t probe_place_of(struct elf_file *file, uint64_t address, const struct probe_needs *needs);

/* ---- probe_pages.c ---- */

/*
 * Makes the kernel read the code before it attaches probes there.
 *
 * If the kernel has to read it while it attaches (copy_insn() in kernel/events/uprobes.c), ext4 of
 * Linux 6.18 warns in the kernel's log about a lock that is not held. If it has to wait for a file
 * server then, no process of the host can fork meanwhile (register_for_each_vma()).
 */

struct probe_site;

/* Let a process that can be left behind (os/patience.h) read the code. Where a page can't be read,
 * attaching fails with the reason. ERROR_FAILED if the server of the file does not answer. */
int probe_pages_read(const struct probe_site *sites, int count, struct error *error);
