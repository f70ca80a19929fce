// SPDX-License-Identifier: Apache-2.0
/* The small profile in a format, as text. */
#pragma once

#include "small_profile.h"

#include "output/formats.h"

/* Write the recording of the descriptor to `file`, and close it. */
static inline void write_output(int fd, const struct output_format *format,
                                const struct output_settings *settings, FILE *file)
{
    struct error error = {0};
    struct output_result result;
    struct recording *recording = recording_open(fd, "test", &error);
    struct output_request request = {.path = "-", .format = format, .file = file};

    assert_non_null(recording);
    if (output_write(recording, settings, &request, 1, &result, &error))
        fail_msg("%s", error.text);
    fclose(file);
    output_result_free(&result);
    recording_close(recording);
}

/* Return the output of the recording of the descriptor. (If it is inlined, gcc 12 mistakes the text
 * for its address.) */
__attribute__((noinline, unused)) static char *output_of_fd(int fd,
                                                            const struct output_format *format,
                                                            const struct output_settings *settings,
                                                            size_t *ret_size)
{
    char *text = NULL;
    size_t size;

    write_output(fd, format, settings, open_memstream(&text, &size));
    *ret_size = size;
    return text;
}

/* Write the recording of `small`; frees the profile. */
static inline char *small_output_bytes(struct small_profile *small,
                                       const struct output_format *format,
                                       const struct output_settings *settings, size_t *ret_size)
{
    char *text = output_of_fd(small_recording(small), format, settings, ret_size);

    profile_free(small->profile);
    return text;
}

static inline char *small_output_of(struct small_profile *small, const struct output_format *format,
                                    const struct output_settings *settings)
{
    size_t size;

    return small_output_bytes(small, format, settings, &size);
}

static inline char *small_output(struct small_profile *small, const struct output_format *format,
                                 const struct view_options *options)
{
    return small_output_of(small, format, &(struct output_settings){.view = *options});
}

static inline void assert_output(struct small_profile *small, const struct output_format *format,
                                 const char *expected)
{
    char *text = small_output(small, format, &(struct view_options){.grouping = {{GROUP_NAME}}});

    assert_string_equal(text, expected);
    free(text);
}

/* Return a descriptor that reads the output of the recording of `fd`. Unlike a text, the output can
 * be a recording. */
static inline int output_file_of(int fd, const struct output_format *format,
                                 const struct output_settings *settings)
{
    int copy = memory_file();

    write_output(fd, format, settings, fdopen(dup(copy), "w"));
    lseek(copy, 0, SEEK_SET);
    return copy;
}

/* Write the recording of the descriptor; the output must contain `expected`. */
static inline void assert_output_contains(int fd, const struct output_format *format,
                                          const struct output_settings *settings,
                                          const char *expected)
{
    size_t size;
    char *text = output_of_fd(fd, format, settings, &size);

    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in: %s", expected, text);
    free(text);
}
