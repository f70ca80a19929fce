// SPDX-License-Identifier: Apache-2.0
/* Outputs of a recording with several events, in a folder of the test. */
#pragma once

#include "small_output.h"

#include <dirent.h>

static char directory[] = "/tmp/output-events-test.XXXXXX";

static inline const char *in_directory(const char *name)
{
    static char paths[4][320];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static inline int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)state;
    return rmdir(directory);
}

/* Return the content of a file, and remove the file. */
static inline char *take_file(const char *name)
{
    int fd = open(in_directory(name), O_RDONLY);
    char *bytes;

    if (fd < 0)
        fail_msg("there is no %s", name);
    bytes = file_bytes(fd, NULL);
    close(fd);
    unlink(in_directory(name));
    return bytes;
}

static inline void assert_directory_is_empty(void)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;

    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            fail_msg("%s is there", entry->d_name);
    closedir(dir);
}

/* Write the recording of `small`; frees the profile. */
static inline int write_small(struct small_profile *small, const struct output_settings *settings,
                              const struct output_request *requests, size_t count,
                              struct output_result *result, struct error *error)
{
    struct recording *recording;
    int got;

    *error = (struct error){0};
    recording = recording_open(small_recording(small), "test", error);
    got = output_write(recording, settings, requests, count, result, error);
    recording_close(recording);
    profile_free(small->profile);
    return got;
}

static inline int write_events(const struct output_settings *settings,
                               const struct output_request *requests, size_t count,
                               struct output_result *result, struct error *error)
{
    struct small_profile small;

    small_profile_make(&small);
    small_profile_add_events(&small);
    return write_small(&small, settings, requests, count, result, error);
}

static inline void assert_refused(const struct output_settings *settings,
                                  const struct output_request *requests, size_t count,
                                  enum error_code code, const char *text)
{
    struct output_result result;
    struct error error;

    assert_int_equal(write_events(settings, requests, count, &result, &error), -1);
    assert_int_equal(error.code, code);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" instead of \"%s\"", error.text, text);
    assert_directory_is_empty();
}

/* Return an output of the recording, as text. */
static inline char *text_of(const struct output_format *format, const char *event,
                            const char *value)
{
    struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, event, value};
    struct small_profile small;

    small_profile_make(&small);
    small_profile_add_events(&small);
    return small_output_of(&small, format, &settings);
}
