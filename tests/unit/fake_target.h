// SPDX-License-Identifier: Apache-2.0
/* A target whose memory is an array: what is written there can be read through struct memory, and
 * nothing else can. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "beam/atom.h"
#include "beam/vm.h"
#include "native/memory.h"

enum { FAKE_BASE = 0x10000000, FAKE_SIZE = 1 << 20 };

struct fake_target {
    struct memory memory;
    size_t used;
    bool gone; /* as if the process had ended */
    uint8_t bytes[FAKE_SIZE];
};

static inline bool fake_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    const struct fake_target *target = (const struct fake_target *)memory;
    uint64_t at = address - FAKE_BASE;

    if (target->gone || at > target->used || size > target->used - at)
        return false;
    memcpy(buffer, target->bytes + at, size);
    return true;
}

static inline struct fake_target *fake_target_new(void)
{
    struct fake_target *target = calloc(1, sizeof(*target));

    target->memory.read = fake_read;
    return target;
}

/* Return the address of `size` zero bytes, 64-aligned. */
static inline uint64_t fake_room(struct fake_target *target, size_t size)
{
    uint64_t at = (target->used + 63) / 64 * 64;

    if (at + size > FAKE_SIZE)
        abort();
    target->used = at + size;
    return FAKE_BASE + at;
}

static inline void fake_put(struct fake_target *target, uint64_t address, const void *data,
                            size_t size)
{
    memcpy(target->bytes + (address - FAKE_BASE), data, size);
}

static inline void fake_put_u64(struct fake_target *target, uint64_t address, uint64_t value)
{
    fake_put(target, address, &value, sizeof(value));
}

static inline void fake_put_u32(struct fake_target *target, uint64_t address, uint32_t value)
{
    fake_put(target, address, &value, sizeof(value));
}

/* Write consecutive words; return their address. */
static inline uint64_t fake_words(struct fake_target *target, const uint64_t *words, size_t count)
{
    uint64_t at = fake_room(target, count * sizeof(*words));

    fake_put(target, at, words, count * sizeof(*words));
    return at;
}

#define FAKE_WORDS(target, ...)                                                                    \
    fake_words(target, (const uint64_t[]){__VA_ARGS__},                                            \
               sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Write an Atom of this name in the release's layout; return its address. */
static inline uint64_t fake_atom(struct fake_target *target, const struct layout *layout,
                                 uint32_t index, const char *name)
{
    size_t length = strlen(name);
    uint64_t atom = fake_room(target, (size_t)layout->sizeof_atom);
    uint64_t text = fake_room(target, 16 + length);

    fake_put_u32(target, atom + (uint64_t)layout->atom_index, index);
    fake_put(target, atom + (uint64_t)layout->atom_len, &(int16_t){(int16_t)length}, 2);
    fake_put(target, text + 16, name, length);
    if (layout->atom_name >= 0) {
        fake_put_u64(target, atom + (uint64_t)layout->atom_name, text + 16);
    } else {
        fake_put_u64(target, text, 0xe0); /* ErlHeapBits */
        fake_put_u64(target, text + 8, length * 8);
        fake_put_u64(target, atom + (uint64_t)layout->atom_bin, text | 2);
    }
    return atom;
}

/* Fill the IndexTable at `table` with atoms. `entries` can be larger than the number of atoms. */
static inline void fake_atom_table(struct fake_target *target, const struct layout *layout,
                                   uint64_t table, uint32_t entries, const char *const *names,
                                   uint32_t count)
{
    uint64_t segment = fake_room(target, 1024 * 8), segments = FAKE_WORDS(target, segment);

    for (uint32_t i = 0; i < count; i++)
        fake_put_u64(target, segment + i * 8, fake_atom(target, layout, i, names[i]));
    fake_put_u32(target, table + (uint64_t)layout->index_size, 1024);
    fake_put_u32(target, table + (uint64_t)layout->index_entries, entries);
    fake_put_u64(target, table + (uint64_t)layout->index_seg_table, segments);
}

/* Terms. */
static inline uint64_t fake_atom_term(uint64_t index)
{
    return index << 6 | 0xb;
}
static inline uint64_t fake_small(int64_t value)
{
    return (uint64_t)value << 4 | 0xf;
}
static inline uint64_t fake_cons(struct fake_target *target, uint64_t head, uint64_t tail)
{
    return FAKE_WORDS(target, head, tail) | 1;
}
#define FAKE_TUPLE(target, arity, ...) (FAKE_WORDS(target, (arity) << 6, __VA_ARGS__) | 2)

/* Return the layout of a release, with all fields of its JIT on glibc. */
static inline struct layout fake_layout(int otp_release)
{
    struct build build = {.otp_release = otp_release,
                          .erts = "99",
                          .jit = true,
                          .native_stack = true,
                          .frame_pointer_field = true};
    struct layout layout;
    struct error error;

    if (layout_from_table(&build, &layout, &error) != 0)
        abort();
    return layout;
}

/* Make the VM one of this release. */
static inline void fake_release(struct vm *vm, int otp_release)
{
    vm->build.otp_release = otp_release;
    vm->build.native_stack = true;
    vm->layout = fake_layout(otp_release);
    vm->features = features_of(&vm->build);
}

/* Make *vm a VM of this release in the target, with these atoms. Return them, for the caller to
 * free with atoms_free(). */
static inline struct atoms *fake_vm_with_atoms(struct fake_target *target, struct vm *vm,
                                               int otp_release, const char *const *names,
                                               uint32_t count)
{
    *vm = (struct vm){.memory = &target->memory};
    fake_release(vm, otp_release);
    vm->roots.atom_table = fake_room(target, 128);
    fake_atom_table(target, &vm->layout, vm->roots.atom_table, count, names, count);
    return atoms_new(vm);
}
