// SPDX-License-Identifier: Apache-2.0
/* clone() as valgrind supports it: the new process has a copy of the table of descriptors at once,
 * where the caller wants it to share the table. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    int (*real)(int (*)(void *), void *, int, void *, ...) = dlsym(RTLD_NEXT, "clone");

    return real(run, stack, flags & ~CLONE_FILES, argument);
}
