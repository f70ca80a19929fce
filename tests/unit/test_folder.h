// SPDX-License-Identifier: Apache-2.0
/* A folder of its own for each test, in which the test runs. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/beamflame-test-XXXXXX";

/* Return 0, or -1 on failure. */
static inline int folder_enter(void)
{
    memcpy(strrchr(folder, '-') + 1, "XXXXXX", 6);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

/* Remove the folder with its files and its empty folders. For cmocka's teardown. */
static inline int leave_folder(void **state)
{
    DIR *directory = opendir(folder);

    (void)state;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            rmdir(entry->d_name);
        else
            unlink(entry->d_name);
    closedir(directory);
    return chdir("/") || rmdir(folder);
}

static inline bool exists(const char *name)
{
    struct stat status;

    return lstat(name, &status) == 0;
}
