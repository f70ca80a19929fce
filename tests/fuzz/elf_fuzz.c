// SPDX-License-Identifier: Apache-2.0
/*
 * Open bytes as an ELF file that a target has mapped (libFuzzer): symbols, build id, USDT probes,
 * and call-frame information in .eh_frame and .debug_frame.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/cfi.h"
#include "native/elf_file.h"
#include "native/native_symbols.h"
#include "native/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { START = 0x400000, LENGTH = 0x10000, STEPS = 32 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool count_probe(void *context, const struct usdt_probe *probe)
{
    check(probe->provider && probe->name);
    return ++*(int *)context < 1000;
}

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    *word = START + address % LENGTH;
    return address % 64 != 0;
}

static void unwind_from(struct cfi *cfi, uint64_t pc)
{
    struct cfi_registers registers = {.known = ~(register_set)0};

    for (int i = 0; i < CPU_REGISTERS; i++)
        registers.value[i] = 0x7fff0000 + (uint64_t)i * 8;
    registers.value[CPU_PC] = pc;
    for (int i = 0; i < STEPS; i++)
        if (cfi_step(cfi, &registers, i == 0, read_stack, NULL) != CFI_STEPPED)
            return;
}

static void use_file(struct elf_file *file, struct mapping *mapping)
{
    struct mappings *mappings;
    struct native_symbol symbol;
    struct cfi *cfi;
    int probes = 0;

    usdt_each(file, count_probe, &probes);
    native_symbol_address(file, "main");
    for (uint64_t address = START; address < START + LENGTH; address += 61)
        if (native_symbol_find(file, address, &symbol))
            check(strlen(symbol.name) < 1 << 20);
    mapping->file = file;
    mappings = mappings_of_list(mapping, 1);
    cfi = cfi_new(mappings);
    for (uint64_t address = START; address < START + LENGTH; address += 509)
        unwind_from(cfi, address);
    cfi_free(cfi);
    mappings_free(mappings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mapping mapping = {
        .start = START, .end = START + LENGTH, .executable = true, .path = "/fuzz"};
    int fd = memfd_create("elf", MFD_CLOEXEC);
    struct parser *parser;
    struct elf_file *file;

    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    parser = parser_here();
    file = elf_file_of_fd(parser, fd, "/proc/self/root/proc/self/fdinfo", mapping.path);
    parser_release(parser);
    if (file && elf_file_place(file, &mapping))
        use_file(file, &mapping);
    else
        elf_file_free(file);
    return 0;
}
