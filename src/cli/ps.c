// SPDX-License-Identifier: Apache-2.0
/* `beamflame ps`: the Erlang VMs of this host, in all of its containers. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/vm.h"
#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/verbose.h"
#include "os/capabilities.h"
#include "os/child.h"
#include "os/privileges.h"
#include "os/process.h"
#include "output/json/json.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/log.h"
#include "util/utf8.h"

enum { ARGUMENTS_SHOWN = 120 }; /* bytes in the table */

/* One VM, or an OS process that seems to be one and can't be read. */
struct ps_row {
    pid_t pid;
    struct build build; /* release 0: unknown */
    char node[1024];
    char container[80];
    char user[40]; /* a name, or the number of a user without one; "": not known */
    int64_t age;   /* s; -1: not known */
    char *command; /* to be freed; NULL: not known */
    enum vm_frames frames;
    const char *layout;
    uint32_t schedulers[3];
    uint32_t processes;
    int64_t run_queue; /* -1: unknown */
    bool stopped;      /* by a signal or a debugger */
    struct error error;
};

struct ps_options {
    bool json;
    int assumed_release;
};

struct ps_rows {
    struct ps_row *all;
    size_t count;
    size_t not_permitted; /* OS processes that may not be read, and may be VMs */
};

/* True if an OS process whose executable may not be read seems to be a VM, and so gets a line. */
static bool looks_like_vm(pid_t pid)
{
    size_t size;
    char *arguments = process_arguments(pid, &size);
    const char *slash = arguments ? strrchr(arguments, '/') : NULL;
    bool looks = arguments && strncmp(slash ? slash + 1 : arguments, "beam", 4) == 0;

    free(arguments);
    return looks;
}

static bool is_kernel_thread(pid_t pid)
{
    size_t size = 0;
    char *arguments = process_arguments(pid, &size);

    free(arguments);
    return size == 0;
}

/* ---- the OS process ---- */

/* The command line, to be freed; NULL if it is not known. Whoever has the cookie can run code in
 * the node, so its value is left out. */
static char *command_line(pid_t pid)
{
    size_t size;
    char *arguments = process_arguments(pid, &size);
    struct buffer line = {0};
    bool is_secret = false;

    if (!arguments)
        return NULL;
    for (const char *at = arguments; at < arguments + size; at += strlen(at) + 1) {
        if (line.size)
            buffer_byte(&line, ' ');
        buffer_text(&line, is_secret ? "***" : at);
        is_secret = !strcmp(at, "-setcookie");
    }
    buffer_byte(&line, '\0');
    free(arguments);
    return line.data;
}

static void describe_process(struct ps_row *row)
{
    const struct passwd *user;
    uint64_t age;
    uid_t uid;

    process_container(row->pid, row->container, sizeof(row->container));
    row->command = command_line(row->pid);
    row->stopped = process_is_stopped(row->pid);
    if (process_age(row->pid, &age))
        row->age = (int64_t)age;
    if (!process_user(row->pid, &uid))
        return;
    user = getpwuid(uid);
    if (user)
        snprintf(row->user, sizeof(row->user), "%s", user->pw_name);
    else
        snprintf(row->user, sizeof(row->user), "%u", (unsigned int)uid);
}

static void describe(struct ps_row *row, int assumed_release)
{
    struct vm *vm = vm_open(row->pid, assumed_release, &row->error);

    if (!vm)
        return;
    shared_options_warn_release(vm);
    vm_node_name(vm, row->node, sizeof(row->node));
    row->build = vm->build;
    row->frames = vm_frames(vm);
    row->layout = vm_layout_source(vm);
    memcpy(row->schedulers, vm->scheduler_counts, sizeof(row->schedulers));
    row->processes = vm_process_count(vm);
    row->run_queue = vm_run_queue_length(vm);
    vm_check_held(vm, &row->error);
    vm_close(vm);
}

/* Fill *row if the OS process is a VM, or seems to be one that may not be read. */
static bool look_at(pid_t pid, int assumed_release, struct ps_rows *rows, struct ps_row *row)
{
    struct error error = {0};
    int identified;

    *row = (struct ps_row){.pid = pid, .run_queue = -1, .age = -1};
    identified = vm_identify(pid, &row->build, &error);
    if (identified < 0 && error.code == ERROR_PERMISSION && !is_kernel_thread(pid)) {
        rows->not_permitted++;
        row->error = error;
        log_decision("ps", "process %d: %s", pid, error.text);
        return looks_like_vm(pid);
    }
    if (identified < 0 && error.code == ERROR_UNSUPPORTED) {
        row->error = error;
        return looks_like_vm(pid);
    }
    if (identified != 1) {
        log_detail("ps", "process %d is not a VM: %s", pid,
                   identified ? error.text : "its executable has no banner of the VM");
        return false;
    }
    describe(row, assumed_release);
    if (row->error.code)
        log_decision("ps", "process %d: %s", pid, row->error.text);
    if (row->error.code == ERROR_PERMISSION)
        rows->not_permitted++;
    return row->error.code != ERROR_NO_PROCESS; /* else it ended meanwhile */
}

static int collect(int assumed_release, struct ps_rows *rows, struct error *error)
{
    size_t count;
    pid_t *pids = process_list(&count, error);

    if (!pids)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct ps_row row;

        if (!look_at(pids[i], assumed_release, rows, &row))
            continue;
        describe_process(&row);
        rows->all = xreallocarray(rows->all, rows->count + 1, sizeof(*rows->all));
        rows->all[rows->count++] = row;
    }
    free(pids);
    return 0;
}

static const char *flavor(const struct ps_row *row)
{
    return row->build.jit ? "jit" : "emu";
}

static const char *libc(const struct ps_row *row)
{
    static const char *const names[] = {
        [LIBC_UNKNOWN] = "-",
        [LIBC_GLIBC] = "glibc",
        [LIBC_MUSL] = "musl",
    };

    return names[row->build.libc];
}

static const char *state(const struct ps_row *row)
{
    return row->stopped ? "stopped" : "running";
}

static const char *frames(const struct ps_row *row)
{
    static const char *const names[] = {
        [VM_FRAMES_UNKNOWN] = "-",
        [VM_FRAMES_RA] = "ra",
        [VM_FRAMES_FP] = "fp",
    };

    return names[row->frames];
}

/* "12 s", "5 min", "7 h", "41 d". */
static void age_text(int64_t age, char *text, size_t size)
{
    static const int64_t MINUTE = 60, HOUR = 3600, DAY = 86400;

    if (age < 0)
        snprintf(text, size, "-");
    else if (age < 2 * MINUTE)
        snprintf(text, size, "%lld s", (long long)age);
    else if (age < 2 * HOUR)
        snprintf(text, size, "%lld min", (long long)(age / MINUTE));
    else if (age < 2 * DAY)
        snprintf(text, size, "%lld h", (long long)(age / HOUR));
    else
        snprintf(text, size, "%lld d", (long long)(age / DAY));
}

static const char *or_dash(const char *text)
{
    return text && text[0] ? text : "-";
}

/* The arguments that the user gave to `erl` or to a release. `erlexec` puts its own arguments
 * before them, each group behind "--" (erts/etc/common/erlexec.c, main(); OTP 27.3.4.1). */
static const char *own_arguments(const char *command)
{
    const char *own = or_dash(command);

    for (const char *dashes = own; (dashes = strstr(dashes, " -- ")); own = dashes)
        dashes += 4;
    return own;
}

static void print_table_row(const struct ps_row *row)
{
    char release[16] = "-", queue[24] = "-", age[32];

    age_text(row->age, age, sizeof(age));
    if (row->build.otp_release)
        snprintf(release, sizeof(release), "%d", row->build.otp_release);
    if (row->run_queue >= 0)
        snprintf(queue, sizeof(queue), "%lld", (long long)row->run_queue);
    if (row->error.code)
        message_print("%7d %-10s %7s %-7s %-30s %3s %-10s %s", row->pid, or_dash(row->user), age,
                      state(row), "-", release, or_dash(row->build.erts), row->error.text);
    else
        message_print("%7d %-10s %7s %-7s %-30s %3s %-10s %-6s %-5s %-6s %5u %7u %4s %-12s %.*s",
                      row->pid, or_dash(row->user), age, state(row), or_dash(row->node), release,
                      row->build.erts, flavor(row), libc(row), frames(row), row->schedulers[0],
                      row->processes, queue, or_dash(row->container), ARGUMENTS_SHOWN,
                      own_arguments(row->command));
}

static void print_table(const struct ps_rows *rows)
{
    message_print("%7s %-10s %7s %-7s %-30s %3s %-10s %-6s %-5s %-6s %5s %7s %4s %-12s %s", "PID",
                  "USER", "AGE", "STATE", "NODE", "OTP", "ERTS", "FLAVOR", "LIBC", "FRAMES",
                  "SCHED", "PROCS", "RUNQ", "CONTAINER", "ARGUMENTS");
    for (size_t i = 0; i < rows->count; i++)
        print_table_row(&rows->all[i]);
}

/* Report the VMs that do not run, whatever their numbers say. */
static void report_stopped(const struct ps_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->all[i].stopped)
            message_warning(PROCESS_IS_STOPPED, (int)rows->all[i].pid);
}

static void put_clean(struct json *json, const char *key, const char *text)
{
    char *clean = utf8_clean_string(text);

    json_text(json, key, clean);
    free(clean);
}

static void put_build(struct json *json, const struct ps_row *row)
{
    char release[16];

    snprintf(release, sizeof(release), "%d", row->build.otp_release);
    json_text(json, "otp_release", release);
    put_clean(json, "erts", row->build.erts);
    json_text(json, "flavor", flavor(row));
    if (row->build.libc != LIBC_UNKNOWN)
        json_text(json, "libc", libc(row));
}

static void put_vm(struct json *json, const struct ps_row *row)
{
    put_clean(json, "node", row->node);
    json_text(json, "frames", frames(row));
    json_text(json, "layout", row->layout);
    json_number(json, "schedulers", row->schedulers[0]);
    json_number(json, "dirty_cpu_schedulers", row->schedulers[1]);
    json_number(json, "dirty_io_schedulers", row->schedulers[2]);
    json_number(json, "processes", row->processes);
    if (row->run_queue >= 0)
        json_number(json, "run_queue", (uint64_t)row->run_queue);
}

static void put_process(struct json *json, const struct ps_row *row)
{
    put_clean(json, "container", row->container);
    if (row->user[0])
        put_clean(json, "user", row->user);
    if (row->age >= 0)
        json_number(json, "age_s", (uint64_t)row->age);
    if (row->command)
        put_clean(json, "command", row->command);
    json_bool(json, "stopped", row->stopped);
}

static void print_json(const struct ps_rows *rows)
{
    struct json json = {stdout};

    json_open_lines(&json, NULL, '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct ps_row *row = &rows->all[i];

        json_open(&json, NULL, '{');
        json_number(&json, "pid", (uint64_t)row->pid);
        if (row->build.otp_release)
            put_build(&json, row);
        if (row->error.code)
            put_clean(&json, "error", row->error.text);
        else
            put_vm(&json, row);
        put_process(&json, row);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    message_print("%s", "");
}

/* Return the exit code. Not even root in a container may read all OS processes. That is an error
 * only if a VM was missed. */
static int report_permission(const struct ps_rows *rows)
{
    struct error error;
    bool missed;

    if (process_others_are_hidden()) {
        error_set(&error, ERROR_PERMISSION, PROCESSES_ARE_HIDDEN);
        return message_error(&error);
    }
    missed = rows->count == 0 && rows->not_permitted > 0 && capabilities_may_hide_processes();
    for (size_t i = 0; i < rows->count; i++)
        missed |= rows->all[i].error.code == ERROR_PERMISSION;
    if (!missed)
        return 0;
    capabilities_refused(CAPABILITIES_TO_READ, &error, "examine %zu processes",
                         rows->not_permitted);
    return message_error(&error);
}

static int list(const struct ps_options *options, struct error *error)
{
    struct ps_rows rows = {0};
    int result;

    if (child_check_room(error) || collect(options->assumed_release, &rows, error))
        return message_error(error);
    if (options->json)
        print_json(&rows);
    else
        print_table(&rows);
    result = message_finish("the list");
    if (!result) {
        report_stopped(&rows);
        if (rows.count == 0 && !process_numbers_are_the_hosts())
            message_say("only processes of this container are visible: to see others, run "
                        "beamflame in the %s",
                        PROCESS_NUMBERS_OF_HOST);
        result = report_permission(&rows);
    }
    for (size_t i = 0; i < rows.count; i++)
        free(rows.all[i].command);
    free(rows.all);
    return result;
}

static int run(int argc, char **argv)
{
    struct error error;
    struct ps_options options = {0};
    int result;

    if (command_line_parse(&ps_command, argc, argv, &options, &result)) {
        privileges_observe();
        result = list(&options, &error);
    }
    return result;
}

static const struct command_option option_list[] = {
    {"json", 'j', NULL, "Print a JSON array with one object for each VM.", option_set_true, NULL,
     offsetof(struct ps_options, json)},
    {0},
};

static const struct option_group groups[] = {
    {"Options", option_list, 0},
    {RELEASE_OPTION_TITLE, release_option_list, offsetof(struct ps_options, assumed_release)},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command ps_command = {
    .name = "ps",
    .summary = "list the Erlang VMs of this host, in every container",
    .description = "List the Erlang VMs of this host, in every container: process id, user, age, "
                   "state, node name, release, schedulers, processes, run queue and "
                   "arguments (without the cookie).",
    .groups = groups,
    .run = run,
};
