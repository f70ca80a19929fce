// SPDX-License-Identifier: Apache-2.0
#include "capture/run_time.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

int run_time_account(void)
{
    int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

    return fd < 0 ? -1 : fd;
}

static bool is_first_of_program(const struct probe_site *sites, int i)
{
    for (int j = 0; j < i; j++) {
        if (sites[j].program == sites[i].program)
            return false;
    }
    return true;
}

struct run_time run_time_of(const struct probe_site *sites, int count)
{
    struct run_time sum = {0};

    for (int i = 0; i < count; i++) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (!is_first_of_program(sites, i) ||
            bpf_obj_get_info_by_fd(bpf_program__fd(sites[i].program), &info, &size))
            continue;
        sum.runs += info.run_cnt;
        sum.ns += info.run_time_ns;
    }
    return sum;
}
