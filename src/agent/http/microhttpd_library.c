// SPDX-License-Identifier: Apache-2.0
#include "agent/http/microhttpd_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define FILE_NAME "libmicrohttpd.so.12"

struct microhttpd_library microhttpd;

/* Set a pointer to a function. ISO C has no conversion from an object's pointer. */
static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

int microhttpd_load(struct error *error)
{
    void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
    bool found = handle != NULL;

#define MICROHTTPD_FIND(name) found = found && find(handle, "MHD_" #name, &microhttpd.name);
    MICROHTTPD_FUNCTIONS(MICROHTTPD_FIND)
#undef MICROHTTPD_FIND
    if (found)
        return 0;
    return error_set(error, ERROR_FAILED, "can't load " FILE_NAME " (install libmicrohttpd12): %s",
                     dlerror());
}
