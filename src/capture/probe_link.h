// SPDX-License-Identifier: Apache-2.0
/*
 * Probes in the code of a process: uprobes, return probes and USDT, attached and detached as one
 * group.
 *
 * One uprobe_multi link for all sites of a program where the kernel has it (6.6), else one perf
 * event for each site. Only the target is probed, though others run the same file. All is bound to
 * descriptors of this process: when it ends, however it ends, the kernel takes the breakpoints
 * away. The calls that attach and detach are made apart (util/apart.h): in a thread that is being
 * killed they fail half-way, and would leave breakpoints behind (docs/safety.md).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/probe_place.h"
#include "os/mappings.h"
#include "util/error.h"

struct bpf_program;

enum probe_way {
    PROBE_PERF,
    PROBE_MULTI,
};

struct probe_site {
    const struct bpf_program *program; /* loaded, after probe_prepare() */
    const char *path;                  /* of the file that is mapped; borrowed */
    uint64_t file_offset;
    uint64_t semaphore_offset; /* in the file, of a USDT probe that has one; else 0 */
    uint64_t cookie;           /* bpf_get_attach_cookie() */
    bool is_return;
};

/* Where a probe of the code at `address` goes: an offset in a file. The path leads to the file that
 * is mapped, whatever the target's mount namespace or chroot calls it, also when it was deleted
 * since, and as long as `mappings` lives. */
struct probe_point {
    char path[32];
    uint64_t file_offset;
};

/* Of a function, given by its first instruction, the point is where a probe at its entry costs
 * least and its program still finds what it needs: all of the call, or what `needs` says.
 * ERROR_FAILED where no file is mapped at `address`, as code. */
int probe_point(struct mappings *mappings, uint64_t address, struct probe_point *point,
                struct error *error);
int probe_point_for(struct mappings *mappings, uint64_t address, const struct probe_needs *needs,
                    struct probe_point *point, struct error *error);

/* Before the program is loaded: how it will be attached, as calibration found. */
void probe_prepare(struct bpf_program *program, enum probe_way way);

struct probe_links;

/* Attach all sites in `pid`, or none. The wait is mostly for the kernel's RCU: measured 6 to 14 ms
 * (Linux 6.18), of them 0.1 ms CPU time. ERROR_NO_PROCESS if the target is gone. */
struct probe_links *probe_attach(enum probe_way way, pid_t pid, const struct probe_site *sites,
                                 int count, struct error *error);

/* CPU time that attaching took, in ns, of which this thread's clock knows nothing. */
uint64_t probe_attach_ns(const struct probe_links *links);

/* Waits until the kernel has seen the last program end: 40 ms, at times a second. With PROBE_MULTI
 * the traps are gone early in this call (0.1 to 10 ms), with PROBE_PERF at its end. Never fails,
 * also when the target is gone. NULL is fine. Returns the CPU time that it took, in ns, of which
 * this thread's clock knows nothing. */
uint64_t probe_detach(struct probe_links *links);
