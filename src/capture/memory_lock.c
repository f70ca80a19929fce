// SPDX-License-Identifier: Apache-2.0
#include "capture/memory_lock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child.h"
#include "native/memory.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/log.h"

struct watched_process {
    pid_t pid;
    struct process_identity identity;
    uint64_t memory; /* the kernel's address of the memory map */
};

struct memory_locks {
    struct programs *programs;
    struct bpf_program *find, *look;
    pthread_mutex_t lock; /* guards what follows */
    struct watched_process *list;
    size_t count, room;
    pid_t *keepers; /* processes that keep descriptors */
    size_t keeper_count, keeper_room;
};

struct memory_locks *memory_locks_new(struct programs *programs)
{
    struct memory_locks *locks = xcalloc(1, sizeof(*locks));

    locks->programs = programs;
    locks->find = programs_want(programs, "find_memories");
    locks->look = programs_want(programs, "look_at_locks");
    pthread_mutex_init(&locks->lock, NULL);
    return locks;
}

void memory_locks_free(struct memory_locks *locks)
{
    if (!locks)
        return;
    pthread_mutex_destroy(&locks->lock);
    free(locks->list);
    free(locks->keepers);
    free(locks);
}

/* ---- looking ---- */

/* Return the number of the first lock that is taken, from 1; 0 if all are free. */
static unsigned int look(const struct memory_locks *locks, uint64_t memories[WIRE_MEMORIES])
{
    struct bpf_test_run_opts run = {
        .sz = sizeof(run),
        .ctx_in = memories,
        .ctx_size_in = WIRE_MEMORIES * sizeof(memories[0]),
    };

    return bpf_prog_test_run_opts(bpf_program__fd(locks->look), &run) ? 0 : run.retval;
}

/* A memory_lock_look. */
static bool is_taken(void *context, uint64_t memory)
{
    uint64_t memories[WIRE_MEMORIES] = {memory};

    return look(context, memories) != 0;
}

static bool is_running(const struct watched_process *watched)
{
    return process_runs(watched->pid, &watched->identity);
}

/* Return the index of the first one whose lock is taken, of any thread; `count` if there is none.
 */
static size_t first_taken(const struct memory_locks *locks)
{
    for (size_t i = 0; i < locks->count; i += WIRE_MEMORIES) {
        uint64_t memories[WIRE_MEMORIES] = {0};
        unsigned int taken;

        for (size_t j = 0; j < WIRE_MEMORIES && i + j < locks->count; j++)
            memories[j] = locks->list[i + j].memory | WIRE_MEMORY_READERS;
        taken = look(locks, memories);
        if (taken)
            return i + taken - 1;
    }
    return locks->count;
}

/* The kernel uses the memory of the map of a process that has ended for other things. */
static void forget(struct memory_locks *locks, size_t index)
{
    locks->list[index] = locks->list[--locks->count];
}

pid_t memory_locks_taken(struct memory_locks *locks)
{
    pid_t pid = 0;
    size_t i;

    pthread_mutex_lock(&locks->lock);
    while (!pid && (i = first_taken(locks)) < locks->count) {
        if (is_running(&locks->list[i]))
            pid = locks->list[i].pid;
        else
            forget(locks, i);
    }
    pthread_mutex_unlock(&locks->lock);
    return pid;
}

/* ---- watching ---- */

/* Run the iterator until it has seen all threads. Return 0, or -1 with errno. */
static int find_memories(const struct memory_locks *locks)
{
    struct bpf_link *link = bpf_program__attach_iter(locks->find, NULL);
    int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
    int result = -1, code = errno;
    char byte;

    if (fd >= 0) {
        result = read(fd, &byte, sizeof(byte)) < 0 ? -1 : 0;
        code = errno;
        close(fd);
    }
    bpf_link__destroy(link);
    errno = code;
    return result;
}

static const struct watched_process *find_watched(const struct memory_locks *locks,
                                                  const struct vm *vm)
{
    for (size_t i = 0; i < locks->count; i++)
        if (locks->list[i].pid == vm->pid && is_running(&locks->list[i]))
            return &locks->list[i];
    return NULL;
}

/* Containers of one image have a file on several devices, but the kernel puts probes into one. */
static bool is_same_file(const struct executable *a, const struct executable *b)
{
    return a->inode == b->inode && a->size == b->size;
}

/* Return the VM, and all processes that run the same file, malloc'ed. */
static struct watched_process *find_wanted(const struct vm *vm, size_t *ret_count)
{
    enum { MOST = 1000 };
    struct watched_process *wanted = xcalloc(MOST, sizeof(*wanted));
    struct executable own, other;
    struct error ignored;
    size_t count = 0, pid_count = 0;
    pid_t *pids = process_executable(vm->pid, &own) ? process_list(&pid_count, &ignored) : NULL;

    wanted[count++] = (struct watched_process){.pid = vm->pid, .identity = vm->identity};
    for (size_t i = 0; pids && i < pid_count && count < MOST; i++)
        if (pids[i] != vm->pid && process_executable(pids[i], &other) && is_same_file(&own, &other))
            wanted[count++] =
                (struct watched_process){.pid = pids[i], .identity = process_identity(pids[i])};
    free(pids);
    *ret_count = count;
    return wanted;
}

/* Add the VM, and the processes that run the same file. Return 0, or -1 with errno. */
static int watch_all(struct memory_locks *locks, const struct vm *vm)
{
    size_t count;
    struct watched_process *wanted = find_wanted(vm, &count);
    int result;

    for (size_t i = 0; i < count; i++)
        programs_want_memory(locks->programs, wanted[i].pid);
    result = find_memories(locks);
    for (size_t i = 0; i < count; i++) {
        wanted[i].memory = programs_take_memory(locks->programs, wanted[i].pid);
        if (!wanted[i].memory)
            continue;
        locks->list = xgrow(locks->list, &locks->room, locks->count, sizeof(*locks->list));
        locks->list[locks->count++] = wanted[i];
    }
    free(wanted);
    return result;
}

void memory_locks_watch(struct memory_locks *locks, const struct vm *vm)
{
    const struct watched_process *found;

    pthread_mutex_lock(&locks->lock);
    for (size_t i = locks->count; i-- > 0;)
        if (!is_running(&locks->list[i]))
            forget(locks, i);
    if (!find_watched(locks, vm) && watch_all(locks, vm))
        log_decision("memory", "the locks of memory maps can't be looked at: %s", strerror(errno));
    found = find_watched(locks, vm);
    if (found)
        memory_watch_lock(vm->memory, is_taken, locks, found->memory);
    pthread_mutex_unlock(&locks->lock);
}

/* ---- what outlives this process ---- */

/* For a process that fork() has just made: it has one thread. */
static noreturn void wait_until_free(struct memory_locks *locks, const int *fds, int count)
{
    enum { LOOK_US = 10000 };
    int *kept = xcalloc((size_t)count + 1, sizeof(*kept));

    setpgid(0, 0); /* a kill of our process group does not reach it either */
    setpriority(PRIO_PROCESS, 0, 0);
    memcpy(kept, fds, (size_t)count * sizeof(*kept));
    kept[count] = bpf_program__fd(locks->look);
    child_begin("beamflame-wait", kept, (size_t)count + 1);
    while (memory_locks_taken(locks))
        usleep(LOOK_US);
    _exit(0);
}

void memory_locks_keep(struct memory_locks *locks, const int *fds, int count)
{
    pid_t child;

    pthread_mutex_lock(&locks->lock);
    child = fork();
    if (child > 0) {
        locks->keepers = xgrow(locks->keepers, &locks->keeper_room, locks->keeper_count,
                               sizeof(*locks->keepers));
        locks->keepers[locks->keeper_count++] = child;
    }
    pthread_mutex_unlock(&locks->lock);
    if (child == 0)
        wait_until_free(locks, fds, count);
    if (child < 0)
        log_decision("probes", "no process can be made that keeps them: %s", strerror(errno));
    else
        log_decision("probes",
                     "process %d keeps them attached until no VM holds the lock of its memory map",
                     (int)child);
}

pid_t memory_locks_keeper(struct memory_locks *locks)
{
    pid_t pid;

    pthread_mutex_lock(&locks->lock);
    for (size_t i = locks->keeper_count; i-- > 0;)
        if (waitpid(locks->keepers[i], NULL, WNOHANG))
            locks->keepers[i] = locks->keepers[--locks->keeper_count];
    pid = locks->keeper_count ? locks->keepers[0] : 0;
    pthread_mutex_unlock(&locks->lock);
    return pid;
}
