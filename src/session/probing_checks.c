// SPDX-License-Identifier: Apache-2.0
#include "session/checks.h"

#include <time.h>
#include <unistd.h>

#include "capture/bpf_load.h"
#include "capture/breakpoint.h"
#include "capture/calibration.h"
#include "capture/event_kinds.h"
#include "capture/event_probes.h"
#include "capture/probe_safety.h"
#include "capture/programs.h"
#include "capture/sampler.h"

enum { HZ = 99, SAMPLED_MS = 100 };

/* Append an error of the kernel side. */
static void add_error(struct findings *findings, const char *check, const struct error *error)
{
    if (error->code == ERROR_PERMISSION)
        findings_missing(findings, check, error->code, "see 'capabilities' above", "%s",
                         error->text);
    else
        findings_missing(findings, check, ERROR_UNSUPPORTED,
                         error->code == ERROR_UNSUPPORTED
                             ? "docs/kernels.md lists kernels that work"
                             : "see the findings above",
                         "%s", error->text);
}

/* ---- CPU samples ---- */

static struct programs *programs_for(const struct clock_event *clock)
{
    const struct programs_options options = {
        .clock = clock,
        .frequency = HZ,
        .slots = 1,
        .histograms = 1,
    };

    return programs_new(&options);
}

/* Sample for a moment, and see if the program runs at ticks. */
static void check_ticks(struct findings *findings, struct programs *programs,
                        struct sampler *sampler, const struct clock_event *clock)
{
    const struct timespec moment = {.tv_nsec = SAMPLED_MS * 1000000L};
    const struct probe_site site = {.program = programs_want(programs, "sample_cpu")};
    int account = bpf_load_account();
    struct run_time ran;
    struct error error;

    if (sampler_start(sampler, &error)) {
        add_error(findings, "sampling clock", &error);
    } else {
        nanosleep(&moment, NULL);
        ran = bpf_load_run_time(&site, 1);
        if (account < 0)
            findings_ok(findings, "sampling clock", "%s", clock->name);
        else if (ran.runs == 0)
            findings_missing(findings, "sampling clock", ERROR_UNSUPPORTED,
                             "try another one (--clock)", "%s did not tick in %d ms", clock->name,
                             SAMPLED_MS);
        else
            findings_ok(findings, "sampling clock", "%s ticked %llu times in %d ms on %u CPUs",
                        clock->name, (unsigned long long)ran.runs, SAMPLED_MS,
                        programs_cpus(programs));
        sampler_stop(sampler);
    }
    if (account >= 0)
        close(account);
}

static void check_cpu_samples(struct findings *findings)
{
    const struct clock_event *clock = sample_clock_default();
    struct programs *programs = programs_for(clock);
    struct sampler *sampler = NULL;
    struct error error;

    if (programs_open(programs, &error) == 0) {
        sampler = sampler_new(programs, "sample_cpu", clock, HZ);
        if (programs_load(programs, &error) == 0) {
            findings_ok(findings, "BPF program of samples", "loaded");
            check_ticks(findings, programs, sampler, clock);
            sampler_free(sampler);
            programs_free(programs);
            return;
        }
    }
    add_error(findings, "BPF program of samples", &error);
    sampler_free(sampler);
    programs_free(programs);
}

static void check_cycles(struct findings *findings)
{
    bool is_guest = sample_clock_under_hypervisor();
    uint64_t period;
    struct error error;
    const struct clock_event *cycles = sample_clock_find("cycles", &error);
    int result = cycles ? sample_clock_period(cycles, HZ, &period, &error) : -1;

    if (result == 0 && is_guest)
        findings_ok(findings, "PMU",
                    "counts cycles, but in a virtual machine it interrupts late: "
                    "--clock cpu-clock, the default, is better");
    else if (result == 0)
        findings_ok(findings, "PMU", "counts cycles: --clock cycles works");
    else if (error.code == ERROR_UNSUPPORTED)
        findings_ok(findings, "PMU",
                    "none that counts cycles: --clock cpu-clock, the default, "
                    "does not need one");
    else
        findings_warning(findings, "PMU", "see 'capabilities' above", "%s", error.text);
    findings_ok(findings, "hypervisor", "%s",
                is_guest ? "runs this machine: probes that the kernel must step over cost more"
                         : "none");
}

/* ---- probes ---- */

static void check_uprobes(struct findings *findings, struct probing *probing)
{
    struct calibration calibration;
    struct error error;

    probing->works = calibrate(&calibration, &error) == 0;
    if (!probing->works) {
        add_error(findings, "probes", &error);
        return;
    }
    probing->way = calibration.way;
    findings_ok(findings, "probes", "work, by %s",
                probing->way == PROBE_MULTI ? "uprobe_multi" : "perf events");
    findings_ok(findings, "cost of a hit",
                "%.0f ns; %.0f ns where the kernel must step over the "
                "instruction; %.0f ns more at a return",
                calibration.trap_ns[TRAP_EMULATED], calibration.trap_ns[TRAP_STEPPED],
                calibration.return_ns);
}

/* Load the programs of all events, prepared for the way of attaching that works. */
static void check_event_programs(struct findings *findings, const struct probing *probing)
{
    struct programs *programs = programs_for(sample_clock_default());
    struct event_request request;
    struct error error;
    bool loaded = false;

    if (programs_open(programs, &error) == 0) {
        for (const char *const *name = event_kind_list(); *name; name++) {
            if (event_kinds_parse_request(*name, event_kind_names(), &request, &error))
                continue;
            event_kind_want(programs, request.kind, probing->way);
            if (request.kind->tick)
                programs_want(programs, request.kind->tick);
        }
        loaded = programs_load(programs, &error) == 0;
    }
    if (loaded)
        findings_ok(findings, "BPF programs of events", "loaded");
    else
        add_error(findings, "BPF programs of events", &error);
    programs_free(programs);
}

static void check_nop5(struct findings *findings, const struct probing *probing)
{
    static const char check[] = "probes on 5-byte nops";
    static const char advice[] =
        "none needed for gc, alloc, sched and msg; for other probes use another kernel";
    struct nop5_trial trial;
    struct error error;

    if (probe_safety_try_nop5(probing->way, &trial, &error))
        findings_warning(findings, check, advice, "could not be tried, and are refused: %s",
                         error.text);
    else if (probe_safety_nop5_is_harmless(&trial))
        findings_ok(findings, check, "harmless");
    else
        findings_warning(findings, check, advice,
                         "this kernel overwrites the stack of a program at such a probe: beamflame "
                         "refuses them");
}

static void check_breakpoints(struct findings *findings)
{
    static const char check[] = "hardware breakpoints";
    struct error error;

    if (breakpoint_try(&error) == 0)
        findings_ok(findings, check, "work: calls can be counted");
    else if (error.code == ERROR_UNSUPPORTED)
        findings_warning(findings, check,
                         "only `calls` and events `call:` need them: count on another host", "%s",
                         error.text);
    else
        add_error(findings, check, &error);
}

void probing_checks(struct findings *findings, struct probing *probing)
{
    *probing = (struct probing){.way = PROBE_PERF};
    check_cpu_samples(findings);
    check_cycles(findings);
    check_uprobes(findings, probing);
    if (!probing->works)
        return;
    check_breakpoints(findings);
    check_event_programs(findings, probing);
    check_nop5(findings, probing);
}
