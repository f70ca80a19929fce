// SPDX-License-Identifier: Apache-2.0
/*
 * Reads bytes as a recording (libFuzzer).
 *
 *      clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/recording_fuzz.c
 */
#include "fuzz_recording.h"

#include "profile/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int show(void *context, const struct sample *sample, struct error *error)
{
    const struct view_frame *frames;

    (void)error;
    view_frames(context, view_of_sample(context, sample), &frames);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *profile = profile_new();
    struct view *view = view_new(profile, &(struct view_options){{{GROUP_NAME}}, true});
    struct recording *recording = fuzz_recording(data, size);
    struct error error;
    bool cut;

    if (recording && recording_read(recording, profile, show, view, &cut, &error))
        check(strstr(error.text, "byte ") != NULL);
    recording_close(recording);
    view_free(view);
    profile_free(profile);
    return 0;
}
