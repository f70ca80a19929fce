// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"

struct sampler {
    struct programs *programs;
    const struct bpf_program *program;
    const struct clock_event *clock;
    uint32_t frequency;
    uint64_t period;
    struct bpf_link **links; /* by CPU */
};

struct sampler *sampler_new(struct programs *programs, const char *program,
                            const struct clock_event *clock, uint32_t frequency)
{
    struct sampler *sampler = xcalloc(1, sizeof(*sampler));

    sampler->programs = programs;
    sampler->clock = clock;
    sampler->frequency = frequency;
    sampler->program = programs_want(programs, program);
    return sampler;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    sampler_stop(sampler);
    free(sampler);
}

/* A CPU that is not online is left out. */
static int start_on(struct sampler *sampler, int cpu, struct error *error)
{
    int fd = clock_event_open(sampler->clock, cpu, sampler->period);

    if (fd < 0 && errno == ENODEV)
        return 0;
    if (fd < 0)
        return clock_event_error(sampler->clock, error);
    sampler->links[cpu] = bpf_program__attach_perf_event(sampler->program, fd);
    if (sampler->links[cpu])
        return 0;
    error_set(error, ERROR_FAILED, "the BPF program can't be attached to '%s': %s",
              sampler->clock->name, strerror(errno));
    close(fd);
    return -1;
}

int sampler_start(struct sampler *sampler, struct error *error)
{
    int cpus = (int)programs_cpus(sampler->programs);

    if (clock_event_period(sampler->clock, sampler->frequency, &sampler->period, error))
        return -1;
    sampler->links = xcalloc((size_t)cpus, sizeof(struct bpf_link *));
    for (int cpu = 0; cpu < cpus; cpu++)
        if (start_on(sampler, cpu, error))
            return -1;
    return 0;
}

void sampler_stop(struct sampler *sampler)
{
    for (int cpu = 0; sampler->links && cpu < (int)programs_cpus(sampler->programs); cpu++)
        bpf_link__destroy(sampler->links[cpu]);
    free(sampler->links);
    sampler->links = NULL;
}

uint64_t sampler_period(const struct sampler *sampler)
{
    return sampler->period;
}
