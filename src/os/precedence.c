// SPDX-License-Identifier: Apache-2.0
#include "os/precedence.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

int precedence_take(int nice)
{
    /* Values of nice mean nothing to a thread that runs only on idle CPUs (`chrt --idle`). */
    const struct sched_param normal = {0};

    if (sched_setscheduler(0, SCHED_OTHER, &normal) ||
        setpriority(PRIO_PROCESS, (id_t)gettid(), nice))
        return errno;
    return 0;
}

int precedence_take_if_default(int nice)
{
    if (sched_getscheduler(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, (id_t)gettid()) != 0)
        return 0;
    return precedence_take(nice);
}
