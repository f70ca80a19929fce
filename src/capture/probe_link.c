// SPDX-License-Identifier: Apache-2.0
#include "capture/probe_link.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/alloc.h"

/* Of include/uapi/linux/bpf.h, Linux 6.6: newer than the headers that we build with. */
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

struct link {
    struct bpf_link *perf; /* or, if NULL: */
    int multi;             /* descriptor */
};

struct probe_links {
    int count;
    struct link links[];
};

int probe_point_for(struct mappings *mappings, uint64_t address, const struct probe_needs *needs,
                    struct probe_point *point, struct error *error)
{
    struct mapping *mapping = mappings_find_code(mappings, address);
    struct elf_file *file = mapping ? mapping_file(mappings, mapping) : NULL;

    if (!file || file->fd < 0)
        return error_set(error, ERROR_FAILED, "no file is mapped at 0x%llx, as code",
                         (unsigned long long)address);
    snprintf(point->path, sizeof(point->path), "/proc/self/fd/%d", file->fd);
    address = probe_place_of(file, address, needs);
    point->file_offset = address - mapping->start + mapping->offset;
    return 0;
}

int probe_point(struct mappings *mappings, uint64_t address, struct probe_point *point,
                struct error *error)
{
    static const struct probe_needs all = {.arguments = 6, .stack = true};

    return probe_point_for(mappings, address, &all, point, error);
}

void probe_prepare(struct bpf_program *program, enum probe_way way)
{
    if (way == PROBE_MULTI)
        bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)ATTACH_UPROBE_MULTI);
}

static int attach_error(int code, pid_t pid, const struct probe_site *site, struct error *error)
{
    if (code == ESRCH)
        return error_set(error, ERROR_NO_PROCESS, "process %d has ended", (int)pid);
    if (code == EPERM || code == EACCES)
        return error_set(error, ERROR_PERMISSION,
                         "not permitted to attach probes: run as root, or with CAP_BPF, "
                         "CAP_PERFMON and CAP_SYS_ADMIN");
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

/* All sites that go with `first`. Returns the descriptor, or -1 with errno. */
static int attach_multi(pid_t pid, const struct probe_site *first, const struct probe_site *sites,
                        int count)
{
    uint64_t *table = xcalloc(3 * (size_t)count, sizeof(*table));
    uint64_t *offsets = table, *semaphores = offsets + count, *cookies = semaphores + count;
    struct link_create_uprobe_multi create = {
        .program_fd = (uint32_t)bpf_program__fd(first->program),
        .attach_type = ATTACH_UPROBE_MULTI,
        .path = (uintptr_t)first->path,
        .offsets = (uintptr_t)offsets,
        .cookies = (uintptr_t)cookies,
        .multi_flags = first->is_return ? UPROBE_MULTI_RETURN : 0,
        .pid = (uint32_t)pid,
    };
    int fd, code;

    for (int i = 0; i < count; i++) {
        if (!same_link(first, &sites[i]))
            continue;
        offsets[create.count] = sites[i].file_offset;
        cookies[create.count] = sites[i].cookie;
        semaphores[create.count++] = sites[i].semaphore_offset;
        if (sites[i].semaphore_offset)
            create.semaphore_offsets = (uintptr_t)semaphores;
    }
    fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &create, sizeof(create));
    code = errno;
    free(table);
    errno = code;
    return fd;
}

static int attach_all_multi(struct probe_links *links, pid_t pid, const struct probe_site *sites,
                            int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        int fd;

        if (!is_first_of_link(sites, i))
            continue;
        fd = attach_multi(pid, &sites[i], sites + i, count - i);
        if (fd < 0)
            return attach_error(errno, pid, &sites[i], error);
        links->links[links->count++].multi = fd;
    }
    return 0;
}

/* ---- one event for each site ---- */

static int attach_all_perf(struct probe_links *links, pid_t pid, const struct probe_site *sites,
                           int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        struct bpf_uprobe_opts options = {
            .sz = sizeof(options),
            .ref_ctr_offset = sites[i].semaphore_offset,
            .bpf_cookie = sites[i].cookie,
            .retprobe = sites[i].is_return,
        };
        struct bpf_link *link = bpf_program__attach_uprobe_opts(
            sites[i].program, pid, sites[i].path, sites[i].file_offset, &options);

        if (!link)
            return attach_error(errno, pid, &sites[i], error);
        links->links[links->count++].perf = link;
    }
    return 0;
}

struct probe_links *probe_attach(enum probe_way way, pid_t pid, const struct probe_site *sites,
                                 int count, struct error *error)
{
    struct probe_links *links = xcalloc(1, sizeof(*links) + (size_t)count * sizeof(struct link));
    int result = way == PROBE_MULTI ? attach_all_multi(links, pid, sites, count, error)
                                    : attach_all_perf(links, pid, sites, count, error);

    if (result == 0)
        return links;
    probe_detach(links);
    return NULL;
}

static void *end_link(void *argument)
{
    const struct link *link = argument;

    if (link->perf)
        bpf_link__destroy(link->perf);
    else
        close(link->multi);
    return NULL;
}

/* Each end waits 40 ms and more for the kernel, and until it has come to the next one the traps of
 * that one are hit: so all at the same time. */
void probe_detach(struct probe_links *links)
{
    pthread_t *threads;
    bool *running;

    if (!links)
        return;
    threads = xcalloc((size_t)links->count + 1, sizeof(*threads));
    running = xcalloc((size_t)links->count + 1, sizeof(*running));
    for (int i = 1; i < links->count; i++)
        running[i] = pthread_create(&threads[i], NULL, end_link, &links->links[i]) == 0;
    for (int i = 0; i < links->count; i++) {
        if (running[i])
            pthread_join(threads[i], NULL);
        else
            end_link(&links->links[i]);
    }
    free(running);
    free(threads);
    free(links);
}
