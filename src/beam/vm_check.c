// SPDX-License-Identifier: Apache-2.0
/*
 * Check the layout against the live VM. The checks cover what a wrong layout would break: the size
 * of a process in the VM's own table, the number of processes in the table, the id of each process,
 * which must match its index, and the bounds of the heaps.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/process_info.h"
#include "beam/process_table.h"
#include "beam/term.h"
#include "beam/vm_internal.h"
#include "native/debug_file.h"
#include "util/alloc.h"
#include "util/log.h"

enum {
    LOOKED_AT = 64, /* processes that are read */
    ATTEMPTS = 5,   /* processes start and end during a count */
};

struct table_check {
    struct vm *vm;
    struct pid_encoding encoding;
    uint8_t *bytes; /* one process struct */
    uint64_t seen;
    unsigned int read, unread, with_id, with_heap;
    bool has_init;
};

static uint64_t field(const struct table_check *check, int32_t offset)
{
    uint64_t value;

    memcpy(&value, check->bytes + offset, sizeof(value));
    return value;
}

/* [heap, htop) is the heap, [stop, hend) the stack (erl_process.h 25.2.3:1015). During a collection
 * the struct mixes fields of the old and of the new heap. */
static bool has_heap(const struct table_check *check)
{
    const struct layout *layout = &check->vm->layout;
    uint64_t heap = field(check, layout->process_heap);
    uint64_t hend = field(check, layout->process_hend);
    uint64_t htop = field(check, layout->process_htop);
    uint64_t stop = field(check, layout->process_stop);

    return heap % 8 == 0 && heap <= htop && htop <= stop && stop <= hend &&
           (hend - heap) / 8 == field(check, layout->process_heap_sz);
}

static void look_at(struct table_check *check, uint64_t index, uint64_t process)
{
    const struct layout *layout = &check->vm->layout;
    char pid[48];
    uint64_t id;

    if (!memory_read(check->vm->memory, process, check->bytes, layout->sizeof_process)) {
        check->unread++;
        return;
    }
    check->read++;
    id = field(check, layout->process_id);
    if (pid_encoding_format(&check->encoding, id, pid, sizeof(pid)) &&
        pid_encoding_index(&check->encoding, id) == index) {
        check->with_id++;
        check->has_init |= strcmp(pid, "<0.0.0>") == 0;
    }
    check->with_heap += has_heap(check);
}

static bool visit(void *context, uint64_t index, uint64_t process)
{
    struct table_check *check = context;

    if (check->seen++ < LOOKED_AT)
        look_at(check, index, process);
    return true;
}

static int check_table(struct table_check *check, struct error *error)
{
    check->seen = check->read = check->unread = check->with_id = check->with_heap = 0;
    check->has_init = false;
    return process_table_each(check->vm, visit, check, error);
}

/* Check that the table has as many processes as its counter says, except for those that start and
 * end meanwhile. */
static int count_processes(struct table_check *check, struct error *error)
{
    uint64_t before = 0, after = 0, slack = 0;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        before = vm_process_count(check->vm);
        if (check_table(check, error) != 0)
            return -1;
        after = vm_process_count(check->vm);
        slack = before == after ? 2 : 2 + (before > after ? before : after) / 16;
        if (check->seen + slack >= (before < after ? before : after) &&
            check->seen <= (before > after ? before : after) + slack)
            return 0;
    }
    return error_set(error, ERROR_UNSUPPORTED,
                     "the process table says that it has %llu processes, but has %llu",
                     (unsigned long long)after, (unsigned long long)check->seen);
}

static int check_processes(struct table_check *check, struct error *error)
{
    if (count_processes(check, error) != 0)
        return -1;
    if ((!check->has_init && !check->unread) || check->with_id * 2 <= check->read)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%u processes are in the table, %u of them have the pid of their place, "
                         "and <0.0.0> is %samong these",
                         check->read, check->with_id, check->has_init ? "" : "not ");
    if (check->with_heap * 2 <= check->read)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%u processes are in the table, but only %u of them have a heap and a "
                         "stack where the layout says",
                         check->read, check->with_heap);
    return 0;
}

static int check_process_size(struct vm *vm, struct error *error)
{
    uint32_t size;

    if (!memory_read_u32(vm->memory, vm->roots.proc_table + vm->layout.ptab_element_size, &size))
        return error_set(error, ERROR_UNSUPPORTED, "the process table can't be read");
    if (size != (uint32_t)vm->layout.sizeof_process)
        return error_set(error, ERROR_UNSUPPORTED,
                         "a process struct has %u bytes in this VM and %d in its layout", size,
                         vm->layout.sizeof_process);
    return 0;
}

/* Check that each scheduler runs a process or nothing. */
static int check_schedulers(struct vm *vm, struct error *error)
{
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        uint64_t process, id;

        if (!memory_read_u64(vm->memory, vm->schedulers[i].data + vm->layout.sched_current_process,
                             &process) ||
            (process && memory_read_u64(vm->memory, process + vm->layout.process_id, &id) &&
             !term_is_pid(id)))
            return error_set(error, ERROR_UNSUPPORTED,
                             "scheduler %u runs something that is not a process",
                             vm->schedulers[i].number);
    }
    return 0;
}

/* The first entry that the JIT registers is the VM's own code. */
static int check_code_list(struct vm *vm, struct error *error)
{
    if (!vm->roots.jit_descriptor || vm_frames(vm) != VM_FRAMES_UNKNOWN)
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "the JIT's list of code does not say which kind of frames the VM uses");
}

int vm_check(struct vm *vm, struct error *error)
{
    struct table_check check = {.vm = vm};
    int result;

    if (check_process_size(vm, error) != 0 || pid_encoding_read(vm, &check.encoding, error) != 0 ||
        check_schedulers(vm, error) != 0 || check_code_list(vm, error) != 0)
        return -1;
    check.bytes = xmalloc(vm->layout.sizeof_process);
    result = check_processes(&check, error);
    free(check.bytes);
    if (!result)
        log_decision(
            "layout",
            "passed its checks: a process has %d bytes, as the VM's table says; the table "
            "has %llu processes, which fits its counter; of %u that were read, %u have the "
            "pid of their place and %u have heap and stack in order; %u schedulers run a "
            "process or nothing",
            vm->layout.sizeof_process, (unsigned long long)check.seen, check.read, check.with_id,
            check.with_heap, vm->scheduler_count);
    return result;
}

static bool from_dwarf(struct elf_file *executable, struct layout *layout)
{
    bool filled = layout_from_dwarf(executable->parser, executable->fd, layout);
    int fd = filled ? -1 : debug_file_open(executable);

    if (filled)
        log_decision("layout", "from the DWARF of %s", executable->path);
    if (fd < 0)
        return filled;
    filled = layout_from_dwarf(executable->parser, fd, layout);
    close(fd);
    if (filled)
        log_decision("layout", "from the DWARF of the debug file of %s", executable->path);
    return filled;
}

/* Return the build whose features and table are used for the VM. */
static struct build assumed_build(struct vm *vm)
{
    struct build build = vm->build;

    if (build.otp_release <= NEWEST_RELEASE)
        vm->assumed_release = 0;
    if (vm->assumed_release)
        build.otp_release = vm->assumed_release;
    return build;
}

int vm_check_layout(struct vm *vm, struct elf_file *executable, struct error *error)
{
    const struct build build = assumed_build(vm);
    struct error no_table;
    struct layout layout;
    bool has_table = layout_from_table(&build, &layout, &no_table) == 0;
    bool filled;

    if (build_check(&build, error) != 0)
        return -1;
    if (!has_table)
        layout_unknown(&layout);
    filled = from_dwarf(executable, &layout);
    if (!filled && !has_table) {
        *error = no_table;
        return -1;
    }
    if (!filled)
        log_decision("layout",
                     "from the built-in table of OTP %d, ERTS %s (%s%s%s): %s has no DWARF of the "
                     "VM",
                     vm->build.otp_release, vm->build.erts, vm->build.jit ? "JIT" : "interpreter",
                     vm->build.frame_pointer_field ? ", with Process.frame_pointer" : "",
                     vm->build.vm_probes ? ", with USDT probes" : "", executable->path);
    if (layout_check(&layout, error) != 0)
        return -1;
    vm->layout = layout;
    vm->layout_from_dwarf = filled;
    vm->features = features_of(&build);
    return 0;
}
