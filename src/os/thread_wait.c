// SPDX-License-Identifier: Apache-2.0
#include "os/thread_wait.h"

#include <stdlib.h>

#include "os/procfs.h"
#include "util/files.h"

/* Return the state of a thread from its status (proc_pid_status(5)), and set how often it has
 * waited. Return 0 if there is no state. */
static char take_state(const char *text, uint64_t *switches)
{
    const char *value;
    size_t size;
    char state = 0;

    if ((value = procfs_value(text, "State", &size)) && size)
        state = *value;
    value = procfs_value(text, "voluntary_ctxt_switches", &size);
    *switches = value ? strtoull(value, NULL, 10) : 0;
    return state;
}

/* A thread that waits for a page of a FUSE file is in state S. */
static unsigned int look(struct thread_wait *wait, pid_t tid, char state, uint64_t switches)
{
    if (state != 'D' && state != 'S') {
        *wait = (struct thread_wait){.tid = tid};
        return 0;
    }
    if (wait->tid != tid || wait->switches != switches)
        *wait = (struct thread_wait){tid, switches, 0};
    return ++wait->looks;
}

unsigned int thread_wait_look(struct thread_wait *wait, pid_t tid)
{
    size_t size;
    char *text = tid ? procfs_read(tid, "status", &size) : NULL;
    uint64_t switches = 0;
    char state = 0;

    if (text)
        state = take_state(text, &switches);
    free(text);
    return look(wait, tid, state, switches);
}

unsigned int thread_wait_look_at(struct thread_wait *wait, pid_t tid, int status)
{
    char text[1 << 13];
    uint64_t switches = 0;
    size_t size = files_read_at(status, 0, text, sizeof(text) - 1);

    text[size] = '\0';
    return look(wait, tid, take_state(text, &switches), switches);
}
