// SPDX-License-Identifier: Apache-2.0
#include "os/child.h"

#include <signal.h>
#include <sys/prctl.h>

#include "os/descriptors.h"

void child_begin(const char *name, int *kept, size_t count)
{
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, name);
    descriptors_keep_only(kept, count);
}
