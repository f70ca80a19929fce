// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* A minimal program, to measure what a hit costs without its program
 * (src/capture/calibration.h). */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 hits;
__u64 cookies; /* their sum */

SEC("uprobe")
int count_hit(void *ctx)
{
    __sync_fetch_and_add(&hits, 1);
    __sync_fetch_and_add(&cookies, bpf_get_attach_cookie(ctx));
    return 0;
}
