// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_status.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

struct agent_status *agent_status_new(struct error *error)
{
    struct agent_status *status =
        mmap(NULL, sizeof(*status), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (status != MAP_FAILED)
        return status;
    error_set(error, ERROR_FAILED, "no memory can be shared: %s", strerror(errno));
    return NULL;
}

void agent_status_free(struct agent_status *status)
{
    if (status)
        munmap(status, sizeof(*status));
}
