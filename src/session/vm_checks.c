// SPDX-License-Identifier: Apache-2.0
#include "session/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "beam/code.h"
#include "hooks/hooks.h"
#include "beam/vm.h"
#include "capture/event_sites.h"
#include "capture/probe_safety.h"
#include "os/capabilities.h"
#include "native/native_code.h"
#include "native/debug_file.h"
#include "native/memory.h"
#include "native/native_symbols.h"
#include "os/probe_holder.h"
#include "os/process.h"
#include "session/findings.h"
#include "util/buffer.h"

/* Checks that the code of a VM equals its files, apart from probes that are attached now. */

enum { SHOWN = 16 }; /* changes that are listed */

/* The changes as text: "beam.smp+0x1a2b: 55 is cc". */
struct change_list {
    struct buffer text;
    int count;
};

static void append_bytes(struct buffer *text, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < CODE_CHANGE_BYTES; i++)
        buffer_format(text, "%s%02x", i ? " " : "", bytes[i]);
    if (size > CODE_CHANGE_BYTES)
        buffer_text(text, "...");
}

static void note(void *context, const struct code_change *change)
{
    struct change_list *list = context;
    const char *slash = strrchr(change->path, '/');

    if (list->count++ >= SHOWN)
        return;
    buffer_format(&list->text, "%s%s+0x%llx has ", list->count > 1 ? ", " : "",
                  slash ? slash + 1 : change->path, (unsigned long long)change->file_offset);
    append_bytes(&list->text, change->in_memory, change->size);
    buffer_text(&list->text, " for ");
    append_bytes(&list->text, change->in_file, change->size);
}

static int compare(pid_t pid, struct memory *memory, struct change_list *list,
                   struct code_comparison *comparison, struct error *error)
{
    struct mappings *mappings = mappings_new(pid, memory, error);

    if (!mappings)
        return -1;
    buffer_free(&list->text);
    list->count = 0;
    *comparison = code_changes_compare(mappings, memory, note, list);
    buffer_byte(&list->text, '\0');
    mappings_free(mappings);
    return 0;
}

static void add_changes(struct findings *findings, const char *check, pid_t pid,
                        const struct change_list *list, const struct code_comparison *comparison)
{
    unsigned long long changes = comparison->changes, breakpoints = comparison->breakpoints;
    const char *more = changes > SHOWN ? ", ..." : "";
    char name[16];
    pid_t holder = probe_holder(pid, name, sizeof(name));

    if (holder)
        findings_warning(findings, check, "run this again when no profiler runs",
                         "%llu runs of bytes differ from their files; process %d (%s) may have "
                         "probes attached: %s%s",
                         changes, (int)holder, name, list->text.data, more);
    else if (breakpoints == changes)
        findings_warning(findings, check,
                         "harmless; recording the same events again removes it, and so does the "
                         "end of the node (docs/safety.md)",
                         "%llu breakpoints are left over: %s%s", breakpoints, list->text.data,
                         more);
    else
        findings_warning(findings, check,
                         "find what has changed them (breakpoints are cc); a restart of the node "
                         "removes the changes",
                         "%llu runs of bytes differ from their files, %llu by a breakpoint: %s%s",
                         changes, breakpoints, list->text.data, more);
}

static void code_check(struct findings *findings, const char *check, pid_t pid,
                       struct memory *memory)
{
    struct code_comparison comparison;
    struct change_list list = {0};
    struct error error;
    int result = compare(pid, memory, &list, &comparison, &error);

    /* Code that was loaded or unloaded meanwhile looks like a change. */
    if (result == 0 && comparison.changes)
        result = compare(pid, memory, &list, &comparison, &error);
    if (result)
        findings_warning(findings, check, "see the findings above", "not compared: %s", error.text);
    else if (comparison.changes)
        add_changes(findings, check, pid, &list, &comparison);
    else if (comparison.left_out || comparison.unread || !comparison.files)
        findings_warning(findings, check, "run as root",
                         "%d mappings equal their files; %d files can't be opened, %llu bytes "
                         "can't be read",
                         comparison.files, comparison.left_out,
                         (unsigned long long)comparison.unread);
    else
        findings_ok(findings, check, "equals its %d files (%llu KB)", comparison.files,
                    (unsigned long long)(comparison.bytes >> 10));
    buffer_free(&list.text);
}

/* The name of a check: "vm 4711 gc". */
struct subject {
    char text[64];
};

static struct subject subject(pid_t pid, const char *what)
{
    struct subject made;

    snprintf(made.text, sizeof(made.text), "vm %d%s%s", (int)pid, *what ? " " : "", what);
    return made;
}

/* ---- the VM ---- */

static const char *advice_for(const struct error *error)
{
    switch (error->code) {
    case ERROR_NO_PROCESS:
        return "'beamflame ps' lists the VMs of this host";
    case ERROR_PERMISSION:
        return "see 'capabilities' above";
    default:
        return "README.md, 'What it needs', has the VMs that are supported";
    }
}

static void add_error(struct findings *findings, const char *check, const struct error *error)
{
    enum error_code code = error->code == ERROR_FAILED ? ERROR_UNSUPPORTED : error->code;

    findings_missing(findings, check, code, advice_for(error), "%s", error->text);
}

static void check_release(struct findings *findings, struct vm *vm)
{
    char node[256], assumption[256];

    vm_node_name(vm, node, sizeof(node));
    vm_assumption(vm, assumption, sizeof(assumption));
    findings_ok(findings, subject(vm->pid, "").text, "%s: OTP %d, erts %s, %s, %u schedulers", node,
                vm->build.otp_release, vm->build.erts, vm->build.jit ? "JIT" : "interpreter",
                vm->scheduler_counts[VM_SCHEDULER_NORMAL]);
    if (assumption[0])
        findings_warning(findings, subject(vm->pid, "release").text, "update beamflame", "%s",
                         assumption);
    findings_ok(findings, subject(vm->pid, "layout").text, "%s; checked on the running VM",
                vm->layout_from_dwarf ? "from its debug information"
                                      : "from the table of its release");
}

static void check_frames(struct findings *findings, struct vm *vm)
{
    static const char *const texts[] = {
        [VM_FRAMES_RA] = "return addresses",
        [VM_FRAMES_FP] = "return addresses and frame pointers (+JPperf)",
    };
    enum vm_frames frames = vm_frames(vm);

    if (frames != VM_FRAMES_UNKNOWN)
        findings_ok(findings, subject(vm->pid, "frames").text, "%s", texts[frames]);
}

static void check_symbols(struct findings *findings, struct vm *vm)
{
    const struct subject check = subject(vm->pid, "symbols");
    struct error error;
    struct elf_file *file = vm_executable(vm, &error);
    enum native_symbols_source source;
    char advice[512];

    if (!file) {
        add_error(findings, check.text, &error);
        return;
    }
    source = native_symbols_source(file);
    if (source != NATIVE_SYMBOLS_EXPORTED) {
        findings_ok(findings, check.text, "%s", native_symbols_source_text(source));
        return;
    }
    debug_file_advice(file, advice, sizeof(advice));
    findings_warning(findings, check.text, advice,
                     "%s is stripped: C functions that it does not export show as "
                     "beam.smp+0xOFFSET",
                     vm->executable);
}

/* ---- events ---- */

static void add_places(struct findings *findings, const char *check,
                       const struct event_places *places)
{
    struct buffer list = {0};

    for (int i = 0; i < places->count; i++) {
        const struct event_place *place = &places->of[i];
        const char *function = place->site->by == PLACE_BY_HOOK ? hook_function(place->site->hook)
                                                                : place->site->symbol;

        buffer_format(&list, "%s%s%s (%s)", i ? ", " : "", function,
                      place->site->is_return ? " return" : "", place->way);
    }
    buffer_byte(&list, '\0');
    findings_ok(findings, check, "%d probes: %s", places->count, list.data);
    buffer_free(&list);
}

static void check_events(struct findings *findings, const struct event_target *target)
{
    struct event_request request;
    struct event_places places;
    struct error error;

    for (const char *const *name = event_kind_list(); *name; name++) {
        const struct subject check = subject(target->vm->pid, *name);

        if (event_kinds_parse_request(*name, event_kind_names(), &request, &error) ||
            event_sites_find(target, &request, &places, &error))
            findings_warning(findings, check.text, "record other events; report this VM's build",
                             "%s", error.text);
        else
            add_places(findings, check.text, &places);
    }
}

static void check_code_and_events(struct findings *findings, struct vm *vm,
                                  const struct probing *probing)
{
    struct error error;
    struct code *code = code_new(vm, &error);
    struct hooks *hooks = code ? hooks_new(vm, code, &error) : NULL;
    const struct event_target target = {.vm = vm, .hooks = hooks, .way = probing->way};

    if (hooks)
        check_events(findings, &target);
    else
        add_error(findings, subject(vm->pid, "code").text, &error);
    hooks_free(hooks);
    code_free(code);
}

static void check_seccomp(struct findings *findings, pid_t pid, const struct probing *probing)
{
    static const struct probe_site at_return = {.path = "", .is_return = true};
    const struct subject check = subject(pid, "seccomp");
    struct error error;

    if (!process_filters_calls(pid))
        findings_ok(findings, check.text, "no filter of system calls");
    else if (!probing->works)
        findings_warning(findings, check.text, "see 'probes' above",
                         "it filters its system calls; probes at return could not be tried");
    else if (probe_safety_check_returns(probing->way, pid, &at_return, 1, &error))
        findings_warning(findings, check.text,
                         "record events without probes at return (cpu, wall, sched, msg), or use "
                         "Linux 6.14 or later",
                         "%s", error.text);
    else
        findings_ok(findings, check.text,
                    "it filters its system calls; probes at return are harmless here");
}

static void check_container(struct findings *findings, pid_t pid)
{
    char id[80];

    process_container(pid, id, sizeof(id));
    findings_ok(findings, subject(pid, "container").text, "%s", id[0] ? id : "none");
}

void vm_checks(struct findings *findings, pid_t pid, int assumed_release,
               const struct probing *probing)
{
    struct error error;
    struct vm *vm = vm_open(pid, assumed_release, &error);

    if (!vm) {
        add_error(findings, subject(pid, "").text, &error);
        return;
    }
    check_release(findings, vm);
    check_frames(findings, vm);
    check_symbols(findings, vm);
    check_code_and_events(findings, vm, probing);
    check_seccomp(findings, pid, probing);
    check_container(findings, pid);
    code_check(findings, subject(pid, "code in memory").text, pid, vm->memory);
    if (vm_check_held(vm, &error))
        add_error(findings, subject(pid, "").text, &error);
    vm_close(vm);
}

/* ---- every VM ---- */

/* Return true if the VM has not ended meanwhile; else there is no finding. */
static bool check_if_it_lives(struct findings *findings, pid_t pid, int assumed_release,
                              const struct probing *probing)
{
    size_t before = findings->count;

    vm_checks(findings, pid, assumed_release, probing);
    if (process_exists(pid))
        return true;
    findings_cut(findings, before);
    return false;
}

/* No VM was found among the processes that may be read. */
static void check_that_none_is_hidden(struct findings *findings, size_t not_permitted)
{
    static const char check[] = "VMs";
    char missing[160];

    capabilities_missing(CAPABILITIES_TO_READ, missing, sizeof(missing));
    if (not_permitted && !capabilities_are_the_hosts())
        findings_missing(findings, check, ERROR_PERMISSION, "run as root of the host",
                         "none is visible; root of a user namespace may not read %zu processes "
                         "outside of it",
                         not_permitted);
    else if (not_permitted && missing[0])
        findings_missing(findings, check, ERROR_PERMISSION, "run as root",
                         "none is visible; %zu processes may not be read without %s", not_permitted,
                         missing);
    else if (!process_numbers_are_the_hosts())
        findings_ok(findings, check, "none runs in this pid namespace");
    else
        findings_ok(findings, check, "none runs on this host");
}

void vm_checks_all(struct findings *findings, int assumed_release, const struct probing *probing)
{
    size_t count = 0, vms = 0, not_permitted = 0;
    struct error error;
    pid_t *pids = process_list(&count, &error);
    struct build build;

    for (size_t i = 0; pids && i < count; i++) {
        int identified = vm_identify(pids[i], &build, &error);

        if (identified == 1) {
            vms += check_if_it_lives(findings, pids[i], assumed_release, probing);
        } else if (identified < 0 && error.code == ERROR_PERMISSION) {
            not_permitted++;
        }
    }
    if (!vms)
        check_that_none_is_hidden(findings, not_permitted);
    free(pids);
}
