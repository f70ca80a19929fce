// SPDX-License-Identifier: Apache-2.0
/*
 * One of the outputs that output_write() makes at a time: a file of a format, and the samples that
 * it gets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "output/output.h"
#include "output/output_file.h"
#include "output/weight.h"

struct one_output {
    const struct output_format *format;
    const struct output_request *request;
    char *path;
    struct output_source source;
    struct weight weight; /* if the format holds one event */
    struct output_file file;
    bool begun;
    bool leaves_out; /* it has left out a sample */
    void *state;     /* NULL: not begun, or finished */
    size_t next;     /* of the same target, in the list of outputs, from 1; 0: none */
};

/* Open the file, and let the format begin. */
int one_output_begin(struct one_output *output, struct error *error);

/* Pass a sample to an output. `counted` is the sample with the change. An output of a format that
 * holds one event begins with the first sample that it gets. */
int one_output_pass(struct one_output *output, const struct sample *sample,
                    const struct sample *counted, struct error *error);
