// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as files of /proc: kallsyms, status, cgroup (libFuzzer). A process chooses its name,
 * its command line and its cgroups; a module of the kernel the names of its symbols.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/capabilities.h"
#include "os/container.h"
#include "os/kernel_symbols.h"
#include "os/procfs.h"
#include "profile/threads.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void read_kallsyms(const char *text, size_t size)
{
    FILE *file = size ? fmemopen((void *)text, size, "r") : NULL;
    struct error error;
    struct kernel_symbols *symbols = file ? kernel_symbols_read(file, &error) : NULL;
    const char *module;
    uint64_t offset;

    for (uint64_t address = UINT64_MAX << 12; symbols && address; address <<= 1) {
        const char *name = kernel_symbols_find(symbols, address, &offset, &module);

        check(!name || strlen(name) <= size);
    }
    kernel_symbols_free(symbols);
    if (file)
        fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size), id[65];
    size_t length;
    const char *value = procfs_value(text, "Name", &length);
    uint64_t set;
    uint32_t number;

    check(!value || value + length <= text + strlen(text));
    capabilities_parse(text, &set);
    thread_type_of(text, &number);
    if (container_of_cgroup(text, id, sizeof(id)))
        check(id[0] && strlen(id) < sizeof(id));
    read_kallsyms(text, strlen(text));
    free(text);
    return 0;
}
