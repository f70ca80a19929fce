// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a recording, and write it in every format (libFuzzer).
 *
 *      clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/output_fuzz.c
 */
#include "fuzz_recording.h"

#include "output/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each format is written on its own, because a format for one event is refused if there are
 * several. */
static void write_format(const struct output_format *format, const struct comparison *comparison,
                         const uint8_t *data, size_t size)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}},
                                             .comparison = comparison};
    struct recording *recording = fuzz_recording(data, size);
    FILE *file = fopen("/dev/null", "w");
    struct output_request request = {.path = "fuzz", .format = format, .file = file};
    struct output_result result;
    struct error error;

    check(file != NULL);
    if (recording && !output_write(recording, &settings, &request, 1, &result, &error))
        output_result_free(&result);
    recording_close(recording);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct output_format *const formats[] = {
        &perf_format,    &folded_format,     &svg_format,        &dot_format,       &bfr_format,
        &summary_format, &stats_json_format, &speedscope_format, &callgrind_format, &html_format,
        &pprof_format,   &otlp_format,       &json_format,       &text_format,
    };
    const struct recording_header header = {
        .event = "", .hostname = "", .kernel = "", .command = "", .version = "", .trigger = ""};
    const struct comparison comparison = {
        .sides = {{.name = "a", .header = header, .to_ms = 1},
                  {.name = "b", .header = header, .from_ms = 1}},
    };

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        write_format(formats[i], NULL, data, size);
        if (formats[i]->comparing)
            write_format(formats[i]->comparing, &comparison, data, size);
    }
    return 0;
}
