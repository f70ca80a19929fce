// SPDX-License-Identifier: Apache-2.0
/*
 * Which rights this process keeps at which time. Rights only shrink. Each function applies to the
 * calling thread and those that it starts later.
 */
#pragma once

#include <stdbool.h>

/* To look at VMs and to record: what reading memory, BPF and perf events take, and writing files
 * wherever the user may. Programs that are started from now on have no rights, also if they are
 * set-user-ID. There is no core file, whose copy of foreign memory others might read.
 */
void privileges_observe(void);

/* While recording, once VMs are read and programs loaded: what reading on and attaching again take.
 * `probes`: probes are attached and detached all the time. */
void privileges_record(bool probes);

/* To read foreign files and to write outputs: no capability but those for files, and no system call
 * that is not about files. */
void privileges_render(void);
