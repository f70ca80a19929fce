// SPDX-License-Identifier: Apache-2.0
/*
 * Whom a process can still reach on its host (Landlock, Linux 6.12 and later). A process of root
 * can signal all others of root, and connect to the abstract sockets of container runtimes in its
 * network, even without capabilities.
 */
#pragma once

/* Put up the fence around this thread and those that it starts later, for good. They can signal
 * only themselves and children that they start later, and connect to no abstract unix socket but
 * those that they make. The process must have set PR_SET_NO_NEW_PRIVS. Return 0, or -1 with errno.
 */
int process_fence_close(void);
