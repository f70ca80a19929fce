// SPDX-License-Identifier: Apache-2.0
/* Files of the agent's configuration, in a folder of the test's own. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/agent_config.h"
#include "test_folder.h"
#include "util/alloc.h"

#define CONFIG_NAME "agent.yaml"

static inline void write_config(const void *data, size_t size)
{
    FILE *file = fopen(CONFIG_NAME, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Load a file with this text. It must be good. */
static inline struct agent_config good_config(const char *text)
{
    struct agent_config config;
    struct error error = {0};

    write_config(text, strlen(text));
    if (agent_config_load(CONFIG_NAME, &config, &error))
        fail_msg("%s\n%s", error.text, text);
    return config;
}

/* A file that is refused, and the message. */
struct bad_file {
    const char *text, *message; /* without "agent.yaml:" */
};

static inline void assert_files_refused(const struct bad_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct agent_config config;
        struct error error = {0};
        char *message = xasprintf(CONFIG_NAME ":%s", files[i].message);

        write_config(files[i].text, strlen(files[i].text));
        if (!agent_config_load(CONFIG_NAME, &config, &error))
            fail_msg("is accepted: %s", files[i].text);
        assert_int_equal(error.code, ERROR_USAGE);
        assert_string_equal(error.text, message);
        free(message);
    }
}

#define ASSERT_REFUSED(files) assert_files_refused(files, sizeof(files) / sizeof((files)[0]))

/* Return what config_print() writes, to be freed. */
static inline char *printed_config(const struct agent_config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    config_print(config, file);
    fclose(file);
    return text;
}

/* Start a test in a folder of its own. For cmocka's setup. */
static inline int enter_config_folder(void **state)
{
    (void)state;
    return folder_enter();
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_config_folder, leave_folder)
