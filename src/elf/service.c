// SPDX-License-Identifier: Apache-2.0
#include "elf/service.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/disassembler.h"
#include "elf/direct_calls.h"
#include "elf/elf_limits.h"
#include "elf/inlined.h"
#include "elf/likenesses.h"
#include "elf/sections.h"
#include "elf/usdt_notes.h"
#include "elf/cfi_tables.h"
#include "elf/struct_offsets.h"
#include "elf/symbols.h"
#include "util/alloc.h"
#include "util/files.h"

enum { FILES_MAX = 1 << 10, OFFSETS_MAX = 1 << 10 };

struct file {
    Elf *elf; /* NULL: closed */
    int fd;
    size_t bytes;                  /* taken of the room */
    struct elf_symbols *symbols;   /* NULL until they are read */
    struct cfi_tables *rules;      /* NULL until first used */
    struct likenesses *likenesses; /* NULL until first used */
    struct inlined *inlined;       /* NULL: its debug information was not requested, or has none */
};

struct elf_service {
    struct file *files[FILES_MAX];
    uint32_t count;
    struct elf_room room, debug_room;  /* the second: of debug information that is kept */
    struct disassembler *disassembler; /* NULL until first used */
};

struct elf_service *elf_service_new(void)
{
    return xcalloc(1, sizeof(struct elf_service));
}

static void close_file(struct elf_service *service, struct file *file)
{
    inlined_free(file->inlined);
    cfi_tables_free(file->rules);
    likenesses_free(file->likenesses);
    elf_symbols_free(file->symbols);
    elf_limits_close(file->elf, &service->room, file->bytes);
    close(file->fd);
    free(file);
}

void elf_service_free(struct elf_service *service)
{
    if (!service)
        return;
    for (uint32_t i = 0; i < service->count; i++)
        if (service->files[i])
            close_file(service, service->files[i]);
    disassembler_free(service->disassembler);
    free(service);
}

/* ---- open and close ---- */

static uint32_t put_segments(Elf *elf, struct buffer *answer)
{
    uint32_t count = 0;
    GElf_Phdr header;

    for (int i = 0; count < ELF_SEGMENTS_MAX && gelf_getphdr(elf, i, &header); i++) {
        struct elf_segment segment = {
            .offset = header.p_offset,
            .address = header.p_vaddr,
            .file_bytes = header.p_filesz,
            .memory_bytes = header.p_memsz,
            .executable = !!(header.p_flags & PF_X),
            .writable = !!(header.p_flags & PF_W),
        };

        if (header.p_type != PT_LOAD)
            continue;
        buffer_put(answer, &segment, sizeof(segment));
        count++;
    }
    return count;
}

static void find_functions(Elf *elf, struct elf_opened *opened)
{
    GElf_Shdr header;

    if (!elf_section_find(elf, ".eh_frame_hdr", &header))
        return;
    opened->functions_offset = header.sh_offset;
    opened->functions_bytes = header.sh_size;
    opened->functions_address = header.sh_addr;
}

/* A link is the name of a file, without a directory. */
static void find_link(Elf *elf, struct elf_opened *opened)
{
    GElf_Word checksum = 0;
    const char *link = dwelf_elf_gnu_debuglink(elf, &checksum);
    size_t length = link ? strnlen(link, sizeof(opened->link)) : 0;

    if (length == sizeof(opened->link) || (link && strchr(link, '/')))
        return;
    if (link)
        memcpy(opened->link, link, length);
    opened->checksum = checksum;
}

static void describe(Elf *elf, uint32_t number, struct buffer *answer)
{
    struct elf_opened opened = {
        .file = number,
        .build_id = build_id_of_elf(elf),
        .has_own_symbols = elf_symbols_are_own(elf),
    };
    size_t at = answer->size;

    find_functions(elf, &opened);
    find_link(elf, &opened);
    buffer_put(answer, &opened, sizeof(opened));
    opened.segment_count = put_segments(elf, answer);
    memcpy(answer->data + at, &opened, sizeof(opened));
}

/* Takes `fd`. */
static void open_file(struct elf_service *service, int fd, struct buffer *answer)
{
    struct file *file;
    size_t bytes = 0;
    Elf *elf =
        fd >= 0 && service->count < FILES_MAX ? elf_limits_open(fd, &service->room, &bytes) : NULL;

    if (!elf) {
        if (fd >= 0)
            close(fd);
        return;
    }
    file = xcalloc(1, sizeof(*file));
    *file = (struct file){.elf = elf, .fd = fd, .bytes = bytes};
    service->files[service->count] = file;
    describe(elf, service->count++, answer);
}

static void forget_file(struct elf_service *service, uint32_t number)
{
    close_file(service, service->files[number]);
    service->files[number] = NULL;
}

/* ---- questions about an open file ---- */

static void read_bytes(const struct file *file, uint64_t offset, size_t size, struct buffer *answer)
{
    char *bytes;

    if (size > ELF_ANSWER_MAX)
        return;
    bytes = xmalloc(size + 1);
    buffer_put(answer, bytes, files_read_at(file->fd, offset, bytes, size));
    free(bytes);
}

static void read_symbols(struct elf_service *service, struct file *file, int debug_fd,
                         struct buffer *answer)
{
    uint32_t source;

    if (debug_fd >= 0) {
        elf_symbols_free(file->symbols);
        file->symbols = NULL;
    }
    if (!file->symbols)
        file->symbols = elf_symbols_new(file->elf, file->fd, debug_fd, &service->room);
    source = elf_symbols_source(file->symbols);
    buffer_put(answer, &source, sizeof(source));
}

static void find_symbol(struct file *file, uint64_t address, struct buffer *answer)
{
    struct elf_symbol symbol;
    struct elf_found found;

    if (!file->symbols)
        return;
    symbol = elf_symbols_find(file->symbols, address);
    found = (struct elf_found){symbol.start, symbol.end, symbol.same_from, symbol.same_to};
    buffer_put(answer, &found, sizeof(found));
    if (symbol.name)
        buffer_put(answer, symbol.name, strnlen(symbol.name, ELF_SYMBOL_BYTES_MAX));
}

static void find_likeness(struct file *file, uint64_t start, struct buffer *answer)
{
    uint64_t likeness;

    if (!file->likenesses)
        file->likenesses = likenesses_new(file->elf, file->fd);
    likeness = likenesses_find(file->likenesses, start);
    buffer_put(answer, &likeness, sizeof(likeness));
}

static void keep_debug_information(struct elf_service *service, struct file *file, int debug_fd,
                                   struct buffer *answer)
{
    inlined_free(file->inlined);
    file->inlined = inlined_new(debug_fd >= 0 ? debug_fd : file->fd, &service->debug_room);
    if (file->inlined)
        buffer_byte(answer, 1);
}

static void find_address(const struct file *file, const struct elf_request *request,
                         const char *text, struct buffer *answer)
{
    char *name = xstrndup(text, request->text_bytes);
    uint64_t address = 0;

    if (request->call == ELF_SYMBOL_NAMED)
        address = elf_symbol_address(file->elf, name);
    else if (file->symbols)
        address = elf_symbols_debug_address(file->symbols, name);
    if (address)
        buffer_put(answer, &address, sizeof(address));
    free(name);
}

/* Append the rule at `pc`. Return the address where it ends; 0 if there is no rule, or if its end
 * is not known. */
static uint64_t put_rule(const struct file *file, uint64_t pc, struct buffer *answer)
{
    struct elf_rule head = {.pc = pc};
    struct cfi_rule rule;
    size_t at = answer->size, begin = at + sizeof(head);

    buffer_put(answer, &head, sizeof(head));
    cfi_tables_rule(file->rules, pc, answer);
    head.bytes = answer->size - begin;
    if (!head.bytes) {
        answer->size = at;
        return 0;
    }
    memcpy(answer->data + at, &head, sizeof(head));
    memcpy(&rule, answer->data + begin, sizeof(rule));
    return rule.end > pc ? rule.end : 0;
}

/* Append the rules between `from` and `until`, at most RULES_MOST. Each begins where the one before
 * it ends; where none begins, stop. Return the end of the last one. */
static uint64_t put_rules(const struct file *file, uint64_t from, uint64_t until,
                          struct buffer *answer)
{
    enum { RULES_MOST = 32 };
    uint64_t end = from;

    for (int i = 0; end < until && i < RULES_MOST && answer->size < ELF_ANSWER_MAX / 4; i++) {
        uint64_t next = put_rule(file, end, answer);

        if (!next)
            break;
        end = next;
    }
    return end;
}

/* Most samples of a function have different addresses, and a question takes as long as some twenty
 * rules. So the answer has all of the function, unless it is large. */
static void find_rules(struct file *file, uint64_t pc, struct buffer *answer)
{
    enum { NEAR = 2048 };
    uint64_t start;

    if (!file->rules)
        file->rules = cfi_tables_new(file->elf);
    start = cfi_tables_function(file->rules, pc);
    if (pc - start <= NEAR && put_rules(file, start, pc + NEAR, answer) > pc)
        return;
    answer->size = 0;
    put_rules(file, pc, pc + NEAR, answer);
}

static void find_calls(const struct file *file, uint64_t function, struct buffer *answer)
{
    if (!direct_calls_find(file->elf, file->fd, function, ELF_ANSWER_MAX, answer))
        answer->size = 0;
}

struct probe_listing {
    struct buffer *answer;
    uint64_t left_out; /* that come first */
};

static bool put_probe(void *context, const struct usdt_probe *probe)
{
    struct probe_listing *listing = context;
    struct elf_probe put = {
        .file_offset = probe->file_offset,
        .semaphore_offset = probe->semaphore_offset,
        .provider_bytes = (uint32_t)strnlen(probe->provider, ELF_SYMBOL_BYTES_MAX),
        .name_bytes = (uint32_t)strnlen(probe->name, ELF_SYMBOL_BYTES_MAX),
    };

    if (listing->left_out) {
        listing->left_out--;
        return true;
    }
    if (listing->answer->size + sizeof(put) + put.provider_bytes + put.name_bytes > ELF_ANSWER_MAX)
        return false;
    buffer_put(listing->answer, &put, sizeof(put));
    buffer_put(listing->answer, probe->provider, put.provider_bytes);
    buffer_put(listing->answer, probe->name, put.name_bytes);
    return true;
}

static void list_probes(const struct file *file, uint64_t from, struct buffer *answer)
{
    usdt_notes_each(file->elf, put_probe, &(struct probe_listing){answer, from});
}

static void answer_about(struct elf_service *service, const struct elf_request *request,
                         const char *text, int fd, struct buffer *answer)
{
    struct file *file = request->file < service->count ? service->files[request->file] : NULL;

    if (!file)
        return;
    switch ((enum elf_call)request->call) {
    case ELF_CLOSE:
        forget_file(service, request->file);
        break;
    case ELF_BYTES:
        read_bytes(file, request->address, request->size, answer);
        break;
    case ELF_SYMBOLS:
        read_symbols(service, file, fd, answer);
        break;
    case ELF_SYMBOL_AT:
        find_symbol(file, request->address, answer);
        break;
    case ELF_LIKENESS:
        find_likeness(file, request->address, answer);
        break;
    case ELF_SYMBOL_NAMED:
    case ELF_DEBUG_SYMBOL_NAMED:
        find_address(file, request, text, answer);
        break;
    case ELF_RULES:
        find_rules(file, request->address, answer);
        break;
    case ELF_PROBES:
        list_probes(file, request->address, answer);
        break;
    case ELF_CALLS:
        find_calls(file, request->address, answer);
        break;
    case ELF_DEBUG_INFORMATION:
        keep_debug_information(service, file, fd, answer);
        break;
    case ELF_INLINED:
        if (file->inlined)
            inlined_find(file->inlined, request->address, ELF_ANSWER_MAX, answer);
        break;
    case ELF_OPEN:
    case ELF_BUILD_ID:
    case ELF_OFFSETS:
    case ELF_INSTRUCTIONS:
        break;
    }
}

/* ---- questions about what comes with them ---- */

static void find_build_id(int fd, struct buffer *answer)
{
    size_t bytes = 0;
    Elf *elf = elf_limits_open(fd, NULL, &bytes);
    struct build_id id = build_id_of_elf(elf);

    elf_limits_close(elf, NULL, bytes);
    buffer_put(answer, &id, sizeof(id));
}

static void find_offsets(int fd, const char *text, size_t size, struct buffer *answer)
{
    const char *names[OFFSETS_MAX];
    int32_t offsets[OFFSETS_MAX];
    size_t count = 0;

    if (!size || text[size - 1])
        return;
    for (size_t at = 0; at < size && count < OFFSETS_MAX; at += strlen(text + at) + 1)
        names[count++] = text + at;
    if (struct_offsets_find(fd, names, count, offsets))
        buffer_put(answer, offsets, count * sizeof(offsets[0]));
}

static void decode(struct elf_service *service, const struct elf_request *request, const char *text,
                   struct buffer *answer)
{
    const struct code_bytes code = {(const uint8_t *)text, request->text_bytes, request->address};

    if (!service->disassembler)
        service->disassembler = disassembler_new();
    if (service->disassembler)
        disassemble(service->disassembler, code, ELF_ANSWER_MAX, answer);
}

void elf_service_answer(struct elf_service *service, const struct elf_request *request,
                        const char *text, int fd, struct buffer *answer)
{
    if (request->call == ELF_OPEN) {
        open_file(service, fd, answer);
        return;
    }
    if (request->call == ELF_BUILD_ID)
        find_build_id(fd, answer);
    else if (request->call == ELF_OFFSETS)
        find_offsets(fd, text, request->text_bytes, answer);
    else if (request->call == ELF_INSTRUCTIONS)
        decode(service, request, text, answer);
    else
        answer_about(service, request, text, fd, answer);
    if (fd >= 0)
        close(fd);
}
