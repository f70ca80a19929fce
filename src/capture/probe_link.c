// SPDX-License-Identifier: Apache-2.0
#include "capture/probe_link.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/sample_clock.h"
#include "native/elf_file.h"
#include "os/capabilities.h"
#include "os/descriptors.h"
#include "os/privileges.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/unkillable.h"

/* From include/uapi/linux/bpf.h of Linux 6.6, which is newer than the headers of our build. */
enum {
    ATTACH_UPROBE_MULTI = 48, /* BPF_TRACE_UPROBE_MULTI */
    UPROBE_MULTI_RETURN = 1,  /* BPF_F_UPROBE_MULTI_RETURN */
};

struct link_create_uprobe_multi {
    uint32_t program_fd;
    uint32_t target_fd;
    uint32_t attach_type;
    uint32_t flags;
    uint64_t path;
    uint64_t offsets;
    uint64_t semaphore_offsets;
    uint64_t cookies;
    uint32_t count;
    uint32_t multi_flags;
    uint32_t pid;
    uint32_t unused;
};

/* Descriptors; -1: none. */
struct link {
    int link;
    int event; /* the perf event of the link, with PROBE_PERF */
};

struct probe_links {
    uint64_t attach_ns;
    int count;
    struct link links[];
};

struct probe_point probe_link_point_in(struct elf_file *file, uint64_t offset)
{
    struct probe_point point = {.file_offset = offset};
    uint8_t code[CPU_INSTRUCTION_BYTES_MAX];

    snprintf(point.path, sizeof(point.path), "/proc/self/fd/%d", file->fd);
    point.trap = uprobe_trap_of_code(code, elf_file_read(file, offset, code, sizeof(code)));
    return point;
}

int probe_link_point_for(struct mappings *mappings, uint64_t address,
                         const struct probe_needs *needs, struct probe_point *point,
                         struct error *error)
{
    struct mapping *mapping = mappings_find_code(mappings, address);
    struct elf_file *file = mapping ? mapping_file(mappings, mapping) : NULL;

    if (!file || file->in_memory)
        return error_set(error, ERROR_FAILED, "no file is mapped as code at 0x%llx",
                         (unsigned long long)address);
    address = probe_place_of(file, address, needs);
    *point = probe_link_point_in(file, address - mapping->start + mapping->offset);
    return 0;
}

int probe_link_point(struct mappings *mappings, uint64_t address, struct probe_point *point,
                     struct error *error)
{
    static const struct probe_needs all = {.arguments = 6, .stack = true};

    return probe_link_point_for(mappings, address, &all, point, error);
}

const char *probe_link_way_name(enum probe_way way)
{
    return way == PROBE_MULTI ? "uprobe_multi" : "perf events";
}

void probe_link_prepare(struct bpf_program *program, enum probe_way way)
{
    if (program && way == PROBE_MULTI)
        bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)ATTACH_UPROBE_MULTI);
}

static int attach_error(int code, pid_t pid, const struct probe_site *site, struct error *error)
{
    if (code == ESRCH)
        return error_set(error, ERROR_NO_PROCESS, "process %d has ended", (int)pid);
    if (code == EPERM || code == EACCES)
        return capabilities_refused(sample_clock_capabilities(), error, "attach probes");
    if (descriptors_ran_out(code, error))
        return -1;
    return error_set(error, ERROR_FAILED, "a probe can't be attached at offset 0x%llx of %s: %s",
                     (unsigned long long)site->file_offset, site->path, strerror(code));
}

/* ---- one link for the sites of a program ---- */

static bool same_link(const struct probe_site *a, const struct probe_site *b)
{
    return a->program == b->program && a->is_return == b->is_return &&
           strcmp(a->path, b->path) == 0;
}

static bool is_first_of_link(const struct probe_site *sites, int i)
{
    for (int j = 0; j < i; j++) {
        if (same_link(&sites[j], &sites[i]))
            return false;
    }
    return true;
}

struct multi_call {
    struct link_create_uprobe_multi create;
    int fd, code;
};

static void create_multi(void *argument)
{
    struct multi_call *call = argument;

    call->fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &call->create, sizeof(call->create));
    call->code = errno;
}

/* Attach all sites that share a link with `first`. Return 0, or an errno. */
static int attach_multi(struct probe_links *links, pid_t pid, const struct probe_site *first,
                        const struct probe_site *sites, int count)
{
    uint64_t *table = xcalloc(3 * (size_t)count, sizeof(*table));
    uint64_t *offsets = table, *semaphores = offsets + count, *cookies = semaphores + count;
    struct multi_call call = {
        .create =
            {
                .program_fd = (uint32_t)bpf_program__fd(first->program),
                .attach_type = ATTACH_UPROBE_MULTI,
                .path = (uintptr_t)first->path,
                .offsets = (uintptr_t)offsets,
                .cookies = (uintptr_t)cookies,
                .multi_flags = first->is_return ? UPROBE_MULTI_RETURN : 0,
                .pid = (uint32_t)pid,
            },
    };
    struct link_create_uprobe_multi *create = &call.create;

    for (int i = 0; i < count; i++) {
        if (!same_link(first, &sites[i]))
            continue;
        offsets[create->count] = sites[i].file_offset;
        cookies[create->count] = sites[i].cookie;
        semaphores[create->count++] = sites[i].semaphore_offset;
        if (sites[i].semaphore_offset)
            create->semaphore_offsets = (uintptr_t)semaphores;
    }
    links->attach_ns += run_unkillable(create_multi, &call);
    free(table);
    if (call.fd < 0)
        return call.code;
    links->links[links->count++] = (struct link){.link = call.fd, .event = -1};
    return 0;
}

static int attach_all_multi(struct probe_links *links, pid_t pid, const struct probe_site *sites,
                            int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        int code = 0;

        if (is_first_of_link(sites, i))
            code = attach_multi(links, pid, &sites[i], sites + i, count - i);
        if (code)
            return attach_error(code, pid, &sites[i], error);
    }
    return 0;
}

/* ---- one event for each site ---- */

/* Documentation/ABI/testing/sysfs-bus-event_source-devices*: the kernel's number of this kind of
 * event, and the bit of `config` for a probe at return. */
#define UPROBE_EVENTS "/sys/bus/event_source/devices/uprobe/"
enum { SEMAPHORE_SHIFT = 32 }; /* in `config`: PERF_UPROBE_REF_CTR_OFFSET_SHIFT */

static bool read_number(const char *path, const char *form, unsigned int *number)
{
    FILE *file = fopen(path, "re");
    bool found = file && fscanf(file, form, number) == 1;

    if (file)
        fclose(file);
    return found;
}

struct perf_call {
    struct perf_event_attr attributes;
    pid_t pid;
    int program;
    uint64_t cookie;
    struct link link;
    int code;
};

static void create_event(void *argument)
{
    LIBBPF_OPTS(bpf_link_create_opts, options);
    struct perf_call *call = argument;

    options.perf_event.bpf_cookie = call->cookie;
    call->link.link = -1;
    call->link.event = (int)syscall(SYS_perf_event_open, &call->attributes, call->pid, -1, -1,
                                    PERF_FLAG_FD_CLOEXEC);
    if (call->link.event >= 0)
        call->link.link =
            bpf_link_create(call->program, call->link.event, BPF_PERF_EVENT, &options);
    if (call->link.link < 0 || ioctl(call->link.event, PERF_EVENT_IOC_ENABLE, 0) < 0)
        call->code = errno;
}

static int attach_all_perf(struct probe_links *links, pid_t pid, const struct probe_site *sites,
                           int count, struct error *error)
{
    unsigned int type, return_bit;

    if (!read_number(UPROBE_EVENTS "type", "%u", &type) ||
        !read_number(UPROBE_EVENTS "format/retprobe", "config:%u", &return_bit))
        return error_set(error, ERROR_UNSUPPORTED, "this kernel has no uprobes");
    for (int i = 0; i < count; i++) {
        struct perf_call call = {
            .attributes = {.type = type,
                           .size = sizeof(call.attributes),
                           .config = (uint64_t)sites[i].is_return << return_bit |
                                     sites[i].semaphore_offset << SEMAPHORE_SHIFT,
                           .uprobe_path = (uintptr_t)sites[i].path,
                           .probe_offset = sites[i].file_offset},
            .pid = pid,
            .program = bpf_program__fd(sites[i].program),
            .cookie = sites[i].cookie,
        };

        links->attach_ns += run_unkillable(create_event, &call);
        links->links[links->count++] = call.link;
        if (call.code)
            return attach_error(call.code, pid, &sites[i], error);
    }
    return 0;
}

struct probe_links *probe_link_attach(enum probe_way way, pid_t pid, const struct probe_site *sites,
                                      int count, struct error *error)
{
    struct probe_links *links = xcalloc(1, sizeof(*links) + (size_t)count * sizeof(struct link));
    int result = probe_pages_read(sites, count, error);

    if (result == 0)
        result = way == PROBE_MULTI ? attach_all_multi(links, pid, sites, count, error)
                                    : attach_all_perf(links, pid, sites, count, error);
    if (result == 0) {
        log_detail("probes",
                   "%d places are attached in process %d by %d %s, in %.1f ms of CPU time", count,
                   (int)pid, links->count, probe_link_way_name(way),
                   (double)links->attach_ns / 1e6);
        return links;
    }
    log_decision("probes", "attaching failed: %s", error->text);
    probe_link_detach(links);
    return NULL;
}

uint64_t probe_link_attach_ns(const struct probe_links *links)
{
    return links->attach_ns;
}

int *probe_links_fds(const struct probe_links *links, int *ret_count)
{
    int *fds = xcalloc(2 * (size_t)links->count + 1, sizeof(*fds)), count = 0;

    for (int i = 0; i < links->count; i++) {
        const int both[] = {links->links[i].link, links->links[i].event};

        for (int j = 0; j < 2; j++)
            if (both[j] >= 0)
                fds[count++] = both[j];
    }
    *ret_count = count;
    return fds;
}

/* ---- detaching ---- */

struct end {
    struct link link;
    pthread_t thread;
    bool running;
    uint64_t cpu_ns;
};

static void close_link(void *argument)
{
    const struct link *link = argument;

    if (link->event >= 0) {
        ioctl(link->event, PERF_EVENT_IOC_DISABLE, 0);
        close(link->event);
    }
    if (link->link >= 0)
        close(link->link);
}

static void *end_link(void *argument)
{
    struct end *end = argument;

    end->cpu_ns = run_unkillable(close_link, &end->link);
    return NULL;
}

/* Closing descriptors takes no right. */
static void *end_link_apart(void *argument)
{
    privileges_give_up();
    return end_link(argument);
}

/* Each link waits 40 ms or more for the kernel. If links were closed in turn, the traps of the
 * later ones would be hit meanwhile. So all are closed at the same time. */
uint64_t probe_link_detach(struct probe_links *links)
{
    struct end *ends;
    uint64_t cpu_ns = 0;

    if (!links)
        return 0;
    ends = xcalloc((size_t)links->count + 1, sizeof(*ends));
    for (int i = 0; i < links->count; i++)
        ends[i].link = links->links[i];
    for (int i = 1; i < links->count; i++)
        ends[i].running = pthread_create(&ends[i].thread, NULL, end_link_apart, &ends[i]) == 0;
    for (int i = 0; i < links->count; i++) {
        if (ends[i].running)
            pthread_join(ends[i].thread, NULL);
        else
            end_link(&ends[i]);
        cpu_ns += ends[i].cpu_ns;
    }
    free(ends);
    free(links);
    return cpu_ns;
}
