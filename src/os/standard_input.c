// SPDX-License-Identifier: Apache-2.0
#include "os/standard_input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/local_disk.h"

static struct patient_file *file;

static bool is_regular(int fd)
{
    struct statx status;

    /* The server is not asked. */
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) == 0 &&
           S_ISREG(status.stx_mode);
}

void standard_input_begin(void)
{
    if (!is_regular(STDIN_FILENO) || local_disk_has_mount_of(STDIN_FILENO))
        return;
    file = patient_file_of(STDIN_FILENO);
    if (!file)
        return;
    if (descriptor_leave(STDIN_FILENO)) {
        descriptors_fill_standard();
        return;
    }
    patient_file_close(file);
    file = NULL;
}

struct patient_file *standard_input_file(void)
{
    return file;
}

bool standard_input_is(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};

    for (size_t i = 0; file && i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(path, names[i]))
            return true;
    return false;
}

void standard_input_give_back(void)
{
    int fd;

    if (!file)
        return;
    close(STDIN_FILENO); /* the lowest free number is the one that it gets */
    fd = patient_file_descriptor(file);
    if (fd == STDIN_FILENO)
        fcntl(fd, F_SETFD, 0);
    descriptors_fill_standard();
}
