// SPDX-License-Identifier: Apache-2.0
/* The memory of the node: where there is room for lies, and what is there already. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/atom.h"
#include "beam/process_table.h"
#include "hostile.h"
#include "vm_constants.h"

struct vm *vm;
uint64_t room;
uint64_t held;
uint64_t processes[PROCESSES_MAX];
size_t process_count;

static int memory_fd;
static uint64_t room_end; /* of the zeros that are free */

void fail(const char *what)
{
    fprintf(stderr, "hostile: %s\n", what);
    exit(1);
}

void put(uint64_t address, const void *bytes, size_t size)
{
    if (pwrite(memory_fd, bytes, size, (off_t)address) != (ssize_t)size)
        fail("the node's memory can't be written");
}

void put_u64(uint64_t address, uint64_t value)
{
    put(address, &value, sizeof(value));
}

void put_u32(uint64_t address, uint32_t value)
{
    put(address, &value, sizeof(value));
}

uint64_t take_room(size_t size)
{
    uint64_t at = room;

    room += (size + 63) / 64 * 64;
    if (room > room_end)
        fail("the node has too little room");
    return at;
}

uint64_t words(const uint64_t *values, size_t count)
{
    uint64_t at = take_room(count * sizeof(*values));

    put(at, values, count * sizeof(*values));
    return at;
}

static void find_room(pid_t pid)
{
    enum { MARGIN = 1 << 20 }; /* for the header of the binary */
    uint64_t largest = 200 << 20;
    char path[32], line[512];
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        uint64_t start, end;
        char access[5];

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, access) == 3 &&
            !strcmp(access, "rw-p") && end - start > largest) {
            largest = end - start;
            room = start + MARGIN;
            room_end = end - MARGIN;
        }
    }
    if (maps)
        fclose(maps);
    if (!room)
        fail("the node has no room: is it of tests/loads/hostile.erl?");
}

/* Find the pages of hostile_nif:hold_back/1, which have the flag "um" in smaps (proc(5)), or those
 * of hostile_nif:map_file/1. */
static void find_held(pid_t pid)
{
    char path[32], line[512], access[5];
    uint64_t start = 0, from, to;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
    maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, access) == 3)
            start = from;
        if (strstr(line, "/stalling\n") || (!strncmp(line, "VmFlags:", 8) && strstr(line, " um")))
            held = start;
    }
    if (maps)
        fclose(maps);
}

uint64_t held_page(void)
{
    if (!held)
        fail("the node holds back no pages");
    return held;
}

static bool note_process(void *context, uint64_t index, uint64_t address)
{
    (void)context;
    (void)index;
    processes[process_count++] = address;
    return process_count < PROCESSES_MAX;
}

uint64_t atom_of(const char *wanted)
{
    char text[1024];

    for (uint64_t i = 0; i < 1 << 16; i++)
        if (atom_table_text(vm->memory, &vm->layout, vm->roots.atom_table, i, text, sizeof(text)) &&
            !strcmp(text, wanted))
            return i << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM;
    fail("there is no such atom");
}

void open_node(pid_t pid)
{
    struct error error;
    char path[32];

    vm = vm_open(pid, 0, &error);
    if (!vm)
        fail(error.text);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    memory_fd = open(path, O_RDWR | O_CLOEXEC);
    find_room(pid);
    find_held(pid);
    if (process_table_each(vm, note_process, NULL, &error))
        fail(error.text);
}
