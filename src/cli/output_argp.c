// SPDX-License-Identifier: Apache-2.0
#include "cli/output_argp.h"

enum { OPTION_STATS = 640, OPTION_FORMAT, OPTION_GROUP_BY, OPTION_FOLD_RECURSION };

static const struct argp_option output_option_list[] = {
    {"output", 'o', "FILE", 0,
     "Write FILE (- is standard output), in the format of its name: .bfr, .perf, .folded, .svg, "
     ".html, .speedscope.json, .callgrind, .pb.gz, .otlp, .json, .txt, .dot; may be repeated",
     10},
    {"format", OPTION_FORMAT, "FORMAT", 0, "Format of the next -o, whatever its name", 10},
    {"stats", OPTION_STATS, "FILE", 0, "Write what was counted, as JSON", 10},
    {"group-by", OPTION_GROUP_BY, "KEY,...", 0,
     "Root frames, the outermost first: none, name (default), pid, status, scheduler, "
     "initial_call, label, application, ancestors (a frame each), node, memory, msgq",
     11},
    {"fold-recursion", OPTION_FOLD_RECURSION, 0, 0, "Show runs of one function as one frame", 11},
    {"quiet", 'q', 0, 0, "Print nothing but errors", 12},
    {0},
};

static void add_output(struct argp_state *state, struct output_parser *parser, const char *path)
{
    struct output_options *options = parser->options;
    const struct output_format *format =
        parser->next_format ? parser->next_format : output_format_of(path);

    if (!path[0])
        argp_error(state, "-o needs a file name");
    if (options->count == OUTPUTS_MAX)
        argp_error(state, "at most %d outputs", OUTPUTS_MAX);
    if (!format)
        argp_error(state, "the name '%s' does not say a format; there are: %s (or use --format)",
                   path, output_format_names());
    else if (options->compares && !format->comparing)
        argp_error(state, "%s: a comparison can be written as .html, .txt or .folded", path);
    else if (options->compares)
        parser->next_format = format->comparing;
    options->requests[options->count++] =
        (struct output_request){.path = path, .format = parser->next_format};
    parser->next_format = NULL;
}

static void set_format(struct argp_state *state, struct output_parser *parser, const char *name)
{
    parser->next_format = output_format_named(name);
    if (!parser->next_format)
        argp_error(state, "there is no format '%s'; there are: %s", name, output_format_names());
}

static void set_group_by(struct argp_state *state, struct view_options *view, const char *keys)
{
    struct error error;

    if (grouping_parse(keys, &view->grouping, &error))
        argp_error(state, "%s", error.text);
}

static error_t parse_output_option(int key, char *arg, struct argp_state *state)
{
    struct output_parser *parser = state->input;

    switch (key) {
    case 'o':
        add_output(state, parser, arg);
        return 0;
    case OPTION_FORMAT:
        set_format(state, parser, arg);
        return 0;
    case OPTION_STATS:
        parser->options->stats_path = arg;
        return 0;
    case OPTION_GROUP_BY:
        set_group_by(state, &parser->options->settings.view, arg);
        return 0;
    case OPTION_FOLD_RECURSION:
        parser->options->settings.view.fold_recursion = true;
        return 0;
    case 'q':
        parser->options->quiet = true;
        return 0;
    case ARGP_KEY_END:
        if (parser->next_format)
            argp_error(state, "--format needs an -o after it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp output_argp = {.options = output_option_list, .parser = parse_output_option};
