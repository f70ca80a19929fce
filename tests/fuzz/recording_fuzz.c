// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a recording (libFuzzer).
 *
 *      clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/recording_fuzz.c
 */
#include "fuzz_recording.h"

#include "view/selection.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct shower {
    struct view *view;
    struct selection *selection;
};

static int show(void *context, const struct sample *sample, struct error *error)
{
    const struct shower *shower = context;
    const struct view_frame *frames;

    (void)error;
    view_frames(shower->view, view_of_sample(shower->view, sample), &frames);
    selection_wants(shower->selection, sample);
    return 0;
}

/* The choice selects the view. */
static struct view *new_view(const struct profile *profile, uint8_t choice)
{
    static const char *const keys[] = {"name", "application,ancestors,pid,node",
                                       "status,initial_call,label,scheduler"};
    struct view_options options = {.fold_recursion = true};
    struct error error;

    check(!grouping_parse(keys[choice % 3], &options.grouping, &error));
    return view_new(profile, &options);
}

static void make_options(struct selection_options *options)
{
    struct error error;

    *options = (struct selection_options){.to_ns = 1000, .has_end = true};
    check(!selection_add_pattern(&options->include, "a", &error));
    check(!selection_add_process(&options->processes, "a:_", &error));
    check(!selection_add_process(&options->children_of, "a", &error));
    check(!selection_add_process(&options->descendants_of, "a", &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *profile = profile_new();
    struct view *view = new_view(profile, fuzz_choice(data, size));
    struct recording *recording = fuzz_recording(data, size);
    struct selection_options options;
    struct shower shower = {.view = view};
    struct error error;
    bool cut;

    make_options(&options);
    shower.selection = selection_new(&options, profile, view, 0);
    if (recording && recording_read(recording, profile, show, &shower, &cut, &error))
        check(strstr(error.text, "byte ") != NULL);
    recording_close(recording);
    selection_free(shower.selection);
    selection_options_free(&options);
    view_free(view);
    profile_free(profile);
    return 0;
}
