// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/kernel_settings.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/log.h"

struct sampler {
    struct programs *programs;
    const struct bpf_program *program;
    const struct clock_event *clock;
    uint32_t frequency;
    uint64_t period;
    /* By CPU; NULL and -1 for a CPU that is not online. */
    struct bpf_link **links; /* the links own the clocks */
    int *clocks;
    pthread_mutex_t lock; /* guards users, and the state of the clocks */
    unsigned users;
};

struct sampler *sampler_new(struct programs *programs, const char *program,
                            const struct clock_event *clock, uint32_t frequency)
{
    struct sampler *sampler = xcalloc(1, sizeof(*sampler));

    sampler->programs = programs;
    sampler->clock = clock;
    sampler->frequency = frequency;
    sampler->program = programs_want(programs, program);
    pthread_mutex_init(&sampler->lock, NULL);
    return sampler;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    sampler_stop(sampler);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

/* Start the clock of a CPU. A CPU that is not online is skipped. */
static int start_on(struct sampler *sampler, int cpu, struct error *error)
{
    int fd = sample_clock_open(sampler->clock, cpu, sampler->period);

    if (fd < 0 && errno == ENODEV)
        return 0;
    if (fd < 0)
        return sample_clock_error(sampler->clock, error);
    sampler->links[cpu] = bpf_program__attach_perf_event(sampler->program, fd);
    if (sampler->links[cpu]) {
        sampler->clocks[cpu] = fd;
        return 0;
    }
    if (!descriptors_ran_out(errno, error))
        error_set(error, ERROR_FAILED, "the BPF program can't be attached to '%s': %s",
                  sampler->clock->name, strerror(errno));
    close(fd);
    return -1;
}

int sampler_start(struct sampler *sampler, struct error *error)
{
    int cpus = (int)programs_cpus(sampler->programs);

    if (sample_clock_period(sampler->clock, sampler->frequency, &sampler->period, error))
        return -1;
    log_decision("clock", "%s for %s: %u ticks a second on each CPU, one after %llu %s",
                 sampler->clock->name, bpf_program__name(sampler->program), sampler->frequency,
                 (unsigned long long)sampler->period,
                 event_clock_is_timer(sampler->clock->name) ? "ns"
                                                            : "counts, as measured on a busy CPU");
    sampler->links = xcalloc((size_t)cpus, sizeof(struct bpf_link *));
    sampler->clocks = xcalloc((size_t)cpus, sizeof(int));
    for (int cpu = 0; cpu < cpus; cpu++)
        sampler->clocks[cpu] = -1;
    for (int cpu = 0; cpu < cpus; cpu++)
        if (start_on(sampler, cpu, error))
            return -1;
    sampler->users = 1;
    return 0;
}

static void stop_on(struct sampler *sampler, int cpu)
{
    bpf_link__destroy(sampler->links[cpu]);
    sampler->links[cpu] = NULL;
    sampler->clocks[cpu] = -1;
}

static void follow(struct sampler *sampler, int cpu, bool is_online)
{
    struct error error;

    if (!is_online) {
        log_decision("clock", "CPU %d is offline", cpu);
        stop_on(sampler, cpu);
    } else if (start_on(sampler, cpu, &error)) {
        log_decision("clock", "CPU %d is online but can't be sampled: %s", cpu, error.text);
    } else if (sampler->clocks[cpu] >= 0) {
        log_decision("clock", "CPU %d is online and is sampled from now on", cpu);
        if (!sampler->users)
            ioctl(sampler->clocks[cpu], PERF_EVENT_IOC_DISABLE, 0);
    }
}

void sampler_follow_cpus(struct sampler *sampler)
{
    size_t cpus = programs_cpus(sampler->programs);
    bool *online = xcalloc(cpus, sizeof(*online));

    pthread_mutex_lock(&sampler->lock);
    if (sampler->links && cpus_online(online, cpus))
        for (size_t cpu = 0; cpu < cpus; cpu++)
            if (online[cpu] != (sampler->clocks[cpu] >= 0))
                follow(sampler, (int)cpu, online[cpu]);
    pthread_mutex_unlock(&sampler->lock);
    free(online);
}

void sampler_stop(struct sampler *sampler)
{
    for (int cpu = 0; sampler->links && cpu < (int)programs_cpus(sampler->programs); cpu++)
        bpf_link__destroy(sampler->links[cpu]);
    free(sampler->links);
    free(sampler->clocks);
    sampler->links = NULL;
    sampler->clocks = NULL;
}

static void switch_clocks(const struct sampler *sampler, unsigned long request)
{
    for (int cpu = 0; cpu < (int)programs_cpus(sampler->programs); cpu++)
        if (sampler->clocks[cpu] >= 0)
            ioctl(sampler->clocks[cpu], request, 0);
}

void sampler_want(struct sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    if (sampler->users++ == 0)
        switch_clocks(sampler, PERF_EVENT_IOC_ENABLE);
    pthread_mutex_unlock(&sampler->lock);
}

void sampler_unwant(struct sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    if (--sampler->users == 0)
        switch_clocks(sampler, PERF_EVENT_IOC_DISABLE);
    pthread_mutex_unlock(&sampler->lock);
}

uint64_t sampler_period(const struct sampler *sampler)
{
    return sampler->period;
}
