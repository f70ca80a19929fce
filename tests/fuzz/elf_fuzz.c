// SPDX-License-Identifier: Apache-2.0
/*
 * Open bytes as an ELF file that a target has mapped (libFuzzer): symbols, build id, USDT probes,
 * inlined functions, and call-frame information in .eh_frame and .debug_frame. Open them as the
 * executable of a VM too: its banner, and the layout of its structs in DWARF. The end of the input
 * can change what the parser says of the file, as if the file had taken it over.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beam/vm_internal.h"
#include "native/cfi.h"
#include "native/elf_file.h"
#include "native/native_inlined.h"
#include "native/native_symbols.h"
#include "native/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { START = 0x400000, LENGTH = 0x10000, STEPS = 32, LINES_LENGTH = 0x400, LINE_STEP = 97 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Lies about answers, each of these bytes: the number of true answers before it, enum lie_kind, a
 * place in the answer (2 bytes), and what is written there. */
enum { LIE_BYTES = 12, LIE_VALUE_BYTES = 8 };
enum lie_kind { LIE_WRITE, LIE_CUT, LIE_GROW, LIE_REFUSE, LIE_KINDS };

static const uint8_t *lies;
static size_t lie_count;
static unsigned int true_answers; /* since the last lie */

/* The last byte of the input is the number of lies before it, if they fit: most files end with
 * 0. */
static void find_lies(const uint8_t *data, size_t size)
{
    lie_count = size ? data[size - 1] : 0;
    if (lie_count * LIE_BYTES >= size)
        lie_count = 0;
    lies = data + size - lie_count * LIE_BYTES - (size > 0);
    true_answers = 0;
}

/* Change the answer by the next lie. False if there shall be none. */
static bool lie(struct buffer *answer)
{
    size_t at = (size_t)(lies[2] | lies[3] << 8) % (answer->size + 1);
    const uint8_t *value = lies + LIE_BYTES - LIE_VALUE_BYTES;
    enum lie_kind kind = lies[1] % LIE_KINDS;

    lies += LIE_BYTES;
    lie_count--;
    if (kind == LIE_WRITE)
        memcpy(answer->data + at, value,
               answer->size - at < LIE_VALUE_BYTES ? answer->size - at : LIE_VALUE_BYTES);
    else if (kind == LIE_CUT)
        answer->size = at;
    else if (kind == LIE_GROW)
        buffer_put(answer, value, LIE_VALUE_BYTES);
    return kind != LIE_REFUSE;
}

/* Called instead of parser_ask(), which is __real_parser_ask(). */
bool __real_parser_ask(struct parser *parser, const struct elf_request *request, const char *text,
                       int fd, struct buffer *answer);
bool __wrap_parser_ask(struct parser *parser, const struct elf_request *request, const char *text,
                       int fd, struct buffer *answer);
bool __wrap_parser_ask(struct parser *parser, const struct elf_request *request, const char *text,
                       int fd, struct buffer *answer)
{
    if (!__real_parser_ask(parser, request, text, fd, answer))
        return false;
    if (!lie_count || !answer->data || true_answers++ < lies[0])
        return true;
    true_answers = 0;
    return lie(answer);
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

static void unwind_from(struct mappings *mappings, uint64_t pc)
{
    struct cfi_registers registers = {.known = ~(register_set)0};

    for (int i = 0; i < CPU_REGISTERS; i++)
        registers.value[i] = 0x7fff0000 + (uint64_t)i * 8;
    registers.value[CPU_PC] = pc;
    for (int i = 0; i < STEPS; i++)
        if (cfi_step(mappings, &registers, i == 0, read_stack, NULL) != CFI_STEPPED)
            return;
}

/* Unwind from addresses in functions, and from some others. */
static void use_addresses(struct elf_file *file, struct mappings *mappings)
{
    struct native_symbol symbol;

    for (uint64_t address = START; address < START + LENGTH; address += 61) {
        if (!native_symbol_find(file, address, &symbol))
            continue;
        check(strlen(symbol.name) < 1 << 20);
        unwind_from(mappings, address);
    }
    for (uint64_t address = START; address < START + LENGTH; address += 509)
        unwind_from(mappings, address);
}

static void check_inlined(void *context, const struct native_inlined *function)
{
    (void)context;
    check(function->name && function->file && function->is_container == !function->name[0]);
}

static void use_file(struct elf_file *file, struct mapping *mapping)
{
    struct mappings *mappings;
    int probes = 0;

    usdt_each(file, count_probe, &probes);
    native_symbol_address(file, "main");
    native_symbol_likeness(file, START);
    mapping->file = file;
    mappings = mappings_of_list(mapping, 1);
    use_addresses(file, mappings);
    for (uint64_t address = START; address < START + LINES_LENGTH; address += LINE_STEP)
        native_inlined_each(file, address, check_inlined, NULL);
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
    find_lies(data, size);
    native_inlined_enable();
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
