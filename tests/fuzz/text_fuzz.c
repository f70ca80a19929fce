// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as any kind of input, and write it as folded stacks or as perf-script text
 * (libFuzzer). The output is read again: it must be valid, and give the same output.
 *
 *      clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/text_fuzz.c
 */
#include "fuzz_recording.h"

#include <stdio.h>

#include "input/input.h"
#include "output/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int open_bytes(const void *data, size_t size, struct error *error)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC), opened;
    char path[64];

    check(fd >= 0);
    check(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    opened = input_open(input_file_open(path, "/dev/shm", error), path, "/dev/shm", error);
    close(fd);
    return opened;
}

/* Return the text of the first event; NULL if there are no samples, or the recording is invalid. */
static char *write_as(int fd, const struct output_format *format, size_t *ret_size)
{
    struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct error error;
    struct output_result result;
    struct recording *recording = recording_open(fd, "fuzz", &error);
    char *text = NULL;
    FILE *file = open_memstream(&text, ret_size);
    struct output_request request = {.path = "-", .format = format, .file = file};
    int failed = !recording || output_write(recording, &settings, &request, 1, &result, &error);

    fclose(file);
    recording_close(recording);
    if (!failed) {
        output_result_free(&result);
        return text;
    }
    free(text);
    return NULL;
}

/* Read the output, write it again and compare. A name may look like an event line of perf-script
 * text; then a line of folded stacks looks like one too. */
static void check_again(const char *text, size_t size, const struct output_format *format)
{
    struct error error;
    int fd = size ? open_bytes(text, size, &error) : -1;
    size_t again_size = 0;
    char *again;

    if (!size || (format == &folded_format && strstr(text, ": "))) {
        if (fd >= 0)
            close(fd);
        return;
    }
    check(fd >= 0);
    again = write_as(fd, format, &again_size);
    check(again && again_size == size && !memcmp(again, text, size));
    free(again);
}

static void check_format(const uint8_t *data, size_t size, const struct output_format *format)
{
    struct error error;
    int fd = open_bytes(data, size, &error);
    size_t text_size = 0;
    char *text;

    if (fd < 0)
        return;
    text = write_as(fd, format, &text_size);
    if (text && !(size && data[0] == (uint8_t)RECORDING_MAGIC[0]))
        check_again(text, text_size, format);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_format(data, size, size % 2 ? &folded_format : &perf_format);
    return 0;
}
