// SPDX-License-Identifier: Apache-2.0
#include "capture/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/sample_clock.h"
#include "os/capabilities.h"
#include "os/descriptors.h"
#include "util/alloc.h"

static int open_event(uint64_t address, pid_t tid)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = PERF_TYPE_BREAKPOINT,
        .bp_type = HW_BREAKPOINT_X,
        .bp_addr = address,
        .bp_len = sizeof(long),
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int breakpoint_none_free(struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "no hardware breakpoint is free: a CPU has 4, and debuggers and other "
                     "profilers of this VM use the rest; end them or count fewer functions");
}

int breakpoint_missed(uint64_t made, uint64_t counted, const char *what, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "hardware breakpoints don't work here: of %llu %s in a trial, %llu were "
                     "counted",
                     (unsigned long long)made, what, (unsigned long long)counted);
}

static int refused(int code, struct error *error)
{
    if (code == EACCES || code == EPERM)
        return capabilities_refused(sample_clock_capabilities(), error, "set breakpoints");
    if (descriptors_ran_out(code, error))
        return -1;
    if (code == ENOSPC)
        return breakpoint_none_free(error);
    return error_set(error, ERROR_UNSUPPORTED,
                     "this kernel or hypervisor has no hardware breakpoints: %s", strerror(code));
}

int breakpoint_set(struct breakpoint *breakpoint, pid_t tid, struct error *error)
{
    int fd = open_event(breakpoint->address, tid), code;

    if (fd < 0)
        return errno == ESRCH ? 0 : refused(errno, error);
    if (breakpoint->program >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, breakpoint->program)) {
        code = errno;
        close(fd);
        return refused(code, error);
    }
    breakpoint->threads = xgrow(breakpoint->threads, &breakpoint->room, breakpoint->count,
                                sizeof(*breakpoint->threads));
    breakpoint->threads[breakpoint->count++] = (struct breakpoint_thread){tid, fd};
    return 0;
}

static void change(const struct breakpoint *breakpoint, unsigned long request)
{
    for (size_t i = 0; i < breakpoint->count; i++)
        ioctl(breakpoint->threads[i].fd, request, 0);
}

void breakpoint_start(const struct breakpoint *breakpoint)
{
    change(breakpoint, PERF_EVENT_IOC_ENABLE);
}

void breakpoint_stop(const struct breakpoint *breakpoint)
{
    change(breakpoint, PERF_EVENT_IOC_DISABLE);
}

uint64_t breakpoint_hits(const struct breakpoint *breakpoint)
{
    uint64_t sum = 0, hits;

    for (size_t i = 0; i < breakpoint->count; i++)
        if (read(breakpoint->threads[i].fd, &hits, sizeof(hits)) == sizeof(hits))
            sum += hits;
    return sum;
}

void breakpoint_remove(struct breakpoint *breakpoint)
{
    for (size_t i = 0; i < breakpoint->count; i++)
        close(breakpoint->threads[i].fd);
    free(breakpoint->threads);
    breakpoint->threads = NULL;
    breakpoint->count = breakpoint->room = 0;
}

/* ---- a trial ---- */

enum { TRIAL_CALLS = 10 };

static __attribute__((noinline)) void called(void)
{
    __asm__ volatile("");
}

int breakpoint_try(struct error *error)
{
    struct breakpoint breakpoint = {.address = (uintptr_t)called, .program = -1};
    uint64_t hits;

    if (breakpoint_set(&breakpoint, gettid(), error))
        return -1;
    breakpoint_start(&breakpoint);
    for (int i = 0; i < TRIAL_CALLS; i++)
        called();
    breakpoint_stop(&breakpoint);
    hits = breakpoint_hits(&breakpoint);
    breakpoint_remove(&breakpoint);
    return hits == TRIAL_CALLS ? 0 : breakpoint_missed(TRIAL_CALLS, hits, "hits", error);
}
