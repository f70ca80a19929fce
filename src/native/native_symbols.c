// SPDX-License-Identifier: Apache-2.0
#include "native/native_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/debug_file.h"
#include "native/elf_file.h"
#include "util/alloc.h"

/* Let the parser read the symbols, those of the debug file too. */
static bool read_symbols(struct elf_file *file)
{
    struct buffer answer = {0};
    uint32_t source = NATIVE_SYMBOLS_SOURCES;
    int debug_fd;

    if (file->has_symbols && file->epoch == parser_epoch(file->parser))
        return true;
    if (file->is_lost)
        return false;
    debug_fd = file->opened.has_own_symbols ? -1 : debug_file_open(file);
    if (elf_file_ask(file, ELF_SYMBOLS, 0, NULL, debug_fd, &answer) &&
        answer.size == sizeof(source))
        memcpy(&source, answer.data, sizeof(source));
    if (debug_fd >= 0)
        close(debug_fd);
    buffer_free(&answer);
    file->has_symbols = source < NATIVE_SYMBOLS_SOURCES;
    if (file->has_symbols)
        file->source = source;
    return file->has_symbols;
}

enum native_symbols_source native_symbols_source(struct elf_file *file)
{
    return read_symbols(file) ? file->source : NATIVE_SYMBOLS_EXPORTED;
}

bool native_symbol_find(struct elf_file *file, uint64_t address, struct native_symbol *symbol)
{
    struct buffer answer = {0};
    uint64_t wanted = address - file->bias;
    struct elf_found found = {0};

    if (read_symbols(file) && elf_file_ask(file, ELF_SYMBOL_AT, wanted, NULL, -1, &answer) &&
        answer.size > sizeof(found)) {
        memcpy(&found, answer.data, sizeof(found));
        free(file->symbol_name);
        file->symbol_name = xstrndup(answer.data + sizeof(found), answer.size - sizeof(found));
    }
    buffer_free(&answer);
    if (wanted < found.start || wanted >= found.end)
        return false;
    *symbol = (struct native_symbol){
        .name = file->symbol_name,
        .address = found.start + file->bias,
        .size = found.end - found.start,
    };
    return true;
}

uint64_t native_symbol_address(struct elf_file *file, const char *name)
{
    struct buffer answer = {0};
    uint64_t address = 0;

    if (elf_file_ask(file, ELF_SYMBOL_NAMED, 0, name, -1, &answer) &&
        answer.size == sizeof(address))
        memcpy(&address, answer.data, sizeof(address));
    buffer_free(&answer);
    return address ? address + file->bias : 0;
}
