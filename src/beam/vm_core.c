// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/vm_internal.h"
#include "native/core_file.h"
#include "native/elf_file.h"
#include "os/patience.h"
#include "os/patient_file.h"
#include "os/procfs.h"
#include "util/alloc.h"

/* ---- the executable ---- */

struct core_identification {
    int fd;
    struct build build;
    struct error error;
    int result;
};

static void identify(void *work)
{
    struct core_identification *own = work;
    int fd = procfs_reopen(own->fd);

    own->result = fd < 0 ? error_set(&own->error, ERROR_FAILED, "can't read the executable: %s",
                                     strerror(errno))
                         : build_identify(fd, &own->build, &own->error);
    if (fd >= 0)
        close(fd);
}

/* As build_identify(); the server of the file may not answer. */
static int identify_patiently(int fd, struct build *build, struct error *error)
{
    struct core_identification *own = xcalloc(1, sizeof(*own));
    int result;

    own->fd = fd;
    if (!patience_run_with(&fd, 1, identify, free, own))
        return error_set(error, ERROR_FAILED, "can't read the executable: %s",
                         patient_file_problem(errno));
    result = own->result;
    if (result > 0)
        *build = own->build;
    if (result < 0)
        *error = own->error;
    free(own);
    return result;
}

static int examine(struct vm *vm, const char *executable, struct error *error)
{
    struct parser *parser = parser_start();
    struct elf_file *file;
    int identified;

    vm->mappings = core_process_mappings(vm->core, parser, executable, error);
    parser_release(parser); /* the files have references */
    if (!vm->mappings)
        return -1;
    vm->memory = core_process_memory(vm->core, vm->mappings);
    vm->entry = vm->core->entry;
    file = vm_executable(vm, error);
    identified = file ? identify_patiently(file->fd, &vm->build, error) : -1;
    if (identified < 0)
        return -1;
    snprintf(vm->executable, sizeof(vm->executable), "%s", file->path);
    if (!identified)
        return error_set(error, ERROR_NO_PROCESS,
                         "the core file is of %s, which is not an Erlang VM", vm->executable);
    return vm_examine(vm, error);
}

/* Prefix the error with the core's path, and with the likely cause if the core lacks memory. */
static void tell_core(const char *path, const struct vm *vm, struct error *error)
{
    const struct core_file *core = vm->core;

    if (core->missing && vm->build.otp_release)
        error_prefix(error,
                     "core file '%s' is incomplete (%" PRIu64 " MB are there, %" PRIu64
                     " MB are missing), and the rest is not enough",
                     path, core->size >> 20, core->missing >> 20);
    else
        error_prefix(error, "core '%s'", path);
}

struct vm *vm_core_open(const char *path, const char *executable, int assumed_release,
                        struct error *error)
{
    struct core_file *core = core_file_open(path, error);
    struct vm *vm;

    if (!core)
        return NULL;
    vm = xcalloc(1, sizeof(*vm));
    vm->core = core;
    vm->assumed_release = assumed_release;
    vm->pid = core->pid;
    if (examine(vm, executable, error) == 0)
        return vm;
    if (core_file_check(core, error) == 0)
        tell_core(path, vm, error);
    vm_close(vm);
    return NULL;
}
