// SPDX-License-Identifier: Apache-2.0
#include "native/native_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/debug_fetch.h"
#include "native/debug_file.h"
#include "native/elf_file.h"
#include "util/address_map.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/sorted.h"

/* Open the debug file. Note whether it is to be fetched. */
static int open_debug_file(struct elf_file *file)
{
    int fd = debug_file_open(file);

    if (fd < 0 && debug_fetch_has(&file->build_id))
        debug_fetch_reject(&file->build_id);
    file->lacks_debug_file = fd < 0 && !file->in_memory;
    return fd;
}

/* Return enum native_symbols_source, or NATIVE_SYMBOLS_SOURCES if there is no answer. */
static uint32_t ask_for_symbols(struct elf_file *file, int debug_fd)
{
    uint32_t source = NATIVE_SYMBOLS_SOURCES;
    struct buffer answer = {0};

    if (elf_file_ask(file, ELF_SYMBOLS, 0, NULL, debug_fd, &answer) &&
        answer.size == sizeof(source))
        memcpy(&source, answer.data, sizeof(source));
    buffer_free(&answer);
    return source;
}

/* Let the parser read the symbols, also of the debug file. */
static bool read_symbols(struct elf_file *file)
{
    uint32_t source;
    int debug_fd;

    if (file->has_symbols && file->epoch == parser_epoch(file->parser))
        return true;
    if (file->is_lost)
        return false;
    debug_fd = file->opened.has_own_symbols ? -1 : open_debug_file(file);
    source = ask_for_symbols(file, debug_fd);
    if (debug_fd >= 0) {
        close(debug_fd);
        if (source == NATIVE_SYMBOLS_SOURCES) { /* the debug file may have ended the parser */
            file->is_lost = false;
            source = ask_for_symbols(file, -1);
        }
    }
    file->has_symbols = source < NATIVE_SYMBOLS_SOURCES;
    if (file->has_symbols) {
        file->source = source;
        log_decision("symbols", "of %s: %s", file->path, native_symbols_source_text(source));
    }
    return file->has_symbols;
}

const char *native_symbols_source_text(enum native_symbols_source source)
{
    static const char *const texts[] = {
        [NATIVE_SYMBOLS_EXPORTED] = "only those that it exports",
        [NATIVE_SYMBOLS_OWN] = "its own",
        [NATIVE_SYMBOLS_DEBUG] = "those of its debug file",
        [NATIVE_SYMBOLS_BUILD] = "those of this build, which beamflame contains",
    };

    return texts[source];
}

enum native_symbols_source native_symbols_source(struct elf_file *file)
{
    return read_symbols(file) ? file->source : NATIVE_SYMBOLS_EXPORTED;
}

/* ---- answers that are kept ---- */

/* Most files of a VM have some hundred functions on stacks. Names are mostly short; those of C++
 * can be long. */
enum { ANSWERS_MAX = 1 << 12, NAME_BYTES_MAX = 1 << 18, LIKENESSES_MAX = 1 << 10 };

struct known_symbol {
    struct elf_found at;
    char *name; /* "": no symbol covers these addresses */
};

struct known_symbols {
    struct known_symbol *list; /* by address; their ranges are apart */
    size_t count, room;
    size_t name_bytes;
};

static void forget_all(struct known_symbols *known)
{
    for (size_t i = 0; i < known->count; i++)
        free(known->list[i].name);
    known->count = known->name_bytes = 0;
}

void known_symbols_free(struct known_symbols *known)
{
    if (!known)
        return;
    forget_all(known);
    free(known->list);
    free(known);
}

/* The number of known ranges that begin at or before `address`. */
static size_t count_before(const struct known_symbols *known, uint64_t address)
{
    const uint64_t *first = known->count ? &known->list->at.same_from : NULL;

    return sorted_until(first, known->count, sizeof(*known->list), address);
}

static const struct known_symbol *find_known(const struct known_symbols *known, uint64_t address)
{
    size_t before = known ? count_before(known, address) : 0;

    return before && address < known->list[before - 1].at.same_to ? &known->list[before - 1] : NULL;
}

/* Keep an answer about `address`, which no known range contains. A hostile parser may claim any
 * range: it is cut where the next known ones are. */
static const struct known_symbol *keep(struct known_symbols *known, uint64_t address,
                                       const struct elf_found *found, char *name)
{
    struct known_symbol *symbol;
    size_t at;

    known->name_bytes += strlen(name);
    if (known->count == ANSWERS_MAX || known->name_bytes > NAME_BYTES_MAX) {
        forget_all(known);
        known->name_bytes = strlen(name);
    }
    at = count_before(known, address);
    known->list = xgrow(known->list, &known->room, known->count, sizeof(*known->list));
    symbol = &known->list[at];
    memmove(symbol + 1, symbol, (known->count++ - at) * sizeof(*symbol));
    *symbol = (struct known_symbol){*found, name};
    if (at && symbol[-1].at.same_to > symbol->at.same_from)
        symbol->at.same_from = symbol[-1].at.same_to;
    if (at + 1 < known->count && symbol[1].at.same_from < symbol->at.same_to)
        symbol->at.same_to = symbol[1].at.same_from;
    return symbol;
}

/* ---- questions ---- */

/* Let the debug file be fetched if it is not on this host. */
static void fetch_debug_file(struct elf_file *file)
{
    if (file->lacks_debug_file)
        file->awaits_debug_file = debug_fetch_want(&file->build_id, file->path);
    file->lacks_debug_file = false;
}

/* Ask the parser, and keep its answer. NULL if it has none, or one that does not fit `address`. */
static const struct known_symbol *ask_symbol(struct elf_file *file, uint64_t address)
{
    const struct known_symbol *symbol = NULL;
    struct buffer answer = {0};
    struct elf_found found;
    bool has_symbols = read_symbols(file);

    fetch_debug_file(file);
    if (has_symbols && elf_file_ask(file, ELF_SYMBOL_AT, address, NULL, -1, &answer) &&
        answer.size >= sizeof(found)) {
        memcpy(&found, answer.data, sizeof(found));
        if (address >= found.same_from && address < found.same_to) {
            if (!file->known)
                file->known = xcalloc(1, sizeof(*file->known));
            symbol = keep(file->known, address, &found,
                          xstrndup(answer.data + sizeof(found), answer.size - sizeof(found)));
        }
    }
    buffer_free(&answer);
    return symbol;
}

/* If the debug file has arrived since the symbols were read, forget them. */
static void look_for_debug_file(struct elf_file *file)
{
    if (!file->awaits_debug_file || file->fetch_version == debug_fetch_version())
        return;
    file->fetch_version = debug_fetch_version();
    if (!debug_fetch_has(&file->build_id))
        return;
    file->awaits_debug_file = file->has_symbols = false;
    if (file->known)
        forget_all(file->known);
}

bool native_symbol_find(struct elf_file *file, uint64_t address, struct native_symbol *symbol)
{
    uint64_t wanted = address - file->bias;
    const struct known_symbol *known;

    look_for_debug_file(file);
    known = find_known(file->known, wanted);
    if (!known)
        known = ask_symbol(file, wanted);
    if (!known || !known->name[0] || wanted < known->at.start || wanted >= known->at.end)
        return false;
    *symbol = (struct native_symbol){
        .name = known->name,
        .address = known->at.start + file->bias,
        .size = known->at.end - known->at.start,
    };
    return true;
}

/* Ask the parser for a number. 0 if it has no answer. */
static uint64_t ask_number(struct elf_file *file, enum elf_call call, uint64_t address,
                           const char *text)
{
    struct buffer answer = {0};
    uint64_t number = 0;

    if (elf_file_ask(file, call, address, text, -1, &answer) && answer.size == sizeof(number))
        memcpy(&number, answer.data, sizeof(number));
    buffer_free(&answer);
    return number;
}

uint64_t native_symbol_likeness(struct elf_file *file, uint64_t start)
{
    uint64_t likeness;

    if (!file->likenesses)
        file->likenesses = address_map_new(LIKENESSES_MAX);
    if (address_map_get(file->likenesses, start, &likeness))
        return likeness;
    likeness = ask_number(file, ELF_LIKENESS, start - file->bias, NULL);
    if (!file->is_lost)
        address_map_put(file->likenesses, start, likeness);
    return likeness;
}

uint64_t native_symbol_address(struct elf_file *file, const char *name)
{
    uint64_t address = ask_number(file, ELF_SYMBOL_NAMED, 0, name);

    return address ? address + file->bias : 0;
}

uint64_t native_symbol_debug_address(struct elf_file *file, const char *name)
{
    uint64_t address = 0;

    if (file->build_id.size && read_symbols(file) && file->source == NATIVE_SYMBOLS_DEBUG)
        address = ask_number(file, ELF_DEBUG_SYMBOL_NAMED, 0, name);
    return address ? address + file->bias : 0;
}
