// SPDX-License-Identifier: Apache-2.0
#include "capture/nop5.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <unistd.h>

#include "calibration.skel.h"
#include "capture/calibration.h"
#include "os/mappings.h"
#include "os/memory.h"
#include "util/log.h"

enum { RUNS = 20 }; /* the first hit is of a breakpoint, the later ones may be of a call */

/* ---- the trial ---- */

static struct probe_links *attach(enum probe_way way, const struct calibration_bpf *skeleton,
                                  struct error *error)
{
    struct memory *memory = memory_of_process(getpid());
    struct mappings *mappings = mappings_new(getpid(), memory, error);
    struct probe_site site = {.program = skeleton->progs.count_hit};
    struct probe_links *links = NULL;
    struct probe_point point;

    if (mappings && probe_point(mappings, (uintptr_t)trap_nop5_of_leaf, &point, error) == 0) {
        site.path = point.path;
        site.file_offset = point.file_offset;
        links = probe_attach(way, getpid(), &site, 1, error);
    }
    mappings_free(mappings);
    memory_free(memory);
    return links;
}

static int run(enum probe_way way, const struct calibration_bpf *skeleton, struct nop5_trial *trial,
               struct error *error)
{
    struct probe_links *links = attach(way, skeleton, error);

    if (!links)
        return -1;
    for (; trial->runs < RUNS; trial->runs++)
        trial->changed += trap_nop5_in_leaf(0x6265616d666c616d ^ trial->runs);
    trial->hits = skeleton->bss->hits;
    probe_detach(links);
    return 0;
}

int nop5_try(enum probe_way way, struct nop5_trial *trial, struct error *error)
{
    struct calibration_bpf *skeleton = calibration_bpf__open();
    int result;

    *trial = (struct nop5_trial){0};
    if (!skeleton)
        return error_set(error, ERROR_FAILED, "a BPF program can't be opened");
    probe_prepare(skeleton->progs.count_hit, way);
    if (calibration_bpf__load(skeleton) == 0)
        result = run(way, skeleton, trial, error);
    else
        result = error_set(error, ERROR_FAILED, "a BPF program can't be loaded");
    calibration_bpf__destroy(skeleton);
    return result;
}

bool nop5_is_harmless(const struct nop5_trial *trial)
{
    return trial->runs > 1 && trial->hits == trial->runs && trial->changed == 0;
}

/* ---- places ---- */

static bool is_harmless_here(enum probe_way way)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool tried, harmless;
    struct nop5_trial trial;
    struct error ignored;
    bool result;

    pthread_mutex_lock(&lock);
    if (!tried) {
        harmless = nop5_try(way, &trial, &ignored) == 0 && nop5_is_harmless(&trial);
        log_decision("probes",
                     "a probe on a nop of five bytes %s, by a trial on a function of our own",
                     harmless ? "does no harm on this kernel" : "is not safe on this kernel");
    }
    tried = true;
    result = harmless;
    pthread_mutex_unlock(&lock);
    return result;
}

int nop5_check(enum probe_way way, const struct probe_point *point, struct error *error)
{
    const struct probe_site site = {.path = point->path, .file_offset = point->file_offset};

    if (trap_of_site(&site) != TRAP_NOP5 || is_harmless_here(way))
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "offset 0x%llx of its file has a nop of five bytes; a probe there makes this "
                     "kernel overwrite the stack of the program",
                     (unsigned long long)point->file_offset);
}
