// SPDX-License-Identifier: Apache-2.0
#include "capture/run_time.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

int run_time_account(void)
{
    int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

    return fd < 0 ? -1 : fd;
}

struct run_time run_time_of(const struct bpf_program *program)
{
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof(info);

    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
        return (struct run_time){0};
    return (struct run_time){.runs = info.run_cnt, .ns = info.run_time_ns};
}
