// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "os/patience.h"
#include "os/procfs.h"
#include "util/alloc.h"
#include "util/clock.h"

static int compare_ids(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a;
    pid_t right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

/* Return the numbers among the entries of a directory, in ascending order. NULL if it can't be
 * read. */
static pid_t *numbers_in(const char *path, size_t *count)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    pid_t *ids;
    size_t used = 0, room = 64;

    if (!directory)
        return NULL;
    ids = xreallocarray(NULL, room, sizeof(*ids));
    while ((entry = readdir(directory))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (used == room)
            ids = xreallocarray(ids, room *= 2, sizeof(*ids));
        ids[used++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(directory);
    qsort(ids, used, sizeof(*ids), compare_ids);
    *count = used;
    return ids;
}

pid_t *process_list(size_t *count, struct error *error)
{
    pid_t *pids = numbers_in("/proc", count);

    if (!pids)
        error_set(error, ERROR_FAILED, "can't list /proc: %s", strerror(errno));
    return pids;
}

pid_t *process_threads(pid_t pid, size_t *count, struct error *error)
{
    char path[64];
    pid_t *tids;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tids = numbers_in(path, count);
    if (!tids)
        process_missing(pid, error);
    return tids;
}

/* Read /proc/PID/stat and return its part after "pid (name) ", which begins with the state. The
 * name can contain anything, so its end is the last ')'. Free *ret_stat. NULL if the process has
 * ended. */
static const char *stat_state(pid_t pid, char **ret_stat)
{
    size_t size;
    char *stat = procfs_read(pid, "stat", &size), *name_end;

    name_end = stat ? strrchr(stat, ')') : NULL;
    if (!name_end || name_end[1] != ' ') {
        free(stat);
        return NULL;
    }
    *ret_stat = stat;
    return name_end + 2;
}

/* The state of the process, a letter as in proc(5); 0 if there is no such process. */
static char state_of(pid_t pid)
{
    char *stat, letter;
    const char *state = pid > 0 ? stat_state(pid, &stat) : NULL;

    if (!state)
        return 0;
    letter = *state;
    free(stat);
    return letter;
}

static bool has_ended(char state)
{
    return !state || state == 'Z' || state == 'X';
}

bool process_exists(pid_t pid)
{
    return !has_ended(state_of(pid));
}

bool process_is_stopped(pid_t pid)
{
    char state = state_of(pid);

    return state == 'T' || state == 't';
}

/* Process 1 is there, and everybody may read this file otherwise. */
bool process_others_are_hidden(void)
{
    return access("/proc/self/stat", R_OK) == 0 && access("/proc/1/stat", R_OK) != 0;
}

int process_missing(pid_t pid, struct error *error)
{
    if (process_others_are_hidden())
        return error_set(error, ERROR_PERMISSION, "process %d is not seen: " PROCESSES_ARE_HIDDEN,
                         (int)pid);
    return error_set(error, ERROR_NO_PROCESS, "there is no process %d%s", (int)pid,
                     process_numbers_are_the_hosts() ? "" : " in this pid namespace");
}

/* Skip to field `number` of /proc/PID/stat, numbered as in proc(5), from a field before it. NULL
 * if there are fewer. */
static const char *skip_fields(const char *field, int from, int number)
{
    for (; field && from < number; from++) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    return field;
}

enum { STAT_STATE = 3, STAT_PARENT = 4, STAT_START_TIME = 22, STAT_START_STACK = 28 };

pid_t process_parent(pid_t pid)
{
    char *stat;
    const char *state = stat_state(pid, &stat), *field;
    pid_t parent;

    if (!state)
        return 0;
    field = skip_fields(state, STAT_STATE, STAT_PARENT);
    parent = field ? (pid_t)strtol(field, NULL, 10) : 0;
    free(stat);
    return parent;
}

/* Return the identity of a process, and its state as in proc(5). The kernel visits all threads of
 * the process to make its /proc/PID/stat, so both come from one reading. */
static struct process_identity identity_and_state(pid_t pid, char *ret_state)
{
    struct process_identity identity = {0};
    char *stat;
    const char *state = stat_state(pid, &stat), *field;

    *ret_state = '\0';
    if (!state)
        return identity;
    *ret_state = *state;
    field = skip_fields(state, STAT_STATE, STAT_START_TIME);
    if (field)
        identity.start_time = strtoull(field, NULL, 10);
    field = skip_fields(field, STAT_START_TIME, STAT_START_STACK);
    if (field)
        identity.start_stack = strtoull(field, NULL, 10);
    free(stat);
    return identity;
}

struct process_identity process_identity(pid_t pid)
{
    char state;

    return identity_and_state(pid, &state);
}

bool process_user(pid_t pid, uid_t *ret_uid)
{
    char path[32];
    struct stat stat_of;

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (stat(path, &stat_of))
        return false;
    *ret_uid = stat_of.st_uid;
    return true;
}

bool process_age(pid_t pid, uint64_t *ret_seconds)
{
    uint64_t start = process_identity(pid).start_time / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t now = clock_ns(CLOCK_BOOTTIME) / 1000000000;

    if (!start)
        return false;
    *ret_seconds = now > start ? now - start : 0;
    return true;
}

static bool is_same(const struct process_identity *now, const struct process_identity *before)
{
    if (!now->start_time || now->start_time != before->start_time)
        return false;
    return !now->start_stack || !before->start_stack || now->start_stack == before->start_stack;
}

bool process_is(pid_t pid, const struct process_identity *identity)
{
    struct process_identity now = process_identity(pid);

    return is_same(&now, identity);
}

bool process_runs(pid_t pid, const struct process_identity *identity)
{
    char state;
    struct process_identity now = identity_and_state(pid, &state);

    return !has_ended(state) && is_same(&now, identity);
}

/* "boottime SECONDS NANOSECONDS": what the namespace adds to the times that it shows
 * (timens_add_boottime_ns() in include/linux/time_namespace.h). 0 before Linux 5.6. */
static int64_t boot_time_offset(void)
{
    size_t size;
    char *text = procfs_read(getpid(), "timens_offsets", &size);
    const char *line = text ? strstr(text, "boottime") : NULL;
    int64_t seconds, nanoseconds, offset = 0;

    if (line && sscanf(line, "boottime %" SCNd64 " %" SCNd64, &seconds, &nanoseconds) == 2 &&
        (__builtin_mul_overflow(seconds, 1000000000, &offset) ||
         __builtin_add_overflow(offset, nanoseconds, &offset)))
        offset = 0; /* the kernel writes none that large */
    free(text);
    return offset;
}

uint64_t process_identity_boot_ns(const struct process_identity *identity)
{
    uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

    return identity->start_time * tick - (uint64_t)boot_time_offset();
}

bool process_executable(pid_t pid, struct executable *executable)
{
    struct statx status;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_SIZE, &status))
        return false;
    *executable = (struct executable){
        .device = makedev(status.stx_dev_major, status.stx_dev_minor),
        .inode = status.stx_ino,
        .size = status.stx_size,
    };
    return true;
}

bool process_filters_calls(pid_t pid)
{
    size_t size;
    char *status = procfs_read(pid, "status", &size);
    const char *mode = status ? procfs_value(status, "Seccomp", &size) : NULL;
    bool result = status && (!mode || *mode != '0');

    free(status);
    return result;
}

bool process_numbers_are_the_hosts(void)
{
    static const ino_t INITIAL = 0xEFFFFFFC; /* PROC_PID_INIT_INO, linux/proc_ns.h */
    struct stat status;

    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL;
}

/* The arguments and the environment are in the memory of the process, which can hold them back
 * (os/patience.h). */
struct own_texts {
    pid_t pid;
    const char *file;
    char *text;
    size_t size;
};

static void read_texts(void *work)
{
    struct own_texts *texts = work;

    texts->text = procfs_read(texts->pid, texts->file, &texts->size);
}

static void drop_texts(void *work)
{
    struct own_texts *texts = work;

    free(texts->text);
    free(texts);
}

/* Return what a file of /proc/PID has, as process_arguments() does. */
static char *own_texts(pid_t pid, const char *file, size_t *size)
{
    struct own_texts *texts = xcalloc(1, sizeof(*texts));
    size_t used;
    char *text;

    texts->pid = pid;
    texts->file = file;
    if (!patience_run(read_texts, drop_texts, texts))
        return NULL;
    text = texts->text;
    used = texts->size;
    free(texts);
    if (!text)
        return NULL;
    /* A process can overwrite its texts, so the last one may have no NUL. */
    text = xrealloc(text, used + 2);
    if (used > 0 && text[used - 1] != '\0')
        text[used++] = '\0';
    text[used] = '\0';
    *size = used;
    return text;
}

char *process_arguments(pid_t pid, size_t *size)
{
    return own_texts(pid, "cmdline", size);
}

char *process_environment(pid_t pid, size_t *size)
{
    return own_texts(pid, "environ", size);
}

void process_container(pid_t pid, char *id, size_t size)
{
    size_t used;
    char *text = procfs_read(pid, "cgroup", &used);

    if (size > 0)
        id[0] = '\0';
    if (text)
        container_of_cgroup(text, id, size);
    free(text);
}

void process_thread_name(pid_t pid, pid_t tid, char *name, size_t size)
{
    char file[32];
    size_t used;
    char *text;

    snprintf(file, sizeof(file), "task/%d/comm", (int)tid);
    text = procfs_read(pid, file, &used);
    if (text && used > 0 && text[used - 1] == '\n')
        text[used - 1] = '\0';
    snprintf(name, size, "%s", text ? text : "");
    free(text);
}

bool process_cpu_time(pid_t pid, uint64_t *ns)
{
    struct timespec time;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
        return false;
    *ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return true;
}

/* Get two numbers of /proc/PID/statm, in bytes. False if the process has ended. */
static bool read_statm(pid_t pid, uint64_t *resident, uint64_t *shared)
{
    unsigned long long all, of_files;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t used;
    char *text = procfs_read(pid, "statm", &used);
    bool known = text && sscanf(text, "%*u %llu %llu", &all, &of_files) == 2;

    if (known) {
        *resident = all * page;
        *shared = of_files * page;
    }
    free(text);
    return known;
}

bool process_resident_bytes(pid_t pid, uint64_t *bytes)
{
    uint64_t shared;

    return read_statm(pid, bytes, &shared);
}

bool process_own_bytes(pid_t pid, uint64_t *bytes)
{
    uint64_t resident, shared;

    if (!read_statm(pid, &resident, &shared))
        return false;
    *bytes = resident > shared ? resident - shared : 0;
    return true;
}

/* getrusage() would not do: its maximum includes the memory of the program that called exec() in
 * this process (exec_mmap() in fs/exec.c). */
bool process_peak_resident_bytes(pid_t pid, uint64_t *bytes)
{
    size_t size;
    char *status = procfs_read(pid, "status", &size);
    const char *value = status ? procfs_value(status, "VmHWM", &size) : NULL;
    unsigned long long kilobytes;
    bool known = value && sscanf(value, "%llu kB", &kilobytes) == 1;

    if (known)
        *bytes = kilobytes * 1024;
    free(status);
    return known;
}

/* /proc/PID/task/TID/schedstat has the time on a CPU, the time waiting for one, and the number of
 * times that the thread got one (Documentation/scheduler/sched-stats.rst). All are 0 if they are
 * not counted. */
bool process_thread_times(pid_t pid, pid_t tid, uint64_t *cpu, uint64_t *wait)
{
    unsigned long long slices = 0;
    char file[32];
    size_t used;
    char *text;

    snprintf(file, sizeof(file), "task/%d/schedstat", (int)tid);
    text = procfs_read(pid, file, &used);
    if (text && sscanf(text, "%" SCNu64 " %" SCNu64 " %llu", cpu, wait, &slices) != 3)
        slices = 0;
    free(text);
    return slices > 0;
}

/* /proc/PID/task/TID/syscall is "running", or numbers that end with the stack pointer and the
 * program counter (proc_pid_syscall() in fs/proc/base.c). */
bool process_thread_waits(pid_t pid, pid_t tid, uint64_t *pc, uint64_t *stack_pointer)
{
    char file[32], *text, *last, *before;
    size_t size;
    bool waits;

    snprintf(file, sizeof(file), "task/%d/syscall", (int)tid);
    text = procfs_read(pid, file, &size);
    last = text ? strrchr(text, ' ') : NULL;
    if (last)
        *last++ = '\0';
    before = last ? strrchr(text, ' ') : NULL;
    waits = before && sscanf(before, " 0x%" SCNx64, stack_pointer) == 1 &&
            sscanf(last, "0x%" SCNx64, pc) == 1;
    free(text);
    return waits;
}

uint64_t process_entry(pid_t pid)
{
    size_t size, count;
    char *bytes = procfs_read(pid, "auxv", &size);
    uint64_t entry = 0;

    count = bytes ? size / sizeof(Elf64_auxv_t) : 0;
    for (size_t i = 0; i < count; i++) {
        Elf64_auxv_t item;

        memcpy(&item, bytes + i * sizeof(item), sizeof(item));
        if (item.a_type == AT_ENTRY)
            entry = item.a_un.a_val;
    }
    free(bytes);
    return entry;
}
