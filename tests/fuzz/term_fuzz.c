// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as the memory of a VM: terms, process structs, process dictionaries and atoms
 * (libFuzzer). The first byte selects the release and the form of pids. Most words that look like
 * pointers are moved into the memory, so that terms are deep, cyclic and cut.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/fake_target.h"
#include "beam/process_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 1024 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Lists, boxed terms, and words with a high bit point into the memory. */
static uint64_t word_of(uint64_t word, uint64_t base, size_t count)
{
    bool is_pointer = (word & 3) == 1 || (word & 3) == 2 || word >> 63;

    return is_pointer && count ? base + (word >> 3) % count * 8 + (word & 3) : word;
}

static void read_process(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                         struct fake_target *target, uint64_t base)
{
    size_t size = (size_t)vm->layout.sizeof_process;
    uint8_t *bytes = calloc(1, size);
    static const struct name_keys keys = {.keys = {{"true", 2}}, .count = 1};
    struct process_info info;
    char name[260];

    if (bytes && fake_read(&target->memory, base, bytes, size) &&
        process_info_read(vm, atoms, encoding, &keys, base, bytes, &info)) {
        check(strlen(info.label) < sizeof(info.label) && strlen(info.name) < sizeof(info.name));
        check(info.ancestor_count <= ANCESTORS_MAX);
        process_info_application(vm, atoms, encoding, info.group_leader, name, sizeof(name));
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {
        "$ancestors",   "$initial_call",    "$process_label", "true",
        "process_name", "worker_pool_name", "couch_file_fd",  "io_priority",
        "log",          "resource",         "rabbit_channel", "rabbit_amqqueue_process"};
    enum { NAMES = sizeof(names) / sizeof(*names) };
    struct fake_target *target = fake_target_new();
    struct vm vm = {.memory = &target->memory};
    uint8_t choice = size ? data[0] : 0;
    struct pid_encoding encoding = {.wide = choice & 1};
    const uint8_t *words = data + 1;
    size_t count = size ? (size - 1) / 8 : 0;
    struct atoms *atoms;
    uint64_t base;
    char text[64];

    if (count > WORDS_MAX)
        count = WORDS_MAX;
    fake_release(&vm, choice & 2 ? 25 : 27);
    vm.roots.atom_table = fake_room(target, 128);
    fake_atom_table(target, &vm.layout, vm.roots.atom_table, NAMES, names, NAMES);
    atoms = atoms_new(&vm);
    base = fake_room(target, WORDS_MAX * 8);
    for (size_t i = 0; i < count; i++) {
        uint64_t word;

        memcpy(&word, words + i * 8, sizeof(word));
        fake_put_u64(target, base + i * 8, word_of(word, base, count));
    }
    for (size_t i = 0; i < count && i < 16; i++) {
        uint64_t word;

        memcpy(&word, target->bytes + (base - FAKE_BASE) + i * 8, sizeof(word));
        term_format(&vm, atoms, &encoding, word, text, sizeof(text));
        check(memchr(text, 0, sizeof(text)) != NULL);
        atom_text(atoms, word);
    }
    read_process(&vm, atoms, &encoding, target, base);
    atoms_free(atoms);
    free(target);
    return 0;
}
