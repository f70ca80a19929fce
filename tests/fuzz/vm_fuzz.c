// SPDX-License-Identifier: Apache-2.0
/*
 * Read the memory of a VM that lies (libFuzzer). The VM is imitated (imitated_vm.h), and an input
 * changes it:
 *
 *      release | parts | number of rows | rows: index:16, offset:16 | changes: 8 bytes each
 *
 * `parts` selects what is read of it. The rows are changes of the layout, as DWARF of a hostile
 * file could make them. A change of memory takes place at the start or some reads later, as the
 * memory of a VM changes while it is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/ets_tables.h"
#include "beam/ports.h"
#include "beam/process_info.h"
#include "beam/process_metrics.h"
#include "beam/process_sweep.h"
#include "beam/process_table.h"
#include "beam/process_trace.h"
#include "beam/process_walk.h"
#include "beam/vm_internal.h"
#include "hooks/hooks.h"
#include "imitated_vm.h"
#include "session/dump_take.h"

enum { RELEASES = NEWEST_RELEASE - OLDEST_RELEASE + 1, ROWS_MAX = 8, READS = 1000, TOP = 3 };
enum part { PART_EXAMINE = 1, PART_DUMP = 2, PART_SWEEP = 4, PART_TABLES = 8, PART_GROWTH = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* ---- replaced functions: no run waits, and each is the same again ---- */

uint64_t __wrap_random_word(void);
uint64_t __wrap_random_word(void)
{
    return 0x9e3779b97f4a7c15;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    return 0;
}

/* ---- memory that changes ---- */

enum change_kind {
    CHANGE_NUMBER,
    CHANGE_POINTER, /* with a tag */
    CHANGE_ADD,
    CHANGE_FLIP,
    CHANGE_ONES,
    CHANGE_COPY, /* of another word */
    CHANGE_LOW_HALF,
    CHANGE_END, /* the memory ends here */
    CHANGE_RUN, /* a process runs for a while */
};

struct change {
    uint16_t after; /* reads since the change before */
    uint16_t word;  /* its number */
    uint32_t value; /* a kind in the low bits */
};

/* The VM of a release, as it should be. */
struct image {
    struct fake_target *target;
    struct vm vm;
    uint64_t data, processes[PROCESSES];
    struct core_thread threads[2];
};

static struct {
    struct fake_target *target;
    const struct image *image;
    const uint8_t *changes; /* those to come */
    size_t count;
    uint32_t reads; /* since the last change */
    size_t words;
} fuzz;

static void let_run(unsigned int process)
{
    uint64_t reds =
        fuzz.image->processes[process] + (uint64_t)fuzz.image->vm.layout.process_reds - FAKE_BASE;

    fuzz.target->bytes[reds]++;
}

static void apply(const struct change *change)
{
    uint8_t *at = fuzz.target->bytes + change->word % fuzz.words * 8;
    uint64_t value = change->value >> 4, word;

    memcpy(&word, at, sizeof(word));
    switch ((enum change_kind)(change->value & 15)) {
    case CHANGE_NUMBER:
        word = value;
        break;
    case CHANGE_POINTER:
        word = FAKE_BASE + (value >> 2) % fuzz.words * 8 + (value & 3);
        break;
    case CHANGE_ADD:
        word += (uint64_t)((int64_t)value - (1 << 27));
        break;
    case CHANGE_FLIP:
        word ^= (uint64_t)1 << (value & 63);
        break;
    case CHANGE_ONES:
        word = UINT64_MAX << (value & 63);
        break;
    case CHANGE_COPY:
        memcpy(&word, fuzz.target->bytes + value % fuzz.words * 8, sizeof(word));
        break;
    case CHANGE_LOW_HALF:
        word = (word & ~(uint64_t)UINT32_MAX) | value;
        break;
    case CHANGE_END:
        fuzz.target->used = change->word % fuzz.words * 8;
        return;
    case CHANGE_RUN:
        let_run(change->word % PROCESSES);
        return;
    }
    memcpy(at, &word, sizeof(word));
}

static bool read_changing(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct change change;

    for (; fuzz.count; fuzz.count--, fuzz.changes += sizeof(change), fuzz.reads = 0) {
        memcpy(&change, fuzz.changes, sizeof(change));
        if (change.after > fuzz.reads)
            break;
        apply(&change);
    }
    fuzz.reads++;
    return fake_read(memory, address, buffer, size);
}

/* ---- the VM ---- */

static struct core_thread thread_of(const struct image *image, int type)
{
    const struct layout *layout = &image->vm.layout;
    struct core_thread thread = {.tid = (uint32_t)type + 1, .signal = 11};
    uint64_t scheduler = image->vm.roots.schedulers[type], process = 0, current = 0;

    memory_read_u64(image->vm.memory, scheduler + (uint64_t)layout->sched_tid,
                    &thread.thread_pointer);
    memory_read_u64(image->vm.memory, scheduler + (uint64_t)layout->sched_current_process,
                    &process);
    memory_read_u64(image->vm.memory, process + (uint64_t)layout->process_i, &current);
    thread.registers[CPU_PC] = current;
    memory_read_u64(image->vm.memory, process + (uint64_t)layout->process_stop,
                    &thread.registers[CPU_SP]);
    return thread;
}

static const struct image *image_of(int release)
{
    static struct image images[RELEASES];
    struct image *image = &images[release - OLDEST_RELEASE];

    if (image->target)
        return image;
    image->target = fake_target_new();
    image->data = imitate_vm(image->target, &image->vm, release);
    for (uint64_t i = 0; i < PROCESSES; i++)
        image->processes[i] = process_table_at(&image->vm, i);
    for (int type = 0; type < 2; type++)
        image->threads[type] = thread_of(image, type);
    return image;
}

static struct mappings *mappings_of(const struct image *image)
{
    static struct mappings *mappings; /* its parser is a process */
    const struct mapping code = {.start = image->data + DATA_BYTES,
                                 .end = image->data + DATA_BYTES + FUNCTIONS * FUNCTION,
                                 .executable = true,
                                 .path = ""};

    if (!mappings)
        mappings = mappings_of_list(&code, 1);
    return mappings;
}

/* ---- what is read ---- */

struct reading {
    struct vm *vm;
    struct process_sweep *sweep;
    struct pid_encoding encoding;
    struct atoms *atoms;
    struct trace_atoms traces;
    struct swept_process last;
    uint64_t last_id;
};

static void visit(void *context, const struct swept_process *swept)
{
    struct reading *reading = context;
    struct vm *vm = reading->vm;
    struct process_info info;
    struct metrics metrics;
    struct wire_trace trace;
    char name[64];

    check(swept->stack_count <= 2 && swept_process_status(vm, swept) <= STATUS_WAITING + 16);
    process_metrics_read(vm, swept->bytes, NULL, &metrics);
    process_walk_metrics(vm, swept->address, swept->bytes, READS, &metrics);
    process_trace_read(vm, &reading->traces.wire, swept->address, swept->bytes, &trace);
    reading->last = *swept;
    reading->last_id = swept_process_id(vm, swept);
    if (!process_info_read(vm, reading->atoms, &reading->encoding, NULL, swept->address,
                           swept->bytes, &info))
        return;
    check(info.ancestor_count <= ANCESTORS_MAX && strlen(info.label) < sizeof(info.label));
    process_info_application(vm, reading->atoms, &reading->encoding, info.group_leader, name,
                             sizeof(name));
}

static bool is_odd(void *context, const struct swept_process *swept)
{
    (void)context;
    return swept->index & 1;
}

static void sweep_over(struct reading *reading,
                       bool (*is_known)(void *, const struct swept_process *), double share,
                       const uint64_t *indices, size_t count)
{
    const struct sweep_request request = {.with_stacks = true,
                                          .share = share,
                                          .indices = indices,
                                          .index_count = count,
                                          .visit = visit,
                                          .is_known = is_known,
                                          .context = reading};
    struct sweep_counts counts = {0};
    struct error error;

    process_sweep_run(reading->sweep, &request, &counts, &error);
}

static void read_sweeps(struct reading *reading)
{
    static const uint64_t indices[] = {1, 0, 3, TABLE_SLOTS - 1, UINT64_MAX};
    struct swept_process again;

    sweep_over(reading, NULL, 0, NULL, 0);
    sweep_over(reading, is_odd, 0, NULL, 0);
    sweep_over(reading, NULL, 0.01, NULL, 0);
    sweep_over(reading, NULL, 0.9, NULL, 0);
    sweep_over(reading, NULL, 0, indices, sizeof(indices) / sizeof(*indices));
    process_sweep_again(reading->sweep, reading->last.address, reading->last_id, &again);
}

/* The processes that have grown most between two sweeps. */
static void read_growth(struct reading *reading)
{
    struct process_top *top = process_top_new(TOP, METRIC_REDUCTIONS, true);
    struct sweep_counts counts = {0};
    struct error error;
    const uint64_t *indices;
    size_t count;
    int64_t value;

    for (int i = 0; i < 2; i++)
        process_top_find(top, reading->vm, reading->sweep, &counts, &error);
    indices = process_top_indices(top, &count);
    check(count <= TOP);
    sweep_over(reading, NULL, 0, indices, count);
    process_top_value(top, reading->last_id, &value);
    process_top_free(top);
}

static bool see_port(void *context, const struct port_info *port)
{
    struct reading *reading = context;
    struct port_descriptor descriptor = {port->address, port->id, port->socket.fd, 0};

    check(memchr(port->name, 0, sizeof(port->name)) && memchr(port->text, 0, sizeof(port->text)));
    check(memchr(port->driver, 0, sizeof(port->driver)) && port->socket.fd >= -1);
    atom_text(reading->atoms, port->registered);
    if (descriptor.fd >= 0)
        ports_confirm_descriptors(reading->vm, &descriptor, 1);
    return true;
}

static void see_table(void *context, const struct ets_table *table)
{
    struct reading *reading = context;
    char text[ETS_REFERENCE_BYTES];

    check(table->facts.protection <= TABLE_PUBLIC && table->facts.type <= TABLE_DUPLICATE_BAG);
    ets_tables_reference_text(table, text);
    atom_text(reading->atoms, table->name);
}

static bool see_driver(void *context, uint64_t function)
{
    (void)context;
    check(function);
    return true;
}

/* What `dump` and metrics read of the node. */
static void read_tables(struct reading *reading)
{
    struct vm *vm = reading->vm;
    struct vm_work works[VM_COUNTERS];
    struct ets_counts tables;
    struct port_counts ports = {0};
    struct memory_use memory;
    struct error error;
    char name[600];

    ports_each(vm, see_port, reading, &ports, &error);
    drivers_each_function(vm, see_driver, NULL);
    ets_tables_each(vm, see_table, reading, &tables);
    node_memory_read(vm, &memory);
    check(memory.allocators.count <= ALLOCATORS_MAX);
    vm_works(vm, (1u << VM_COUNTERS) - 1, works);
    vm_run_queue_length(vm);
    vm_scheduler_of(vm, vm->roots.proc_table);
    vm_node_name(vm, name, sizeof(name));
}

static void read_dump(struct vm *vm, unsigned int choice)
{
    const struct dump_request request = {
        .sections = DUMP_ALL,
        .top = {.count = choice & 1 ? TOP : 0, .metric = METRIC_MSGQ, .by_growth = choice & 2},
        .depth = choice & 4 ? 2 : 0,
    };
    struct profile *profile = profile_new();
    struct dump dump = {0};
    struct error sampling, error;

    dump_take(vm, &request, profile, &dump, &sampling, &error);
    dump_free(&dump);
    profile_free(profile);
}

/* Find the variables in the data, and check the layout, as vm_open() does. */
static void examine(struct vm *vm, uint64_t data)
{
    uint8_t bytes[DATA_BYTES];
    struct roots_search search = {.memory = vm->memory,
                                  .layout = &vm->layout,
                                  .start = data,
                                  .bytes = bytes,
                                  .size = sizeof(bytes),
                                  .executable_start = data};
    struct vm found = *vm;
    struct error error;

    found.schedulers = NULL;
    found.scheduler_count = 0;
    if (memory_read(vm->memory, data, bytes, sizeof(bytes)) &&
        roots_find(&search, NULL, &found.roots, &error) == 0 &&
        schedulers_read(&found, &error) == 0)
        vm_check(&found, &error);
    free(found.schedulers);
}

static void read_parts(struct vm *vm, unsigned int parts)
{
    struct reading reading = {.vm = vm};
    struct sweep_room *room;
    struct error error;

    if (parts & PART_DUMP)
        read_dump(vm, parts >> 5);
    room = sweep_room_new();
    reading.sweep = process_sweep_new(vm, room, &error);
    if (!reading.sweep || pid_encoding_read(vm, &reading.encoding, &error)) {
        process_sweep_free(reading.sweep);
        sweep_room_free(room);
        return;
    }
    reading.atoms = atoms_new(vm);
    trace_atoms_look(vm, &reading.traces);
    if (parts & PART_SWEEP)
        read_sweeps(&reading);
    if (parts & PART_GROWTH)
        read_growth(&reading);
    if (parts & PART_TABLES)
        read_tables(&reading);
    atoms_free(reading.atoms);
    process_sweep_free(reading.sweep);
    sweep_room_free(room);
}

/* ---- inputs ---- */

/* Change rows of the layout. The VM says that a process has as many bytes. */
static void change_layout(struct vm *vm, const uint8_t *rows, size_t count)
{
    int32_t *offsets = (int32_t *)&vm->layout;
    uint64_t size = vm->roots.proc_table + (uint64_t)vm->layout.ptab_element_size;

    for (size_t i = 0; i < count; i++, rows += 4) {
        uint16_t row;
        int16_t offset;

        memcpy(&row, rows, sizeof(row));
        memcpy(&offset, rows + 2, sizeof(offset));
        offsets[row % (sizeof(vm->layout) / sizeof(*offsets))] = offset;
    }
    fake_put_u32(fuzz.target, size, (uint32_t)vm->layout.sizeof_process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t head[3] = {0, PART_EXAMINE, 0};
    const struct image *image;
    struct core_file core = {.thread_count = 2};
    struct error error;
    struct vm vm;
    size_t rows, at;

    memcpy(head, data, size < sizeof(head) ? size : sizeof(head));
    image = image_of(OLDEST_RELEASE + head[0] % RELEASES);
    rows = head[2] < ROWS_MAX ? head[2] : ROWS_MAX;
    at = sizeof(head) + rows * 4;
    if (!fuzz.target)
        fuzz.target = fake_target_new();
    fuzz.target->used = image->target->used;
    memcpy(fuzz.target->bytes, image->target->bytes, image->target->used);
    fuzz.words = image->target->used / 8;
    fuzz.target->memory.read = read_changing;
    vm = image->vm;
    vm.memory = &fuzz.target->memory;
    vm.mappings = mappings_of(image);
    vm.core = &core;
    core.threads = (struct core_thread *)image->threads;
    if (size >= at)
        change_layout(&vm, data + sizeof(head), rows);
    fuzz.image = image;
    fuzz.changes = data + at;
    fuzz.count = size > at ? (size - at) / sizeof(struct change) : 0;
    fuzz.reads = 0;
    if (layout_check(&vm.layout, &error))
        return 0;
    if (head[1] & PART_EXAMINE)
        examine(&vm, image->data);
    if (head[1] & ~PART_EXAMINE && schedulers_read(&vm, &error) == 0)
        read_parts(&vm, head[1]);
    free(vm.schedulers);
    return 0;
}
