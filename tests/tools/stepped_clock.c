// SPDX-License-Identifier: Apache-2.0
/*
 * A library for LD_PRELOAD: the real time of one program is later by some seconds. The file
 * STEPPED_CLOCK contains them as a signed number of 8 bytes, which may change at any time. Other
 * clocks, and other programs, are not affected.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile int64_t *step;

__attribute__((constructor)) static void begin(void)
{
    int fd = open(getenv("STEPPED_CLOCK"), O_RDONLY | O_CLOEXEC);

    step = mmap(NULL, sizeof(*step), PROT_READ, MAP_SHARED, fd, 0);
    if (step == MAP_FAILED)
        abort();
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    static int (*real)(clockid_t, struct timespec *);
    int result;

    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    result = real(clock, ret_time);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ret_time->tv_sec += *step;
    return result;
}

time_t time(time_t *ret_time)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *ret_time, void *zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
