// SPDX-License-Identifier: Apache-2.0
#include "os/thread_wait.h"

#include <stdlib.h>

#include "os/procfs.h"

/* Read the state of a thread and how often it has waited (proc_pid_status(5)). Return 0 if the
 * thread has ended. */
static char read_state(pid_t tid, uint64_t *switches)
{
    char *text, state = 0;
    const char *value;
    size_t size;

    text = procfs_read(tid, "status", &size);
    if (text && (value = procfs_value(text, "State", &size)) && size)
        state = *value;
    value = text ? procfs_value(text, "voluntary_ctxt_switches", &size) : NULL;
    *switches = value ? strtoull(value, NULL, 10) : 0;
    free(text);
    return state;
}

unsigned int thread_wait_look(struct thread_wait *wait, pid_t tid)
{
    uint64_t switches;
    char state = 0;

    if (tid)
        state = read_state(tid, &switches);
    /* A page of a file in user space is waited for in state S. */
    if (state != 'D' && state != 'S') {
        *wait = (struct thread_wait){.tid = tid};
        return 0;
    }
    if (wait->tid != tid || wait->switches != switches)
        *wait = (struct thread_wait){tid, switches, 0};
    return ++wait->looks;
}
