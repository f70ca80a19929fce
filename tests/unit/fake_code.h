// SPDX-License-Identifier: Apache-2.0
/* The JIT's list of loaded code, built by hand (beam/gdb_jit.h describes its formats). */
#pragma once

#include "beam/gdb_jit.h"
#include "beam/vm.h"
#include "fake_target.h"
#include "util/buffer.h"

struct fake_line {
    uint32_t start, line;
    const char *file;
};

struct fake_range {
    uint32_t start, end;
    const char *name;
    struct fake_line lines[4]; /* lines without a file are absent */
};

static inline void fake_number(struct buffer *out, uint64_t value, size_t size)
{
    buffer_put(out, &value, size);
}

static inline void fake_sized_name(struct buffer *out, const char *name, size_t padding)
{
    fake_number(out, strlen(name) + 1, 2);
    buffer_put(out, name, strlen(name) + 1);
    fake_number(out, 0, padding);
}

/* Return the symbol file of a module in the format of OTP 25 and later. */
static inline struct buffer fake_symfile(const char *name, uint64_t base, uint32_t code_size,
                                         const struct fake_range *ranges, uint32_t count)
{
    struct buffer out = {0};

    fake_number(&out, 1, 8);
    fake_number(&out, base, 8);
    fake_number(&out, count, 4);
    fake_number(&out, code_size, 4);
    fake_sized_name(&out, name, 6);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lines = 0;

        while (lines < 4 && ranges[i].lines[lines].file)
            lines++;
        fake_number(&out, ranges[i].start, 4);
        fake_number(&out, ranges[i].end, 4);
        fake_number(&out, lines, 4);
        fake_sized_name(&out, ranges[i].name, 2);
        for (uint32_t k = 0; k < lines; k++) {
            fake_number(&out, ranges[i].lines[k].start, 4);
            fake_number(&out, ranges[i].lines[k].line, 4);
            fake_sized_name(&out, ranges[i].lines[k].file, 2);
        }
    }
    return out;
}

static inline struct buffer fake_emulator(uint64_t normal_exit, bool frame_pointers)
{
    struct buffer out = {0};

    fake_number(&out, 0, 8);
    fake_number(&out, frame_pointers, 8);
    fake_number(&out, normal_exit, 8);
    return out;
}

/* Return the symbol file of a module in the format of OTP 24. */
static inline struct buffer fake_old_symfile(const char *name, uint64_t base, uint32_t code_size,
                                             const struct fake_range *ranges, uint32_t count)
{
    struct buffer out = {0};

    fake_number(&out, count, 8);
    fake_number(&out, base, 8);
    fake_number(&out, code_size, 8);
    buffer_put(&out, name, strlen(name) + 1);
    for (uint32_t i = 0; i < count; i++) {
        fake_number(&out, base + ranges[i].start, 8);
        fake_number(&out, base + ranges[i].end, 8);
        buffer_put(&out, ranges[i].name, strlen(ranges[i].name) + 1);
    }
    return out;
}

/* ---- the list ---- */

/* Make a VM with nothing but memory, a layout and an empty list. */
static inline void fake_vm(struct vm *vm, struct fake_target *target, int release)
{
    memset(vm, 0, sizeof(*vm));
    vm->memory = &target->memory;
    fake_release(vm, release);
    vm->roots.jit_descriptor = fake_room(target, 24);
}

static inline uint64_t fake_first(const struct vm *vm)
{
    uint64_t first = 0;

    memory_read_u64(vm->memory, vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY, &first);
    return first;
}

/* Write an entry at `entry`, and make it the first of the list. Frees the file. */
/* Make an entry of a symbol file that is in memory already the first of the list. */
static inline void fake_link_at(struct fake_target *target, struct vm *vm, uint64_t entry,
                                uint64_t symfile, uint64_t size)
{
    fake_put_u64(target, entry, fake_first(vm));
    fake_put_u64(target, entry + 16, symfile);
    fake_put_u64(target, entry + 24, size);
    fake_put_u64(target, vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY, entry);
}

static inline void fake_link(struct fake_target *target, struct vm *vm, uint64_t entry,
                             uint64_t symfile, struct buffer *file)
{
    fake_put(target, symfile, file->data, file->size);
    fake_link_at(target, vm, entry, symfile, file->size);
    buffer_free(file);
}

static inline uint64_t fake_load(struct fake_target *target, struct vm *vm, struct buffer file)
{
    uint64_t entry = fake_room(target, 32), symfile = fake_room(target, file.size);

    fake_link(target, vm, entry, symfile, &file);
    return entry;
}

/* Remove an entry from the list, as OTP 27 does when code is purged. */
static inline void fake_unlink(struct fake_target *target, struct vm *vm, uint64_t entry)
{
    uint64_t at = vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY, next = fake_first(vm), after = 0;

    while (next && next != entry) {
        at = next;
        memory_read_u64(vm->memory, at, &next);
    }
    memory_read_u64(vm->memory, entry, &after);
    fake_put_u64(target, at, after);
}
