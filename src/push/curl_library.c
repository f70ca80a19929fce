// SPDX-License-Identifier: Apache-2.0
#include "push/transfer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* libcurl's interface since 2006; Debian's libcurl4 and libcurl4t64. */
#define FILE_NAME "libcurl.so.4"

static struct curl_library library;
static char problem[256];

/* Set a pointer to a function: ISO C does not convert pointers to data. */
static bool find(void *handle, const char *name, void *ret_function)
{
    void *address = dlsym(handle, name);

    memcpy(ret_function, &address, sizeof(address));
    return address != NULL;
}

static void load(void)
{
    void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
    bool found = handle != NULL;

#define CURL_FIND(name) found = found && find(handle, "curl_" #name, &library.name);
    CURL_FUNCTIONS(CURL_FIND)
#undef CURL_FIND
    if (!found)
        snprintf(problem, sizeof(problem), "%s", dlerror());
    else if (library.global_init(CURL_GLOBAL_DEFAULT))
        snprintf(problem, sizeof(problem), "it can't be initialized");
}

const struct curl_library *curl_library(struct error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (!*problem)
        return &library;
    error_set(error, ERROR_FAILED, "can't load " FILE_NAME " (install libcurl4): %s", problem);
    return NULL;
}
