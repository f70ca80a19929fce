// SPDX-License-Identifier: Apache-2.0
/* Files that can't be the agent's configuration: bytes, sizes, paths, permissions. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "config_file.h"
#include "util/alloc.h"

/* Load a file of these bytes, which is bad. */
static struct error error_of(const void *data, size_t size)
{
    struct agent_config config;
    struct error error = {0};

    write_config(data, size);
    assert_int_equal(agent_config_load(CONFIG_NAME, &config, &error), -1);
    return error;
}

static void test_a_binary_file_is_refused(void **state)
{
    static const char utf16[] = "\xff\xfer\0e\0c\0";
    static const char zeros[] = "record:\n\0\0\0";

    (void)state;
    assert_string_equal(error_of(utf16, sizeof(utf16)).text,
                        CONFIG_NAME ":1:1: this is not UTF-8 text");
    assert_string_equal(error_of(zeros, sizeof(zeros)).text,
                        CONFIG_NAME ":2:1: the file has the control character U+0000 here");
}

/* Each is refused at its first level: the time does not grow with the depth. */
static void test_deep_files_are_refused_at_once(void **state)
{
    enum { SIZE = 1 << 20 };
    static const struct {
        const char *unit, *message;
    } cases[] = {
        {"[", "1:1: the file must have the keys record, spool and push, not a list"},
        {"- ", "1:1: the file must have the keys record, spool and push, not a list"},
        {"{", "1:2: a key must be a name, not keys"},
        {"? ", "1:3: a key must be a name, not keys"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t unit = strlen(cases[i].unit);
        char *text = xmalloc(SIZE), *message = xasprintf(CONFIG_NAME ":%s", cases[i].message);

        for (size_t at = 0; at < SIZE; at++)
            text[at] = cases[i].unit[at % unit];
        assert_string_equal(error_of(text, SIZE).text, message);
        free(text);
        free(message);
    }
}

static void test_long_files_are_refused(void **state)
{
    enum { SIZE = 1 << 20 };
    char *text = xmalloc(SIZE + 1);
    struct agent_config config;
    struct error error = {0};

    (void)state;
    memset(text, '\n', SIZE + 1);
    write_config(text, SIZE);
    assert_int_equal(agent_config_load(CONFIG_NAME, &config, &error), 0);
    agent_config_free(&config);
    assert_string_equal(error_of(text, SIZE + 1).text,
                        "'" CONFIG_NAME
                        "' has more than 1 MiB, which is no configuration of the agent");
    free(text);
}

static void test_too_many_services_are_refused(void **state)
{
    char text[2000] = "push:\n";
    struct agent_config config;

    (void)state;
    for (int i = 0; i < 16; i++)
        sprintf(text + strlen(text), "- {name: n%d, protocol: otlp, url: http://a}\n", i);
    config = good_config(text);
    assert_int_equal(config.service_count, 16);
    agent_config_free(&config);
    strcat(text, "- {name: more, protocol: otlp, url: http://a}\n");
    assert_string_equal(error_of(text, strlen(text)).text,
                        CONFIG_NAME ":18:3: push can have at most 16 entries");
}

static void assert_unreadable(const char *path, const char *message)
{
    struct agent_config config;
    struct error error = {0};

    assert_int_equal(agent_config_load(path, &config, &error), -1);
    assert_int_equal(error.code, ERROR_FAILED);
    assert_string_equal(error.text, message);
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    assert_unreadable("absent", "can't read 'absent': No such file or directory");
    assert_unreadable("/", "can't read '/': Is a directory");
    assert_unreadable("/dev/zero", "'/dev/zero' is not a regular file");
    assert_int_equal(mkfifo(CONFIG_NAME, 0600), 0);
    assert_unreadable(CONFIG_NAME, "'" CONFIG_NAME "' is not a regular file");
}

/* Root may read every file, so another user reads this one, in a child: it starts the process that
 * opens files without rights (os/patience.h). */
static void test_a_file_without_permission_is_refused(void **state)
{
    struct agent_config config;
    struct error error;
    int status;
    pid_t child;

    (void)state;
    write_config("", 0);
    assert_int_equal(chmod(CONFIG_NAME, 0), 0);
    assert_int_equal(chmod(".", 0755), 0);
    child = fork();
    if (child == 0) {
        if (!geteuid() && setresuid(65534, 65534, 65534))
            _exit(2);
        _exit(agent_config_load(CONFIG_NAME, &config, &error) == 0 ||
              !strstr(error.text, "can't read '" CONFIG_NAME "': Permission denied"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_a_long_path_leaves_room_for_the_sentence(void **state)
{
    char path[1000] = "";
    struct agent_config config;
    struct error error = {0};

    (void)state;
    while (strlen(path) < 900)
        strcat(path, "./");
    strcat(path, CONFIG_NAME);
    write_config("record: {cpu: x}", strlen("record: {cpu: x}"));
    assert_int_equal(agent_config_load(path, &config, &error), -1);
    assert_non_null(strstr(error.text, "/" CONFIG_NAME ":1:15: record.cpu "
                                       "must be a whole number from 0 to 1000, not "
                                       "'x'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_file_without_permission_is_refused), /* before others start that process */
        IN_FOLDER(test_a_binary_file_is_refused),
        IN_FOLDER(test_deep_files_are_refused_at_once),
        IN_FOLDER(test_long_files_are_refused),
        IN_FOLDER(test_too_many_services_are_refused),
        IN_FOLDER(test_what_is_no_file_is_refused),
        IN_FOLDER(test_a_long_path_leaves_room_for_the_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
