// SPDX-License-Identifier: Apache-2.0
/* A filter of system calls for code that reads and writes files, and does nothing else. */
#pragma once

/* From now on this process can only read, write, open, rename and remove files, use memory, and
 * end. Any other call fails with ENOSYS, as on a kernel that does not have it. The filter stays for
 * good; new threads have it too. The process must have set PR_SET_NO_NEW_PRIVS. Return 0, or -1
 * with errno. With the sanitizers, which make other calls, this does nothing. */
int call_filter_files_only(void);
