// SPDX-License-Identifier: Apache-2.0
#include "os/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/log.h"

void descriptors_fill_standard(void)
{
    /* open() takes the lowest number that is free: the one that was looked at. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void descriptors_raise(void)
{
    struct rlimit limit;
    rlim_t before;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        log_decision("limits", "there can be %llu descriptors instead of %llu",
                     (unsigned long long)limit.rlim_max, (unsigned long long)before);
}

int descriptors_check(struct error *error)
{
    enum { SOME = 8 };
    int opened[SOME], count = 0, code = 0;

    while (count < SOME && !code) {
        opened[count] = eventfd(0, EFD_CLOEXEC);
        if (opened[count] < 0)
            code = errno;
        else
            count++;
    }
    while (count)
        close(opened[--count]);
    return descriptors_ran_out(code, error) ? -1 : 0;
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void descriptors_keep_only(int *kept, size_t count)
{
    unsigned int from = 0;

    qsort(kept, count, sizeof(*kept), by_number);
    for (size_t i = 0; i < count; i++) {
        unsigned int fd = (unsigned int)kept[i];

        if (fd > from)
            close_range(from, fd - 1, 0);
        from = fd + 1;
    }
    close_range(from, UINT_MAX, 0);
}

bool descriptors_ran_out(int code, struct error *error)
{
    struct rlimit limit = {0};

    if (code == ENFILE) {
        error_set(error, ERROR_FAILED,
                  "this host has too many open files: raise the sysctl fs.file-max");
        return true;
    }
    if (code != EMFILE)
        return false;
    getrlimit(RLIMIT_NOFILE, &limit);
    error_set(error, ERROR_FAILED,
              "%llu open files are too few for the CPUs and hooks of this recording: raise the "
              "hard limit (ulimit -Hn, in a service LimitNOFILE=), or record fewer events",
              (unsigned long long)limit.rlim_cur);
    return true;
}
