// SPDX-License-Identifier: Apache-2.0
/*
 * The rights that this process keeps, step by step. Rights only shrink. Each function applies to
 * the calling thread and those that it starts later; filters of system calls apply to all threads.
 */
#pragma once

#include <stdbool.h>

#include "os/fence.h"

/* Keep the rights to examine VMs and to record: reading memory, BPF programs, perf events, and
 * writing files wherever the user may. Programs that this process starts from now on have no
 * rights, even if they are set-user-ID. No core file is written: it would contain foreign
 * memory.
 * */
void privileges_observe(void);

/* Keep the rights to continue a recording once its VMs are open and its BPF programs are loaded: to
 * read memory, and to attach. `probes`: probes are attached and detached all the time. `arrivals`:
 * VMs that start later are added, each with a thread that attaches and detaches its probes. The
 * kernel refuses system calls that give power over this host (os/call_filter.h). */
void privileges_record(bool probes, bool arrivals);

/* Keep the rights of privileges_observe() and privileges_record() for good, for a process that
 * begins recordings with other options again and again. The kernel refuses the same system calls,
 * apart from those for the network. */
void privileges_record_always(void);

/* For the calling thread alone: keep the rights to attach and detach probes of loaded programs. */
void privileges_attach(void);

/* For the calling thread alone: keep the rights to read memory and files of processes.
 */
void privileges_read_memory(void);

/* For the calling thread alone: keep no right, and get none by starting a program. */
void privileges_give_up(void);

/* Keep no right but to talk to services of the network, and to use files within the fence, which is
 * freed. Processes that this one does not start can't be signalled (os/fence.h). The fence
 * gets what names and certificates of hosts need. */
void privileges_send(struct file_fence *fence);

/* After privileges_send(), and after libraries were loaded: the kernel refuses system calls but
 * those for files, connections of the network, and children that run no program. */
void privileges_send_only(void);

/* Keep the rights to read foreign files and to write outputs: the capabilities for files, within
 * the fence, which is freed (NULL: everywhere). The kernel refuses system calls that do not concern
 * files. */
void privileges_render(struct file_fence *fence);

/* Keep the right to read files of others, anywhere, and to start processes without rights that
 * parse them. No file can be written, made, renamed or removed. */
void privileges_read_files(void);

/* Keep no right at all: no capability, no file to open, no call but those that write open files and
 * talk to the parent. The process can't be traced, and writes no core file. */
void privileges_confine(void);
