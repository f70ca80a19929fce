// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beam/layout.h"
#include "cli/command_line.h"
#include "cli/message.h"
#include "native/debug_fetch.h"
#include "native/debug_file.h"
#include "native/native_inlined.h"
#include "util/memory_limit.h"
#include "view/selection.h"

static int add_include(void *target, char *pattern, struct error *error)
{
    return selection_add_pattern(&((struct selection_options *)target)->include, pattern, error);
}

static int add_exclude(void *target, char *pattern, struct error *error)
{
    return selection_add_pattern(&((struct selection_options *)target)->exclude, pattern, error);
}

static int add_statuses(void *target, char *names, struct error *error)
{
    return selection_add_statuses(target, names, error);
}

static int add_process(void *target, char *who, struct error *error)
{
    return selection_add_process(&((struct selection_options *)target)->processes, who, error);
}

static int add_node(void *target, char *who, struct error *error)
{
    return selection_add_node(target, who, error);
}

static int add_children(void *target, char *who, struct error *error)
{
    return selection_add_process(&((struct selection_options *)target)->children_of, who, error);
}

static int add_descendants(void *target, char *who, struct error *error)
{
    return selection_add_process(&((struct selection_options *)target)->descendants_of, who, error);
}

static int add_trace(void *target, char *id, struct error *error)
{
    return selection_add_trace(target, id, error);
}

static int add_span(void *target, char *id, struct error *error)
{
    return selection_add_span(target, id, error);
}

static int set_from(void *target, char *text, struct error *error)
{
    double seconds;

    if (option_seconds_or_0("--from", text, &seconds, error))
        return -1;
    ((struct selection_options *)target)->from_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static int set_to(void *target, char *text, struct error *error)
{
    struct selection_options *options = target;
    double seconds;

    if (option_seconds_or_0("--to", text, &seconds, error))
        return -1;
    options->to_ns = (uint64_t)(seconds * 1e9);
    options->has_end = true;
    return 0;
}

const struct command_option selection_option_list[] = {
    {"node", 0, "NODE",
     "Select this node, if there are several. NODE is its name, with or without the host, or "
     "the pid of its VM. May be repeated.",
     add_node, NULL},
    {"process", 0, "WHO",
     "Select this process. WHO is its pid (<0.N.S>), registered name, label or initial call "
     "(m:f/a); m:_ selects all processes whose initial call is in module m. May be repeated.",
     add_process, NULL},
    {"descendants-of", 0, "WHO",
     "Select all processes below this one, such as a supervisor. May be repeated.", add_descendants,
     NULL},
    {"children-of", 0, "WHO",
     "Select the processes that this one spawned, or that name it first in $ancestors. May be "
     "repeated.",
     add_children, NULL},
    {"status", 0, "STATUS,...",
     "Select processes in one of these states: running, runnable, waiting, idle, blocked, "
     "suspended, exiting, garbage_collecting, free. Idle processes wait for any message in their "
     "main loop, blocked ones inside a call. waiting selects idle, blocked, and all other waiting "
     "processes.",
     add_statuses, NULL},
    {"include", 'I', "REGEX",
     "Select stacks with a frame that matches this extended regular expression. Root frames "
     "count. If given more than once, one match suffices.",
     add_include, NULL},
    {"exclude", 'X', "REGEX", "Leave out stacks with a frame that matches. May be repeated.",
     add_exclude, NULL},
    {0},
};

const struct command_option time_option_list[] = {
    {"from", 0, "SEC", "Leave out samples before second SEC of the recording.", set_from, NULL},
    {"to", 0, "SEC", "Leave out samples from second SEC of the recording on.", set_to, NULL},
    {0},
};

const struct command_option trace_option_list[] = {
    {"trace", 0, "ID",
     "Select samples of processes that worked for this trace of OpenTelemetry. ID has 32 "
     "hexadecimal digits. May be repeated.",
     add_trace, NULL},
    {"span", 0, "ID",
     "Select samples of this span of a trace. ID has 16 hexadecimal digits. May be repeated.",
     add_span, NULL},
    {0},
};

int shared_options_check_selection(const struct selection_options *options, struct error *error)
{
    if (options->has_end && options->to_ns <= options->from_ns)
        return error_set(error, ERROR_USAGE, "there is no time between --from and --to");
    return 0;
}

void shared_options_free_output(struct output_options *options)
{
    selection_options_free(&options->settings.selection);
    free(options->events);
}

static int add_output(void *target, char *path, struct error *error)
{
    struct output_options *options = target;

    if (!path[0])
        return error_set(error, ERROR_USAGE, "-o needs a file name");
    if (options->count == OUTPUTS_MAX)
        return error_set(error, ERROR_USAGE, "at most %d outputs can be written at once",
                         OUTPUTS_MAX);
    options->requests[options->count++] =
        (struct output_request){.path = path, .format = options->next_format};
    options->next_format = NULL;
    return 0;
}

static int set_format(void *target, char *name, struct error *error)
{
    struct output_options *options = target;

    if (options->next_format)
        return error_set(error, ERROR_USAGE, "--format is given twice for one -o");
    options->next_format = output_format_named(name);
    if (!options->next_format)
        return error_set(error, ERROR_USAGE, "there is no format '%s'; the formats are: %s", name,
                         output_format_names());
    return 0;
}

static int set_group_by(void *target, char *keys, struct error *error)
{
    return grouping_parse(keys, &((struct output_options *)target)->settings.view.grouping, error);
}

const struct command_option output_option_list[] = {
    {"output", 'o', "FILE",
     "Write FILE; - is standard output. The suffix of the name chooses the format. May be "
     "repeated.",
     add_output, output_format_suffixes},
    {"format", 0, "FORMAT",
     "Write the next -o in this format, whatever its name. With a single -o, --format may come "
     "before or after it.",
     set_format, output_format_names},
    {0},
};

const struct command_option compared_output_option_list[] = {
    {"output", 'o', "FILE",
     "Write FILE; - is standard output. .html is a page, .txt is text, .folded is folded stacks "
     "with two weights. May be repeated.",
     add_output, NULL},
    {"format", 0, "FORMAT",
     "Write the next -o in this format, whatever its name: html, text or folded.", set_format,
     NULL},
    {0},
};

const struct command_option stats_option_list[] = {
    {"stats", 0, "FILE", "Write what was counted to FILE, as one JSON object.", option_set_text,
     NULL, offsetof(struct output_options, stats_path)},
    {"quiet", 'q', NULL, "Print nothing but errors.", option_set_true, NULL,
     offsetof(struct output_options, quiet)},
    {0},
};

static int set_max_memory(void *target, char *text, struct error *error)
{
    uint64_t bytes;

    (void)target;
    if (option_bytes("--max-memory", text, &bytes, error))
        return -1;
    if (bytes < MEMORY_LIMIT_LEAST)
        return error_set(error, ERROR_USAGE, "--max-memory must be %llu MB or more, not '%s'",
                         (unsigned long long)MEMORY_LIMIT_LEAST >> 20, text);
    memory_limit_set(bytes);
    return 0;
}

const struct command_option memory_option_list[] = {
    {"max-memory", 0, "BYTES",
     "Take at most this much memory: bytes, or a number with k, M or G. The default is 256M. "
     "Beyond it, new stacks lose their callers, and new processes are counted as one.",
     set_max_memory, NULL},
    {0},
};

static int add_symbols(void *target, char *path, struct error *error)
{
    (void)target;
    return debug_fetch_is_server(path) ? debug_fetch_add_servers(path, error)
                                       : debug_file_add_place(path, error);
}

static int add_local_symbols(void *target, char *path, struct error *error)
{
    (void)target;
    if (debug_fetch_is_server(path))
        return error_set(
            error, ERROR_USAGE,
            "only record fetches debug files: fetch them by 'debuginfod-find debuginfo "
            "BUILD-ID', and use --symbols ~/.cache/debuginfod_client");
    return debug_file_add_place(path, error);
}

static int enable_inlined(void *target, char *text, struct error *error)
{
    (void)target;
    (void)text;
    (void)error;
    native_inlined_enable();
    return 0;
}

#define FROM_DEBUG_FILES                                                                           \
    "Take the names of C functions, and the places of probes that the VM's own file does not "     \
    "name, from this debug file, or from debug files in this directory: by build id, or by the "   \
    "name that a stripped file has for its debug file. "

const struct command_option symbols_option_list[] = {
    {"symbols", 0, "PATH|URL",
     FROM_DEBUG_FILES "Or fetch debug files from this server of debuginfod while recording; "
                      "debuginfod: from those in DEBUGINFOD_URLS. May be repeated.",
     add_symbols, NULL},
    {0},
};

const struct command_option local_symbols_option_list[] = {
    {"symbols", 0, "PATH", FROM_DEBUG_FILES "May be repeated.", add_local_symbols, NULL},
    {0},
};

const struct command_option inline_option_list[] = {
    {"inline", 0, NULL,
     "Show functions that the compiler inlined as frames, and lines of C code, where there is "
     "debug information (DWARF).",
     enable_inlined, NULL},
    {0},
};

static int set_max_depth(void *target, char *text, struct error *error)
{
    struct view_options *view = &((struct output_options *)target)->settings.view;
    long depth;

    if (option_number("the depth of stacks", text, MAX_DEPTH_LEAST, UINT16_MAX, &depth, error))
        return -1;
    view->max_depth = (uint32_t)depth;
    return 0;
}

const struct command_option view_option_list[] = {
    {"group-by", 0, "KEY,...",
     "Group stacks by these keys: each adds a root frame, the first key at the root. The default "
     "is name.",
     set_group_by, grouping_key_names},
    {"fold-recursion", 0, NULL, "Show a run of frames of one function as one frame.",
     option_set_true, NULL, offsetof(struct output_options, settings.view.fold_recursion)},
    {"max-depth", 0, "FRAMES",
     "Show at most this many frames of a stack: the middle of deeper ones is cut out. Pages, JSON "
     "and recordings keep whole stacks.",
     set_max_depth, NULL},
    {"idle", 0, NULL,
     "Also show idle processes, which wait for any message in their main loop, in graphs and "
     "tables of event wall. By default they are left out, unless --status selects them.",
     option_set_true, NULL, offsetof(struct output_options, settings.idle)},
    {0},
};

static int set_summary(void *target, char *name, struct error *error)
{
    struct output_options *options = target;

    options->full_summary = !strcmp(name, "full");
    if (options->full_summary || !strcmp(name, "short"))
        return 0;
    return error_set(error, ERROR_USAGE, "--summary must be short or full, not '%s'", name);
}

static const char *summary_names(void)
{
    return "short, full";
}

const struct command_option summary_option_list[] = {
    {"summary", 0, "short|full",
     "Print a summary with the first rows of its tables (short, the default), or with more rows, "
     "histograms, run queues and each scheduler (full).",
     set_summary, summary_names, 0},
    {0},
};

static int set_labels(void *target, char *name, struct error *error)
{
    struct output_settings *settings = &((struct output_options *)target)->settings;

    settings->no_labels = strcmp(name, "all") != 0;
    settings->no_traces = !strcmp(name, "none");
    if (!settings->no_labels || settings->no_traces || !strcmp(name, "trace"))
        return 0;
    return error_set(error, ERROR_USAGE, "--labels must be all, trace or none, not '%s'", name);
}

static const char *labels_names(void)
{
    return "all, trace, none";
}

const struct command_option label_option_list[] = {
    {"labels", 0, "all|trace|none",
     "Write these labels of samples to .pb and .otlp. The default is all. trace leaves out the "
     "process, its status and its scheduler, because services make a series of each set of "
     "labels. none leaves out spans of traces too.",
     set_labels, labels_names, 0},
    {"timestamps", 0, NULL, "Write the time of each sample to .otlp. Elastic needs it.",
     option_set_true, NULL, offsetof(struct output_options, settings.timestamps)},
    {0},
};

static int check_request(const struct output_options *options, struct output_request *request,
                         struct error *error)
{
    const struct output_format *format =
        request->format ? request->format : output_format_of(request->path);

    if (!format)
        return error_set(error, ERROR_USAGE,
                         "the name '%s' does not end in the suffix of a format; the suffixes are: "
                         "%s; or choose a format with --format",
                         request->path, output_format_suffixes());
    if (!options->compares)
        return 0;
    if (!format->comparing)
        return error_set(error, ERROR_USAGE,
                         "%s: a comparison can be written as .html, .txt or .folded",
                         request->path);
    request->format = format->comparing;
    return 0;
}

bool shared_options_use_standard_output(const struct output_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (!strcmp(options->requests[i].path, "-"))
            return true;
    return options->stats_path && !strcmp(options->stats_path, "-");
}

int shared_options_check_output(struct output_options *options, struct error *error)
{
    if (options->next_format && options->count == 1 && !options->requests[0].format) {
        options->requests[0].format = options->next_format;
        options->next_format = NULL;
    }
    if (options->next_format)
        return error_set(error, ERROR_USAGE, "--format %s needs an -o after it",
                         options->next_format->name);
    for (size_t i = 0; i < options->count; i++)
        if (check_request(options, &options->requests[i], error))
            return -1;
    options->terminal =
        terminal_of(shared_options_use_standard_output(options) ? STDERR_FILENO : STDOUT_FILENO);
    return 0;
}

static int add_name_key(void *target, char *text, struct error *error)
{
    return name_keys_add(target, text, error);
}

const struct command_option name_option_list[] = {
    {"name-by", 0, "KEY[/ELEMENT]",
     "Label processes by this key of their dictionary: an atom or a text as Erlang or Elixir "
     "writes it. ELEMENT is the position in a tuple, counted from 1, or a key of a map. If several "
     "--name-by "
     "are given, the first key that the process has is used.",
     add_name_key, NULL},
    {0},
};

static int set_release(void *target, char *text, struct error *error)
{
    long release;

    if (option_number("--assume-release", text, OLDEST_RELEASE, NEWEST_RELEASE, &release, error))
        return -1;
    *(int *)target = (int)release;
    return 0;
}

const struct command_option release_option_list[] = {
    {"assume-release", 0, "N",
     "Treat a VM of a newer OTP release than the known ones as release N. The layout of the VM is "
     "checked as always, but results may be wrong.",
     set_release, NULL},
    {0},
};

void shared_options_warn_release(const struct vm *vm)
{
    char text[256];

    vm_assumption(vm, text, sizeof(text));
    if (text[0])
        message_warning("%s", text);
}
