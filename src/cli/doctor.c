// SPDX-License-Identifier: Apache-2.0
/* `beamflame doctor`: checks this machine and its VMs, and says how to fix what fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/verbose.h"
#include "os/privileges.h"
#include "output/json/json.h"
#include "session/checks.h"
#include "session/findings.h"
#include "util/utf8.h"

struct doctor_options {
    pid_t pid; /* 0: every VM */
    bool json;
    int assumed_release; /* 0: a VM of an unknown release is not supported */
};

static const struct command_option option_list[] = {
    {"pid", 'p', "PID", "Check the VM with this process id. The default is every VM of the host.",
     option_set_pid, NULL, offsetof(struct doctor_options, pid)},
    {"json", 'j', NULL, "Print JSON.", option_set_true, NULL,
     offsetof(struct doctor_options, json)},
    {0},
};

static void put_line(const struct finding *finding, int width)
{
    message_print("%-8s %-*s  %s%s%s", finding_status_name(finding->status), width, finding->check,
                  finding->found, *finding->advice ? " -> " : "", finding->advice);
}

static void put_lines(const struct findings *findings)
{
    int width = 0;

    for (size_t i = 0; i < findings->count; i++)
        if (width < (int)strlen(findings->all[i].check))
            width = (int)strlen(findings->all[i].check);
    for (size_t i = 0; i < findings->count; i++)
        put_line(&findings->all[i], width);
}

static void put_json(const struct findings *findings)
{
    struct json json = {stdout};

    json_open_lines(&json, NULL, '[');
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->all[i];
        char *found = utf8_clean_string(finding->found);

        json_open(&json, NULL, '{');
        json_text(&json, "check", finding->check);
        json_text(&json, "status", finding_status_name(finding->status));
        json_text(&json, "found", found);
        json_text(&json, "advice", finding->advice);
        json_close(&json, '}');
        free(found);
    }
    json_close(&json, ']');
    message_print("%s", "");
}

/* Returns the exit code. */
static int print(const struct findings *findings, bool json)
{
    int failed;

    (json ? put_json : put_lines)(findings);
    failed = message_finish("the findings");
    return failed ? failed : (int)findings_worst(findings);
}

static int run(int argc, char **argv)
{
    struct doctor_options options = {0};
    struct findings findings = {0};
    struct probing probing;
    int result;

    if (!command_line_parse(&doctor_command, argc, argv, &options, &result))
        return result;
    privileges_observe();
    machine_checks(&findings);
    probing_checks(&findings, &probing);
    if (options.pid)
        vm_checks(&findings, options.pid, options.assumed_release, &probing);
    else
        vm_checks_all(&findings, options.assumed_release, &probing);
    result = print(&findings, options.json);
    findings_free(&findings);
    return result;
}

static const struct option_group groups[] = {
    {"Options", option_list, 0},
    {"", local_symbols_option_list, 0},
    {RELEASE_OPTION_TITLE, release_option_list, offsetof(struct doctor_options, assumed_release)},
    VERBOSE_OPTION_GROUP,
    {0},
};

const struct command doctor_command = {
    .name = "doctor",
    .summary = "check this machine and its VMs, and say how to fix what fails",
    .description = "Check this machine and its VMs: one line for each check, with what was found "
                   "and, where it is not ok, what to do. The exit code is 0 if nothing is missing; "
                   "1 if no helper process can be started; 3 if PID is not an Erlang VM; 4 if a "
                   "permission is missing; 5 if the kernel or the VM is not supported. If "
                   "several apply, it is the highest. Warnings count as 0.",
    .groups = groups,
    .examples = "beamflame doctor\n"
                "beamflame doctor -p PID\n"
                "beamflame doctor --json\n",
    .run = run,
};
