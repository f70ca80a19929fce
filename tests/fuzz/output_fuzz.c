// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a recording, and write it in a format, or in two at once (libFuzzer). The low bits
 * of the choice select the format, the others the settings.
 *
 *      clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/output_fuzz.c
 */
#include "fuzz_recording.h"

#include "output/formats.h"
#include "output/prof/prof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct output_format *const formats[16] = {
    &perf_format, &folded_format,    &svg_format,        &dot_format,
    &text_format, &summary_format,   &stats_json_format, &speedscope_format,
    &html_format, &callgrind_format, &pprof_format,      &otlp_format,
    &json_format, &fprof_format,     &flame_prof_format, &prof_format,
};

/* Tables of each form, for each type, in total and by process. */
static const struct prof_options *prof_of(uint8_t choice)
{
    static struct prof_options options;

    options = (struct prof_options){
        .form = (enum prof_form)(choice >> 6),
        .per = choice & 16 ? PROF_PER_PROCESS : PROF_PER_TOTAL,
        .type = !(choice & 32) ? PROF_COUNT
                : choice & 64  ? PROF_TIME
                               : PROF_MEMORY,
        .sort = (enum prof_sort)(choice >> 4 & 3),
    };
    return &options;
}

/* Formats that hold one event are refused if there are several and none is selected. */
static struct output_settings settings_of(const struct output_format *format, uint8_t choice)
{
    static const char *const keys[] = {"name", "node,application,ancestors,pid",
                                       "status,initial_call,label,scheduler,memory", "name"};
    static const char *const events[] = {"cpu", "sched", "gc", "msg"};
    struct output_settings settings = {0};
    unsigned variant = choice >> 6;
    struct error error;

    check(!grouping_parse(keys[variant], &settings.view.grouping, &error));
    settings.view.fold_recursion = variant == 1;
    if (format->one_event)
        settings.event = events[variant];
    if (variant == 3 && format->one_event)
        settings.value = "memory";
    settings.change = settings.value;
    settings.prof = prof_of(choice);
    return settings;
}

/* Write the formats that are not NULL. */
static void write_formats(const struct output_format *const wanted[2],
                          const struct output_settings *settings, const uint8_t *data, size_t size)
{
    struct recording *recording = fuzz_recording(data, size);
    FILE *file = fopen("/dev/null", "w");
    struct output_request requests[] = {{.path = "fuzz", .format = wanted[0], .file = file},
                                        {.path = "fuzz", .format = wanted[1], .file = file}};
    struct output_result result;
    struct error error;

    check(file != NULL);
    if (recording &&
        !output_write(recording, settings, requests, wanted[1] ? 2 : 1, &result, &error))
        output_result_free(&result);
    recording_close(recording);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct recording_header header = {
        .event = "", .hostname = "", .kernel = "", .command = "", .version = "", .trigger = ""};
    const struct comparison comparison = {
        .sides = {{.name = "a", .header = header, .to_ms = 1500},
                  {.name = "b", .header = header, .from_ms = 1500}},
    };
    uint8_t choice = fuzz_choice(data, size);
    const struct output_format *wanted[2] = {formats[choice % 16]};
    struct output_settings settings = settings_of(wanted[0], choice);

    if (choice & 16 && wanted[0]->comparing) {
        wanted[0] = wanted[0]->comparing;
        settings.comparison = &comparison;
    } else if (choice & 32) {
        wanted[1] = formats[(choice % 16 + 1 + 5 * (choice >> 6)) % 16];
    }
    write_formats(wanted, &settings, data, size);
    return 0;
}
