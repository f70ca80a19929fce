// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/capabilities.h"
#include "os/kernel_settings.h"
#include "util/alloc.h"
#include "util/sorted.h"

struct symbol {
    uint64_t address;
    uint32_t name; /* offsets in texts */
    uint32_t module;
};

struct kernel_symbols {
    struct symbol *symbols;
    size_t count, room;
    char *texts;
    size_t texts_used, texts_room;
    uint32_t last_module; /* symbols of one module are adjacent */
    bool is_running;      /* the symbols are of the running kernel */
};

/* Nothing says how long the last symbol is: no symbol follows to bound it. */
enum { LAST_SYMBOL_SIZE = 4096 };

/* Bytes to read at a time. */
enum { READ_BUFFER = 1 << 16 };

static uint32_t add_text(struct kernel_symbols *all, const char *text, size_t length)
{
    uint32_t offset = (uint32_t)all->texts_used;

    if (all->texts_used + length + 1 > all->texts_room) {
        all->texts_room = 2 * all->texts_room + length + 1;
        all->texts = xrealloc(all->texts, all->texts_room);
    }
    memcpy(all->texts + offset, text, length);
    all->texts[offset + length] = '\0';
    all->texts_used += length + 1;
    return offset;
}

static uint32_t module_text(struct kernel_symbols *all, const char *module)
{
    if (strcmp(all->texts + all->last_module, module) != 0)
        all->last_module = add_text(all, module, strlen(module));
    return all->last_module;
}

/* Add a line "ffffffff81000000 T _text" or "ffffffffc0201000 t name\t[module]". Padding before
 * functions (__pfx_, __cfi_: CONFIG_PREFIX_SYMBOLS) is never executed and would double the
 * table. */
static void add_line(struct kernel_symbols *all, char *line)
{
    char *rest;
    uint64_t address = strtoull(line, &rest, 16);
    size_t length;
    char *module;

    if (address == 0 || rest[0] != ' ' || !rest[1] || !strchr("tTwW", rest[1]) || rest[2] != ' ')
        return;
    rest += 3;
    if (strncmp(rest, "__pfx_", 6) == 0 || strncmp(rest, "__cfi_", 6) == 0)
        return;
    length = strcspn(rest, "\t\n");
    module = strchr(rest + length, '[');
    if (module)
        module[strcspn(module, "\n")] = '\0';
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 1 << 14;
        all->symbols = xreallocarray(all->symbols, all->room, sizeof(*all->symbols));
    }
    all->symbols[all->count++] = (struct symbol){
        .address = address,
        .name = add_text(all, rest, length),
        .module = module_text(all, module ? module : KERNEL_MODULE),
    };
}

/* By address. Symbols of one address stay in the order of the file, in which their texts were
 * added. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *left = a;
    const struct symbol *right = b;

    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return (left->name > right->name) - (left->name < right->name);
}

static bool is_sorted(const struct kernel_symbols *all)
{
    for (size_t i = 1; i < all->count; i++) {
        if (all->symbols[i - 1].address > all->symbols[i].address)
            return false;
    }
    return true;
}

static void keep_one_name_per_address(struct kernel_symbols *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (kept == 0 || all->symbols[kept - 1].address != all->symbols[i].address)
            all->symbols[kept++] = all->symbols[i];
    }
    all->count = kept;
}

static void index_symbols(struct kernel_symbols *all)
{
    if (!is_sorted(all))
        qsort(all->symbols, all->count, sizeof(*all->symbols), compare_symbols);
    keep_one_name_per_address(all);
    all->symbols = xreallocarray(all->symbols, all->count, sizeof(*all->symbols));
    all->texts = xrealloc(all->texts, all->texts_used);
}

/* kallsyms_show_value() in kernel/ksyms_common.c, 6.1 in kernel/kallsyms.c. */
static int hidden(struct error *error)
{
    long restriction;

    if (kernel_setting_number("/proc/sys/kernel/kptr_restrict", &restriction) && restriction > 1)
        return error_set(error, ERROR_PERMISSION,
                         "the kernel hides its symbol addresses (kernel.kptr_restrict is %ld)",
                         restriction);
    return capabilities_refused(CAPABILITY(CAP_SYSLOG), error,
                                "read the addresses of kernel symbols");
}

struct kernel_symbols *kernel_symbols_read(FILE *file, struct error *error)
{
    struct kernel_symbols *all = xcalloc(1, sizeof(*all));
    char line[1024];

    all->last_module = add_text(all, KERNEL_MODULE, strlen(KERNEL_MODULE));
    while (fgets_unlocked(line, sizeof(line), file))
        add_line(all, line);
    if (all->count == 0) {
        hidden(error);
        kernel_symbols_free(all);
        return NULL;
    }
    index_symbols(all);
    return all;
}

struct kernel_symbols *kernel_symbols_new(struct error *error)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    struct kernel_symbols *all;
    char *room;

    if (!file) {
        error_set(error, ERROR_FAILED, "can't read /proc/kallsyms: %s", strerror(errno));
        return NULL;
    }
    room = xmalloc(READ_BUFFER); /* glibc's setvbuf() uses a size only with a buffer */
    setvbuf(file, room, _IOFBF, READ_BUFFER);
    all = kernel_symbols_read(file, error);
    if (all)
        all->is_running = true;
    fclose(file);
    free(room);
    return all;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
    if (!symbols)
        return;
    free(symbols->symbols);
    free(symbols->texts);
    free(symbols);
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
                                uint64_t *start, const char **module)
{
    size_t until =
        sorted_until(symbols->symbols, symbols->count, sizeof(*symbols->symbols), address);
    const struct symbol *found;

    if (until == 0)
        return NULL;
    found = &symbols->symbols[until - 1];
    if (until == symbols->count && address - found->address >= LAST_SYMBOL_SIZE)
        return NULL;
    *start = found->address;
    *module = symbols->texts + found->module;
    return symbols->texts + found->name;
}

struct build_id_text kernel_symbols_build_id(const struct kernel_symbols *symbols,
                                             const char *module)
{
    struct build_id id = {.size = 0};

    if (symbols->is_running)
        id = build_id_of_kernel(module);
    return build_id_text(&id);
}
