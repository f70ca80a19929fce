// SPDX-License-Identifier: Apache-2.0
#include "output/one_output.h"

#include <errno.h>
#include <string.h>

#include "output/formats.h"

int one_output_begin(struct one_output *output, struct error *error)
{
    if (output_file_open(&output->file, output->path, output->request->file, error))
        return -1;
    output->begun = true;
    output->state = output->format->begin(output->file.file, &output->source, error);
    return output->state ? 0 : output_file_prefix(output->path, error);
}

static int pass(struct one_output *output, const struct sample *sample, struct error *error)
{
    if (output->format->sample(output->state, sample, error))
        return output_file_prefix(output->path, error);
    if (!output->request->file && output_file_failed(&output->file))
        return error_set(error, ERROR_FAILED, "can't write %s: %s",
                         output->file.path ? output->file.path : "the output", strerror(errno));
    return 0;
}

/* True if an output of one event gets the sample (output_format.of_peers). */
static bool counts(const struct one_output *output, const struct sample *sample)
{
    if (sample->event != output->source.event)
        return false;
    return output->format->of_peers ? sample->peer != 0
                                    : sample_weight(&output->weight, sample) != 0;
}

int one_output_pass(struct one_output *output, const struct sample *sample,
                    const struct sample *counted, struct error *error)
{
    const struct output_format *format = output->format;

    if (!format->one_event)
        return pass(output, format->wants_changes ? counted : sample, error);
    if (!counts(output, counted))
        return 0;
    if (!format->lists_idle && idle_is_left_out(&output->source, counted)) {
        output->leaves_out = true;
        return 0;
    }
    if (!output->begun && one_output_begin(output, error))
        return -1;
    return pass(output, counted, error);
}
