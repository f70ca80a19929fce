// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Messages of the BPF programs, in a build with `make BPF_DEBUG=1` only. */
#ifndef BEAMFLAME_DEBUG_H
#define BEAMFLAME_DEBUG_H

#include <bpf/bpf_helpers.h>

/* Say why a program gives up: a format of bpf_printk(), with at most three numbers. */
#ifdef BEAMFLAME_BPF_DEBUG
#define debug_print(...) bpf_printk(__VA_ARGS__)
#else
#define debug_print(...) ((void)0)
#endif

#endif
