// SPDX-License-Identifier: Apache-2.0
#include "util/temporaries.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/files.h"
#include "util/random.h"

/* ---- names ---- */

char *temporaries_new_name(const char *name)
{
    return xasprintf(".%s.%d-%016llx.tmp", name, (int)getpid(), (unsigned long long)random_word());
}

unsigned long temporaries_creator(const char *text)
{
    size_t digits, random;

    if (*text++ != '.')
        return 0;
    digits = strspn(text, "0123456789");
    random = text[digits] == '-' ? strspn(text + digits + 1, "0123456789abcdef") : 0;
    if (!digits || !random || strcmp(text + digits + 1 + random, ".tmp") != 0)
        return 0;
    return strtoul(text, NULL, 10);
}

/* ---- of this process ---- */

struct temporary {
    struct temporary *next;
    int directory;
    char *name;
    dev_t device;
    ino_t inode;
};

/* A signal handler finds it complete at any time: entries are linked when they are complete, and
 * freed when they are unlinked. */
static struct temporary *volatile all;

void temporaries_add(int directory, const char *name, int fd)
{
    struct temporary *added = xcalloc(1, sizeof(*added));
    struct stat status = {0};

    fstat(fd, &status);
    *added = (struct temporary){
        .next = all,
        .directory = directory,
        .name = xstrdup(name),
        .device = status.st_dev,
        .inode = status.st_ino,
    };
    atomic_signal_fence(memory_order_seq_cst);
    all = added;
}

void temporaries_forget(int directory, const char *name)
{
    struct temporary *before = NULL, *at = all;

    for (; at && (at->directory != directory || strcmp(at->name, name)); at = at->next)
        before = at;
    if (!at)
        return;
    if (before)
        before->next = at->next;
    else
        all = at->next;
    atomic_signal_fence(memory_order_seq_cst);
    free(at->name);
    free(at);
}

bool temporaries_is(int directory, const char *name, int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return false;
    for (const struct temporary *at = all; at; at = at->next)
        if (at->directory == directory && !strcmp(at->name, name))
            return at->device == status.st_dev && at->inode == status.st_ino;
    return false;
}

void temporaries_remove(void)
{
    for (const struct temporary *at = all; at; at = at->next)
        unlinkat(at->directory, at->name, 0);
}

/* ---- of others ---- */

/* The pid in ".NAME.PID-RANDOM.tmp"; 0 if the name is another one. */
static unsigned long creator(const char *entry, const char *name)
{
    size_t size = strlen(name);

    if (entry[0] != '.' || strncmp(entry + 1, name, size) != 0)
        return 0;
    return temporaries_creator(entry + 1 + size);
}

/* A process has no lock between the creation of its file and the lock, or where the file system has
 * none: its file stays while there is a process with its number. */
static bool has_ended(unsigned long pid)
{
    char path[40];

    snprintf(path, sizeof(path), "/proc/%lu", pid);
    return access("/proc/self", F_OK) == 0 && access(path, F_OK) != 0;
}

void temporaries_remove_leftovers(int directory, const char *name)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;

    if (!entries) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(entries));) {
        unsigned long pid = creator(entry->d_name, name);

        if (pid && has_ended(pid))
            files_remove_unlocked(directory, entry->d_name);
    }
    closedir(entries);
}
