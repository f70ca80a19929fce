// SPDX-License-Identifier: Apache-2.0
#include "capture/probe_safety.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "calibration.skel.h"
#include "capture/calibration.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "os/process.h"
#include "util/log.h"

enum { RUNS = 20 }; /* the first hit is of a breakpoint, the later ones may be of a call */

/* ---- the trial ---- */

static struct probe_links *attach_to_nop(enum probe_way way, const struct calibration_bpf *skeleton,
                                         struct error *error)
{
    struct memory *memory = memory_of_process(getpid());
    struct mappings *mappings = mappings_new(getpid(), memory, error);
    struct probe_site site = {.program = skeleton->progs.count_hit};
    struct probe_links *links = NULL;
    struct probe_point point;

    if (mappings && probe_link_point(mappings, (uintptr_t)trap_nop5_of_leaf, &point, error) == 0) {
        site.path = point.path;
        site.file_offset = point.file_offset;
        links = probe_link_attach(way, getpid(), &site, 1, error);
    }
    mappings_free(mappings);
    memory_free(memory);
    return links;
}

static int run(enum probe_way way, const struct calibration_bpf *skeleton, struct nop5_trial *trial,
               struct error *error)
{
    struct probe_links *links = attach_to_nop(way, skeleton, error);

    if (!links)
        return -1;
    for (; trial->runs < RUNS; trial->runs++)
        trial->changed += trap_nop5_in_leaf(0x6265616d666c616d ^ trial->runs);
    trial->hits = skeleton->bss->hits;
    probe_link_detach(links);
    return 0;
}

int probe_safety_try_nop5(enum probe_way way, struct nop5_trial *trial, struct error *error)
{
    struct calibration_bpf *skeleton = calibration_bpf__open();
    int result;

    *trial = (struct nop5_trial){0};
    if (!skeleton)
        return error_set(error, ERROR_FAILED, "a BPF program can't be opened");
    probe_link_prepare(skeleton->progs.count_hit, way);
    if (calibration_bpf__load(skeleton) == 0)
        result = run(way, skeleton, trial, error);
    else
        result = error_set(error, ERROR_FAILED, "a BPF program can't be loaded");
    calibration_bpf__destroy(skeleton);
    return result;
}

bool probe_safety_nop5_is_harmless(const struct nop5_trial *trial)
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
        harmless = probe_safety_try_nop5(way, &trial, &ignored) == 0 &&
                   probe_safety_nop5_is_harmless(&trial);
        log_decision("probes",
                     "a probe on a nop of five bytes %s, by a trial on a function of our own",
                     harmless ? "does no harm on this kernel" : "is not safe on this kernel");
    }
    tried = true;
    result = harmless;
    pthread_mutex_unlock(&lock);
    return result;
}

int probe_safety_check_nop5(enum probe_way way, const struct probe_point *point,
                            struct error *error)
{
    if (point->trap != TRAP_NOP5 || is_harmless_here(way))
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "offset 0x%llx of its file has a nop of five bytes; a probe there makes this "
                     "kernel overwrite the stack of the program",
                     (unsigned long long)point->file_offset);
}

static __attribute__((noinline)) void function_to_probe(void)
{
    __asm__ volatile("");
}

/* ---- the process that tries it ---- */

static void filter_uretprobe(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)cpu.uretprobe_call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(1);
}

/* Call the function when `go` has a byte, and end with status 0 if it returns. */
static void try_it(int ready, int go)
{
    const struct rlimit no_core = {0};
    char byte = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGILL, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    filter_uretprobe();
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
        _exit(1);
    function_to_probe();
    _exit(0);
}

/* ---- trying it ---- */

static struct probe_links *attach_at_return(enum probe_way way, pid_t pid,
                                            struct calibration_bpf *skeleton)
{
    struct memory *memory = memory_of_process(getpid());
    struct error error;
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct probe_site site = {.program = skeleton->progs.count_hit, .is_return = true};
    struct probe_links *links = NULL;
    struct probe_point point;

    if (mappings && probe_link_point(mappings, (uintptr_t)function_to_probe, &point, &error) == 0) {
        site.path = point.path;
        site.file_offset = point.file_offset;
        links = probe_link_attach(way, pid, &site, 1, &error);
    }
    mappings_free(mappings);
    memory_free(memory);
    return links;
}

/* True if the process survives the probe. False also if that can't be tried. */
static bool survives(enum probe_way way, struct calibration_bpf *skeleton, pid_t pid, int ready,
                     int go)
{
    struct probe_links *links = NULL;
    bool waited = false;
    char byte;
    int status;

    if (read(ready, &byte, 1) == 1)
        links = attach_at_return(way, pid, skeleton);
    if (links && write(go, &byte, 1) == 1)
        waited = waitpid(pid, &status, 0) == pid;
    if (!waited) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    probe_link_detach(links);
    return waited && WIFEXITED(status) && WEXITSTATUS(status) == 0 && skeleton->bss->hits == 1;
}

static bool try_with(enum probe_way way, struct calibration_bpf *skeleton)
{
    int ready[2], go[2];
    bool result = false;
    pid_t pid;

    if (pipe2(ready, O_CLOEXEC))
        return false;
    if (pipe2(go, O_CLOEXEC) == 0) {
        pid = fork();
        if (pid == 0)
            try_it(ready[1], go[0]);
        close(ready[1]);
        ready[1] = -1;
        if (pid > 0)
            result = survives(way, skeleton, pid, ready[0], go[1]);
        close(go[0]);
        close(go[1]);
    }
    close(ready[0]);
    if (ready[1] >= 0)
        close(ready[1]);
    return result;
}

static bool are_harmless(enum probe_way way)
{
    struct calibration_bpf *skeleton = calibration_bpf__open();
    bool result = false;

    if (!skeleton)
        return false;
    probe_link_prepare(skeleton->progs.count_hit, way);
    if (calibration_bpf__load(skeleton) == 0)
        result = try_with(way, skeleton);
    calibration_bpf__destroy(skeleton);
    return result;
}

/* ---- the check ---- */

static bool has_returns(const struct probe_site *sites, int count)
{
    for (int i = 0; i < count; i++) {
        if (sites[i].is_return)
            return true;
    }
    return false;
}

int probe_safety_check_returns(enum probe_way way, pid_t pid, const struct probe_site *sites,
                               int count, struct error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool tried, harmless;
    bool result;

    if (!has_returns(sites, count) || !process_filters_calls(pid))
        return 0;
    pthread_mutex_lock(&lock);
    if (!tried)
        harmless = are_harmless(way);
    tried = true;
    result = harmless;
    pthread_mutex_unlock(&lock);
    if (result)
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "process %d filters its system calls (seccomp), and on this kernel a probe at "
                     "the return of a function would end it",
                     (int)pid);
}
