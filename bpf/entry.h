// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The registers of user code at a tick that hit the kernel. A CPU's header defines:
 *
 *   entry_registers(scratch, task, sp)   fills the sample's registers and their flags; `sp` is the
 *                                        kernel's stack pointer at the tick
 */
#ifndef BEAMFLAME_ENTRY_H
#define BEAMFLAME_ENTRY_H

#if defined(__TARGET_ARCH_x86)
#include "entry_x86_64.h"
#else
#error "this CPU is not supported"
#endif

#endif
