// SPDX-License-Identifier: Apache-2.0
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beam/vm_parts.h"

enum { BUILD_ID_MAX = 64, PATH_SIZE = 256 };

/* "usr/lib/debug/.build-id/ab/cdef....debug" of the executable; false if it has no build id. */
static bool debug_path(struct elf_file *executable, char path[PATH_SIZE])
{
    const void *note;
    ssize_t size = dwelf_elf_gnu_build_id(executable->elf, &note);
    const unsigned char *id = note;
    int used;

    if (size < 2 || size > BUILD_ID_MAX)
        return false;
    used = snprintf(path, PATH_SIZE, "usr/lib/debug/.build-id/%02x/", id[0]);
    for (ssize_t i = 1; i < size; i++)
        used += snprintf(path + used, (size_t)(PATH_SIZE - used), "%02x", id[i]);
    snprintf(path + used, (size_t)(PATH_SIZE - used), ".debug");
    return true;
}

/* Open a file under `root`, never following a link out of it. */
static int open_under(const char *root, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (directory < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
    close(directory);
    return fd;
}

/* 1 if the debug file under `root` gave the layout, 0 if there is none there. */
static int from_debug_file(const char *root, const char *path, struct layout *layout,
                           struct error *error)
{
    int fd = open_under(root, path);
    int filled = fd < 0 ? 0 : layout_from_dwarf(fd, layout, error);

    if (fd >= 0)
        close(fd);
    return filled;
}

static int from_dwarf(struct vm *vm, struct elf_file *executable, struct layout *layout,
                      struct error *error)
{
    char path[PATH_SIZE], root[64];
    int filled = layout_from_dwarf(executable->fd, layout, error);

    if (filled != 0 || !debug_path(executable, path))
        return filled;
    snprintf(root, sizeof(root), "/proc/%d/root", vm->pid);
    filled = from_debug_file(root, path, layout, error);
    return filled != 0 ? filled : from_debug_file("/", path, layout, error);
}

int vm_choose_layout(struct vm *vm, struct elf_file *executable, struct error *error)
{
    struct error no_table;
    struct layout layout;
    bool has_table = layout_from_table(&vm->build, &layout, &no_table) == 0;
    int filled;

    if (!has_table)
        layout_unknown(&layout);
    filled = from_dwarf(vm, executable, &layout, error);
    if (filled < 0)
        return -1;
    if (!filled && !has_table) {
        *error = no_table;
        return -1;
    }
    if (layout_check(&layout, error) != 0)
        return -1;
    vm->layout = layout;
    vm->layout_from_dwarf = filled;
    return 0;
}
