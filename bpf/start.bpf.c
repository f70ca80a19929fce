// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Reports to user space that a process has executed a program that may be a VM. */
#include "sample.h"

/* Runs at each exec() of the host, so it checks the name only: beam.smp, or an emulator of another
 * type. VMs with other names are found by polling. */
SEC("raw_tracepoint/sched_process_exec")
int program_starts(struct bpf_raw_tracepoint_args *context)
{
    char name[16] = "";

    (void)context;
    if (bpf_get_current_comm(name, sizeof(name)))
        return 0;
    if (name[0] == 'b' && name[1] == 'e' && name[2] == 'a' && name[3] == 'm')
        sample_note_start(bpf_get_current_pid_tgid() >> 32);
    return 0;
}
