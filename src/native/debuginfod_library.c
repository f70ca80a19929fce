// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <string.h>

#include "native/debug_fetch.h"

/* Debian's libdebuginfod1 and libdebuginfod1t64. */
#define FILE_NAME "libdebuginfod.so.1"

/* Set a pointer to a function: ISO C does not convert pointers to data. */
static bool find(void *handle, const char *name, void *ret_function)
{
    void *address = dlsym(handle, name);

    memcpy(ret_function, &address, sizeof(address));
    return address != NULL;
}

const struct debuginfod_library *debuginfod_library(void)
{
    static struct debuginfod_library library;
    void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);

    return handle && find(handle, "debuginfod_begin", &library.begin) &&
                   find(handle, "debuginfod_set_progressfn", &library.set_progressfn) &&
                   find(handle, "debuginfod_find_debuginfo", &library.find_debuginfo)
               ? &library
               : NULL;
}
