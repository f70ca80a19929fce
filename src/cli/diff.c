// SPDX-License-Identifier: Apache-2.0
/* `beamflame diff`: compares two recordings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "input/input.h"
#include "output/weight.h"
#include "profile/alike_frames.h"
#include "profile/events.h"
#include "recording/recording_join.h"

/* The gap between the two recordings on the time axis. It is wide enough to be visible on a page,
 * where a column is a second. */
static const uint64_t GAP_NS = 5000000000;

/* One of the two recordings, as read. */
struct side {
    const char *path;
    int fd; /* reads it from its start; -1: none */
    struct recording *recording;
    struct profile *profile;
    uint64_t last; /* time of its newest sample */
};

static int take_time(void *context, const struct sample *sample, struct error *error)
{
    struct side *side = context;

    (void)error;
    side->last = sample->time;
    return 0;
}

/* Read the recording in a file completely, because its totals are at its end. Takes over `file`. */
static int open_side(struct side *side, const char *path, int file, struct error *error)
{
    bool cut;
    int fd;

    side->path = path;
    side->profile = profile_new();
    side->fd = input_open(file, path, temporary_directory(), error);
    if (side->fd < 0)
        return -1;
    fd = dup(side->fd);
    side->recording = fd < 0 ? NULL : recording_open(fd, path, error);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "can't read '%s': %s", path, strerror(errno));
    if (!side->recording ||
        recording_read(side->recording, side->profile, take_time, side, &cut, error))
        return -1;
    lseek(side->fd, 0, SEEK_SET);
    return 0;
}

static void close_side(struct side *side)
{
    if (side->fd >= 0)
        close(side->fd);
    recording_close(side->recording);
    profile_free(side->profile);
}

/* ---- the event to compare ---- */

/* The first event that both recordings have, for use if none is requested. */
static const char *common_event(const struct side sides[2])
{
    const struct profile *profile = sides[0].profile;

    for (event_id id = 1; id <= profile_counts(profile).events; id++) {
        const char *name = profile_text(profile, profile_get_event(profile, id)->name);

        if (event_find(sides[1].profile, name))
            return name;
    }
    return NULL;
}

static int check_side(const struct side *side, const struct output_settings *settings,
                      struct error *error)
{
    event_id event;

    if (!weight_select(side->profile, settings->event, settings->value, settings->change, &event,
                       error))
        return 0;
    return error_prefix(error, "%s", side->path);
}

static int choose_event(const struct side sides[2], struct output_settings *settings,
                        struct error *error)
{
    bool is_event = settings->value && event_find(sides[0].profile, settings->value);

    if (!settings->event)
        settings->event = is_event ? settings->value : common_event(sides);
    if (!settings->event)
        return error_set(error, ERROR_FAILED,
                         "%s and %s have no event in common, so they can't be compared",
                         sides[0].path, sides[1].path);
    return check_side(&sides[0], settings, error) || check_side(&sides[1], settings, error) ? -1
                                                                                            : 0;
}

/* One side of the comparison. `after`: its start in the joined recording, ns. */
static struct comparison_side compared_side(const struct side *side, uint64_t after)
{
    struct comparison_side compared = {
        .name = side->path,
        .header = *recording_get_header(side->recording),
        .totals = *recording_get_totals(side->recording),
        .recording = side->recording,
        .profile = side->profile,
        .from_ms = after / 1000000,
    };

    /* A recording that was cut has samples after its totals. */
    if (compared.totals.end_monotonic <= side->last)
        compared.totals.end_monotonic = side->last + 1;
    compared.to_ms = compared.from_ms + comparison_recording_ms(&compared.header, &compared.totals);
    return compared;
}

/* True if the length is known. Folded stacks have no times. */
static bool has_length(const struct comparison_side *side)
{
    return side->to_ms - side->from_ms > 1;
}

static void check_lengths(struct comparison *comparison)
{
    for (int i = 0; i < 2 && comparison->per == PER_TIME; i++) {
        if (has_length(&comparison->sides[i]))
            continue;
        message_warning("the duration of %s is not known, so neither recording is scaled; "
                        "--normalize total compares shares",
                        comparison->sides[i].name);
        comparison->per = PER_NONE;
    }
}

/* ---- both recordings as one ---- */

/* Join both recordings. Takes over both descriptors. Returns one that reads the result. */
static int join_sides(struct side sides[2], const struct alike_frames *alike, uint64_t starts[2],
                      struct error *error)
{
    const struct join_part parts[] = {{sides[0].fd, sides[0].path}, {sides[1].fd, sides[1].path}};
    const struct join_options options = {
        .order = JOIN_IN_TURN, .gap_ns = GAP_NS, .alike = alike, .starts = starts};
    int fd = recording_writer_file(NULL, temporary_directory(), error), joined;

    if (fd < 0)
        return -1;
    sides[0].fd = sides[1].fd = -1;
    if (!recording_join(parts, 2, &options, fd, &joined, error))
        return joined;
    if (joined >= 0)
        close(joined);
    return -1;
}

static int compare_sides(struct side sides[2], const struct diff_options *options,
                         struct error *error, int *ret_code)
{
    struct output_options output = options->report.output;
    struct comparison comparison = {
        .per = options->per,
        .sort = options->sort,
        .of_all_events = !output.settings.event && !output.settings.value,
    };
    struct alike_frames *alike;
    uint64_t starts[2];
    int fd;

    if (choose_event(sides, &output.settings, error))
        return -1;
    alike = alike_frames_find(sides[0].profile, sides[1].profile);
    fd = join_sides(sides, alike, starts, error);
    alike_frames_free(alike);
    if (fd < 0)
        return -1;
    comparison.sides[0] = compared_side(&sides[0], 0);
    comparison.sides[1] = compared_side(&sides[1], starts[1] - starts[0]);
    check_lengths(&comparison);
    output.settings.comparison = &comparison;
    *ret_code = render(fd, "both recordings", &output);
    return 0;
}

/* ---- the command ---- */

static int diff(void *context)
{
    const struct diff_options *options = context;
    struct side sides[2] = {{.fd = -1}, {.fd = -1}};
    struct error error;
    int *files = render_take_inputs(&options->report, &error);
    int code = 0, result = files ? 0 : -1;

    for (int i = 0; !result && i < 2; i++)
        result = open_side(&sides[i], options->report.paths[i], files[i], &error);
    if (!result)
        result = compare_sides(sides, options, &error, &code);
    if (result)
        code = message_error(&error);
    close_side(&sides[0]);
    close_side(&sides[1]);
    free(files);
    return code;
}

static int run(int argc, char **argv)
{
    struct diff_options options = {
        .report.output = {.settings.view.grouping = {{GROUP_NAME}}, .compares = true},
    };
    int result;

    if (command_line_parse(&diff_command, argc, argv, &options, &result)) {
        signals_end_program();
        result = render_files(&options.report, diff, &options);
    }
    report_options_free(&options.report);
    return result;
}

const struct command diff_command = {
    .name = "diff",
    .arguments = "A B",
    .summary = "compare two recordings",
    .description =
        "Show what has grown or shrunk from recording A to recording B. Without -o, print "
        "text. A and B can be anything that 'beamflame report' reads.",
    .groups = diff_option_groups,
    .examples = "beamflame diff old.bfr new.bfr\n"
                "beamflame diff old.bfr new.bfr --normalize total -o x.html\n",
    .notes = report_options_notes,
    .take_arguments = report_options_take_diff,
    .check = report_options_check_diff,
    .run = run,
};
