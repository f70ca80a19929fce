// SPDX-License-Identifier: Apache-2.0
#include "beam/vm.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "beam/atom.h"
#include "beam/roots.h"
#include "beam/term.h"
#include "beam/vm_internal.h"
#include "os/child.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/effort.h"
#include "util/log.h"
#include "util/stop.h"

/* Read the executable's path, without the target's root directory in front. */
static void read_executable_path(struct vm *vm)
{
    char link[64], path[PATH_MAX] = "", root[PATH_MAX] = "";
    char *deleted;
    size_t length;

    snprintf(link, sizeof(link), "/proc/%d/exe", vm->pid);
    if (readlink(link, path, sizeof(path) - 1) < 0)
        return;
    snprintf(link, sizeof(link), "/proc/%d/root", vm->pid);
    length = readlink(link, root, sizeof(root) - 1) > 1 ? strlen(root) : 0;
    if (strncmp(path, root, length) != 0 || path[length] != '/')
        length = 0;
    deleted = strstr(path, " (deleted)");
    if (deleted)
        *deleted = '\0';
    snprintf(vm->executable, sizeof(vm->executable), "%s", path + length);
}

struct elf_file *vm_executable(struct vm *vm, struct error *error)
{
    struct mapping *mapping = mappings_find(vm->mappings, vm->entry);
    struct elf_file *file = mapping ? mapping_file(vm->mappings, mapping) : NULL;

    if (!file && mappings_lack_parser(vm->mappings))
        child_refused("a process that parses the executable", vm->pid, error);
    else if (!file)
        error_set(error, ERROR_FAILED, "the executable of process %d can't be found in its memory",
                  vm->pid);
    return file;
}

static int find_roots(struct vm *vm, struct elf_file *executable, struct error *error)
{
    struct roots_search search = {.memory = vm->memory, .layout = &vm->layout};
    int result = roots_search_read(&search, executable, error);

    if (result == 0)
        result = roots_find(&search, executable, &vm->roots, error);
    free(search.bytes);
    return result;
}

static int examine(struct vm *vm, struct error *error)
{
    struct elf_file *executable = vm_executable(vm, error);

    if (!executable || vm_check_layout(vm, executable, error) != 0 ||
        find_roots(vm, executable, error) != 0 || schedulers_read(vm, error) != 0)
        return -1;
    vm->roots.run_queues = vm->schedulers[0].run_queue;
    return vm_check(vm, error);
}

int vm_examine(struct vm *vm, struct error *error)
{
    if (examine(vm, error) == 0)
        return 0;
    if (vm->assumed_release)
        error_prefix(error, "treated as OTP %d", vm->assumed_release);
    return -1;
}

static int examine_process(struct vm *vm, struct error *error)
{
    int identified = vm_identify(vm->pid, &vm->build, error);

    if (identified < 0 || vm_identify_permitted(vm->pid, error) != 0)
        return -1;
    read_executable_path(vm);
    if (!identified)
        return error_set(error, ERROR_NO_PROCESS, "process %d (%s) is not an Erlang VM", vm->pid,
                         vm->executable);
    log_decision("vm", "process %d is a VM, by the banner in %s: OTP %d, ERTS %s, %s%s%s", vm->pid,
                 vm->executable, vm->build.otp_release, vm->build.erts,
                 vm->build.jit ? "JIT" : "interpreter",
                 vm->build.native_stack ? ", Erlang stack on the machine stack" : "",
                 vm->build.vm_probes ? ", USDT probes" : "");
    vm->mappings = mappings_new(vm->pid, vm->memory, error);
    if (!vm->mappings)
        return -1;
    vm->entry = process_entry(vm->pid);
    return vm_examine(vm, error);
}

/* True if the OS process is younger than the time that a VM may need to start. */
static bool is_young(const struct process_identity *identity)
{
    enum { STARTING_SECONDS = 3 };
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (unsigned long long)now.tv_sec <
           identity->start_time / (unsigned long long)sysconf(_SC_CLK_TCK) + STARTING_SECONDS;
}

int vm_check_held(const struct vm *vm, struct error *error)
{
    if (!vm->memory->is_held)
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "process %d holds back its memory, which can't be read", vm->pid);
}

/* An OS process that ends keeps its pid for a while, but not its executable. */
static bool has_ended(pid_t pid, const struct process_identity *identity)
{
    char link[64], path[1];

    snprintf(link, sizeof(link), "/proc/%d/exe", pid);
    return !process_is(pid, identity) ||
           (readlink(link, path, sizeof(path)) < 0 && errno == ENOENT);
}

static struct vm *open_once(pid_t pid, const struct process_identity *identity, int assumed_release,
                            bool *held, struct error *error)
{
    struct vm *vm = xcalloc(1, sizeof(*vm));

    vm->pid = pid;
    vm->identity = *identity;
    vm->assumed_release = assumed_release;
    vm->memory = memory_of_process(pid);
    if (examine_process(vm, error) == 0 && !vm->memory->is_held)
        return vm;
    *held = vm_check_held(vm, error) != 0;
    vm_close(vm);
    return NULL;
}

/* Open a live VM. `waits`: give one that has just been started the time to set up its tables. */
static struct vm *open_live(pid_t pid, int assumed_release, bool waits, struct error *error)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct process_identity identity = process_identity(pid);
    bool held;
    struct vm *vm;

    if (!identity.start_time) {
        process_missing(pid, error);
        return NULL;
    }
    for (;;) {
        vm = open_once(pid, &identity, assumed_release, &held, error);
        if (vm || !waits || held || stop_requested || error->code != ERROR_UNSUPPORTED ||
            !is_young(&identity) || has_ended(pid, &identity))
            break;
        log_detail("vm", "process %d is not ready yet: %s", pid, error->text);
        nanosleep(&pause, NULL); /* it is still setting up its tables */
    }
    if (!vm && waits && error->code == ERROR_UNSUPPORTED)
        nanosleep(&pause, NULL); /* a process that is killed loses its memory before its pid */
    if (vm && !process_is(pid, &identity)) {
        vm_close(vm); /* a part of what was read may be of another program */
        vm = NULL;
        error_set(error, ERROR_NO_PROCESS, "process %d ended while beamflame read it", pid);
    } else if (!vm && error->code != ERROR_PERMISSION && has_ended(pid, &identity)) {
        error_set(error, ERROR_NO_PROCESS, "process %d ended while beamflame read it", pid);
    }
    return vm;
}

struct vm *vm_open(pid_t pid, int assumed_release, struct error *error)
{
    return open_live(pid, assumed_release, true, error);
}

struct vm *vm_open_now(pid_t pid, int assumed_release, struct error *error)
{
    return open_live(pid, assumed_release, false, error);
}

void vm_close(struct vm *vm)
{
    if (!vm)
        return;
    free(vm->schedulers);
    mappings_free(vm->mappings);
    memory_free(vm->memory);
    core_file_free(vm->core);
    free(vm);
}

/* Queries of an open VM, possible at any time. */

void vm_node_name(struct vm *vm, char *name, size_t size)
{
    char text[256 * 4] = "";
    uint64_t node, atom;

    if (vm->roots.this_node && memory_read_u64(vm->memory, vm->roots.this_node, &node) &&
        memory_read_u64(vm->memory, node + vm->layout.node_sysname, &atom) && term_is_atom(atom))
        atom_table_text(vm->memory, &vm->layout, vm->roots.atom_table, term_atom_index(atom), text,
                        sizeof(text));
    snprintf(name, size, "%s", text);
}

const char *vm_layout_source(const struct vm *vm)
{
    return vm->layout_from_dwarf ? "dwarf" : "table";
}

void vm_assumption(const struct vm *vm, char *text, size_t size)
{
    text[0] = '\0';
    if (vm->assumed_release)
        snprintf(text, size,
                 "process %d is OTP %d (erts %s), which is newer than all known releases: it is "
                 "treated as OTP %d, and results may be wrong",
                 vm->pid, vm->build.otp_release, vm->build.erts, vm->assumed_release);
}

uint32_t vm_process_count(struct vm *vm)
{
    uint32_t count;

    if (!memory_read_u32(vm->memory, vm->roots.proc_table + vm->layout.ptab_count, &count))
        return 0;
    return count;
}

int64_t vm_run_queue_length(struct vm *vm)
{
    int64_t sum = 0;

    if (vm->layout.run_queue_len < 0)
        return -1;
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &vm->schedulers[i];
        uint32_t length;

        if (scheduler->type != VM_SCHEDULER_NORMAL)
            continue;
        if (!scheduler->run_queue ||
            !memory_read_u32(vm->memory, scheduler->run_queue + (uint64_t)vm->layout.run_queue_len,
                             &length) ||
            length > INT32_MAX)
            return -1;
        sum += length;
    }
    return sum;
}

const struct vm_scheduler *vm_scheduler_of(struct vm *vm, uint64_t process)
{
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &vm->schedulers[i];
        uint64_t current;

        if (scheduler->type == VM_SCHEDULER_NORMAL &&
            memory_read_u64(vm->memory,
                            scheduler->data + (uint64_t)vm->layout.sched_current_process,
                            &current) &&
            current == process)
            return scheduler;
    }
    return NULL;
}

/* Read the frame layout if the symbol file describes the VM's own code: its first u32 is 0, and the
 * frame layout is at byte 8 (beam_jit_metadata.cpp 25.2.3:62). In its old form this file is {0,
 * normal_exit}, and there is one frame layout only. */
static bool read_emulator_entry(struct vm *vm, uint64_t file, uint64_t size, enum vm_frames *frames)
{
    uint32_t kind, layout;

    if (!memory_read_u32(vm->memory, file, &kind) || kind != 0)
        return false;
    if (vm->features.old_gdb_jit) {
        *frames = VM_FRAMES_RA;
        return true;
    }
    if (size < 12 || !memory_read_u32(vm->memory, file + 8, &layout) || layout > 1)
        return false;
    *frames = layout ? VM_FRAMES_FP : VM_FRAMES_RA;
    return true;
}

enum vm_frames vm_frames(struct vm *vm)
{
    enum { ENTRIES_MAX = 1 << 18, CPU_MS_MAX = 500 };
    struct effort effort = effort_of(ENTRIES_MAX, CPU_MS_MAX);
    uint64_t entry[4], address = 0;
    enum vm_frames frames;

    if (!vm->roots.jit_descriptor ||
        !memory_read_u64(vm->memory, vm->roots.jit_descriptor + 16, &address))
        return VM_FRAMES_UNKNOWN;
    while (address && effort_step(&effort)) {
        if (!memory_read(vm->memory, address, entry, sizeof(entry)))
            return VM_FRAMES_UNKNOWN;
        if (read_emulator_entry(vm, entry[2], entry[3], &frames))
            return frames;
        address = entry[0];
    }
    return VM_FRAMES_UNKNOWN;
}
