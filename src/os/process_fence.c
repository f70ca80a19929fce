// SPDX-License-Identifier: Apache-2.0
#include "os/fence.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than some headers (include/uapi/linux/landlock.h, v6.12). */
enum { SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0, SCOPE_SIGNAL = 1 << 1, SCOPES_VERSION = 6 };

struct scoped_ruleset {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

int process_fence_close(void)
{
    const struct scoped_ruleset attributes = {.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    int rules, result, code;

    if (version < 0)
        return -1;
    if (version < SCOPES_VERSION) {
        errno = ENOSYS;
        return -1;
    }
    rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    if (rules < 0)
        return -1;
    result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    code = errno;
    close(rules);
    errno = code;
    return result;
}
