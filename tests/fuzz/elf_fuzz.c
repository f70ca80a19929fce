// SPDX-License-Identifier: Apache-2.0
/*
 * Open bytes as an ELF file that a target has mapped (libFuzzer): symbols, build id, USDT probes,
 * and call-frame information in .eh_frame and .debug_frame. Open them as the executable of a VM
 * too: its banner, and the layout of its structs in DWARF.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beam/vm_internal.h"
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

/* Unwind from addresses in functions, and from some others. */
static void use_addresses(struct elf_file *file, struct cfi *cfi)
{
    struct native_symbol symbol;

    for (uint64_t address = START; address < START + LENGTH; address += 61) {
        if (!native_symbol_find(file, address, &symbol))
            continue;
        check(strlen(symbol.name) < 1 << 20);
        unwind_from(cfi, address);
    }
    for (uint64_t address = START; address < START + LENGTH; address += 509)
        unwind_from(cfi, address);
}

static void use_file(struct elf_file *file, struct mapping *mapping)
{
    struct mappings *mappings;
    struct cfi *cfi;
    int probes = 0;

    usdt_each(file, count_probe, &probes);
    native_symbol_address(file, "main");
    mapping->file = file;
    mappings = mappings_of_list(mapping, 1);
    cfi = cfi_new(mappings);
    use_addresses(file, cfi);
    cfi_free(cfi);
    mappings_free(mappings);
}

/* What layout_check() promises: the fields of a process lie within its struct. */
static void check_layout(const struct layout *layout)
{
    const struct wire_words words[] = {layout_process_words(layout),
                                       layout_scheduler_words(layout)};
    const int32_t fields[] = {layout->process_id, layout->process_state, layout->process_stop,
                              layout->process_fcalls};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        check(fields[i] >= -1 && fields[i] + 8 <= layout->sizeof_process);
    for (uint32_t i = 0; i < words[0].count; i++)
        check(words[0].offsets[i] + 8 <= layout->sizeof_process);
    check(words[1].count <= WIRE_WORDS);
}

static void use_vm(struct parser *parser, int fd)
{
    struct build build;
    struct layout layout;
    struct error error;

    check(elf_file_build_id(parser, fd).size <= BUILD_ID_MAX);
    if (build_identify(fd, &build, &error) == 1)
        check(build.otp_release > 0 && strlen(build.erts) < sizeof(build.erts));
    layout_unknown(&layout);
    if (layout_from_dwarf(parser, fd, &layout) && layout_check(&layout, &error) == 0)
        check_layout(&layout);
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
    use_vm(parser, fd);
    file = elf_file_of_fd(parser, fd, "/proc/self/root/proc/self/fdinfo", mapping.path);
    parser_release(parser);
    if (file && elf_file_place(file, &mapping))
        use_file(file, &mapping);
    else
        elf_file_free(file);
    return 0;
}
