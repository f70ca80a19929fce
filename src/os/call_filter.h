// SPDX-License-Identifier: Apache-2.0
/* Filters of system calls. The calling thread must have set PR_SET_NO_NEW_PRIVS. A filter stays for
 * good; all threads have it, with PR_SET_NO_NEW_PRIVS, and new ones too. With the sanitizers, which
 * make other calls, there is none. */
#pragma once

#include <stdbool.h>

#ifdef __SANITIZE_ADDRESS__
enum { CALL_FILTER_IS_MISSING = 1 };
#else
enum { CALL_FILTER_IS_MISSING = 0 };
#endif

/* From now on this process can only read, write, open, rename and remove files, use memory, and
 * end. Any other call fails with ENOSYS, as on a kernel that does not have it. Return 0, or -1 with
 * errno. */
int call_filter_files_only(void);

/* The same without opening, renaming and removing files, or changing their attributes. */
int call_filter_open_files(void);

/* The same, but it can also open files to read them, start threads and processes, which the filter
 * holds for too, signal them, and talk to them. It does not see whether openat2() opens a file to
 * write it: a fence must (os/fence.h). */
int call_filter_read_files_and_children(void);

/* The same, but the process can also connect to the network (IPv4, IPv6), accept connections of
 * open sockets, and put itself and its children behind further fences. It reaches no Unix socket
 * but those that are open. */
int call_filter_network(void);

/* From now on this process can only read open files, send and receive by open sockets, use memory,
 * and end. Otherwise like call_filter_files_only(). */
int call_filter_parse_only(void);

/* From now on this process starts no program, neither traces nor changes the memory of another
 * process, mounts nothing, loads nothing into the kernel, and becomes no other user; unless
 * `with_network`, it makes and uses no socket but those that are open, and accepts connections of
 * those that listen. These calls fail with ENOSYS, and all others work. The filter does not see
 * which files are opened. */
int call_filter_without_power(bool with_network);
