// SPDX-License-Identifier: Apache-2.0
/* `beamflame doctor`: what works on this machine and for its VMs, and what would make the rest
 * work. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/values.h"
#include "session/findings.h"
#include "session/machine_checks.h"
#include "session/probing_checks.h"
#include "session/vm_checks.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/utf8.h"

struct doctor_options {
    pid_t pid; /* 0: every VM */
    bool json;
};

static int set_pid(void *target, char *text, struct error *error)
{
    return value_pid(text, &((struct doctor_options *)target)->pid, error);
}

static int set_json(void *target, char *argument, struct error *error)
{
    (void)argument;
    (void)error;
    ((struct doctor_options *)target)->json = true;
    return 0;
}

static const struct command_option option_list[] = {
    {"pid", 'p', "PID", "Check the VM with this process id. The default is every VM of the host.",
     set_pid, NULL},
    {"json", 0, NULL, "Print JSON.", set_json, NULL},
    {0},
};

/* The text without control characters, malloc'ed: names of files and nodes are in it. */
static char *clean(const char *text)
{
    char *made = xmalloc(3 * strlen(text) + 1);

    made[utf8_clean(made, text, strlen(text))] = '\0';
    return made;
}

static void put_line(struct buffer *out, const struct finding *finding, int width)
{
    char *found = clean(finding->found);

    buffer_format(out, "%-8s %-*s  %s%s%s\n", finding_status_name(finding->status), width,
                  finding->check, found, *finding->advice ? " -> " : "", finding->advice);
    free(found);
}

static void put_lines(struct buffer *out, const struct findings *findings)
{
    int width = 0;

    for (size_t i = 0; i < findings->count; i++)
        if (width < (int)strlen(findings->all[i].check))
            width = (int)strlen(findings->all[i].check);
    for (size_t i = 0; i < findings->count; i++)
        put_line(out, &findings->all[i], width);
}

static void put_json_string(struct buffer *out, const char *name, const char *text)
{
    char *made = clean(text);

    buffer_format(out, "\"%s\":\"", name);
    for (const char *at = made; *at; at++) {
        if (*at == '"' || *at == '\\')
            buffer_byte(out, '\\');
        buffer_byte(out, *at);
    }
    buffer_byte(out, '"');
    free(made);
}

static void put_json(struct buffer *out, const struct findings *findings)
{
    buffer_byte(out, '[');
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->all[i];

        buffer_text(out, i ? ",\n {" : "{");
        put_json_string(out, "check", finding->check);
        buffer_byte(out, ',');
        put_json_string(out, "status", finding_status_name(finding->status));
        buffer_byte(out, ',');
        put_json_string(out, "found", finding->found);
        buffer_byte(out, ',');
        put_json_string(out, "advice", finding->advice);
        buffer_byte(out, '}');
    }
    buffer_text(out, "]\n");
}

/* Returns the exit code. */
static int print(const struct findings *findings, bool json)
{
    struct buffer out = {0};
    struct error error;
    bool written;

    (json ? put_json : put_lines)(&out, findings);
    written = fwrite(out.data, 1, out.size, stdout) == out.size && fflush(stdout) == 0;
    buffer_free(&out);
    if (written)
        return (int)findings_worst(findings);
    error_set(&error, ERROR_FAILED, "can't write the findings: %s", strerror(errno));
    return message_error(&error);
}

static int run(int argc, char **argv)
{
    struct doctor_options options = {0};
    struct findings findings = {0};
    struct probing probing;
    int result;

    if (!command_line_parse(&doctor_command, argc, argv, &options, &result))
        return result;
    machine_checks(&findings);
    probing_checks(&findings, &probing);
    if (options.pid)
        vm_checks(&findings, options.pid, &probing);
    else
        vm_checks_all(&findings, &probing);
    result = print(&findings, options.json);
    findings_free(&findings);
    return result;
}

static const struct option_group groups[] = {{"Options", option_list, 0}, {0}};

const struct command doctor_command = {
    .name = "doctor",
    .summary = "say what works on this machine, and what would make the rest work",
    .description = "Check this machine and its VMs: one line for each check, with what was found "
                   "and, where it is not ok, what to do. The exit code is that of the worst "
                   "finding; warnings count as 0.",
    .groups = groups,
    .examples = "beamflame doctor\n"
                "beamflame doctor -p PID\n"
                "beamflame doctor --json\n",
    .run = run,
};
