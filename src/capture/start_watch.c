// SPDX-License-Identifier: Apache-2.0
#include "capture/programs.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/log.h"

struct start_watch {
    struct bpf_program *program;
    struct bpf_link *link; /* NULL: not attached */
};

struct start_watch *start_watch_new(struct programs *programs)
{
    struct start_watch *watch = xcalloc(1, sizeof(*watch));

    watch->program = programs_want(programs, "program_starts");
    return watch;
}

void start_watch_free(struct start_watch *watch)
{
    if (!watch)
        return;
    bpf_link__destroy(watch->link);
    free(watch);
}

void start_watch_begin(struct start_watch *watch)
{
    watch->link = bpf_program__attach_raw_tracepoint(watch->program, "sched_process_exec");
    if (watch->link)
        log_decision("targets",
                     "the kernel reports programs that start: new VMs are found at once");
    else
        log_decision("targets",
                     "the kernel can't report programs that start (%s): new VMs are found by "
                     "looking at all processes",
                     strerror(errno));
}

bool start_watch_works(const struct start_watch *watch)
{
    return watch->link != NULL;
}
