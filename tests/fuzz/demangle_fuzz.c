// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as the name of a C++ or Rust symbol (libFuzzer).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/symbols_internal.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const starts[] = {"_ZN", "_R", "_RINvC1a1f", "_RMINvC1a1b"};
    char *name, *text;

    if (!size)
        return 0;
    text = xstrndup((const char *)data + 1, size - 1);
    name = xasprintf("%s%s", starts[data[0] % (sizeof(starts) / sizeof(starts[0]))], text);
    free(text);
    free(demangle(name));
    free(name);
    return 0;
}
