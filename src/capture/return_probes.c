// SPDX-License-Identifier: Apache-2.0
#include "capture/return_probes.h"

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
#include "os/memory.h"
#include "os/process.h"

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

static struct probe_links *attach(enum probe_way way, pid_t pid, struct calibration_bpf *skeleton)
{
    struct memory *memory = memory_of_process(getpid());
    struct error error;
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    struct probe_site site = {.program = skeleton->progs.count_hit, .is_return = true};
    struct probe_links *links = NULL;
    struct probe_point point;

    if (mappings && probe_point(mappings, (uintptr_t)function_to_probe, &point, &error) == 0) {
        site.path = point.path;
        site.file_offset = point.file_offset;
        links = probe_attach(way, pid, &site, 1, &error);
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
        links = attach(way, pid, skeleton);
    if (links && write(go, &byte, 1) == 1)
        waited = waitpid(pid, &status, 0) == pid;
    if (!waited) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    probe_detach(links);
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
    probe_prepare(skeleton->progs.count_hit, way);
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

int return_probes_check(enum probe_way way, pid_t pid, const struct probe_site *sites, int count,
                        struct error *error)
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
