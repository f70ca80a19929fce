// SPDX-License-Identifier: Apache-2.0
/* Messages for whoever listens, and the file of BEAMFLAME_LOG. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbose.h"
#include "util/log.h"

static char heard[1024];
static int evaluated;

static void hear(const char *area, const char *line)
{
    size_t used = strlen(heard);

    errno = EIO;
    snprintf(heard + used, sizeof(heard) - used, "%s|%s\n", area, line);
}

static int evaluate(void)
{
    return ++evaluated;
}

static int silence(void **state)
{
    (void)state;
    heard[0] = '\0';
    evaluated = 0;
    log_listen(LOG_OFF, hear);
    return 0;
}

static void test_arguments_are_not_evaluated_without_a_listener(void **state)
{
    (void)state;
    log_decision("area", "%d", evaluate());
    log_detail("area", "%d", evaluate());
    assert_int_equal(evaluated, 0);
    assert_string_equal(heard, "");
    assert_false(log_wants(LOG_DECISION));
}

static void test_level_includes_the_levels_below(void **state)
{
    (void)state;
    log_listen(LOG_DECISION, hear);
    log_decision("one", "%d", evaluate());
    log_detail("two", "%d", evaluate());
    assert_int_equal(evaluated, 1);
    assert_string_equal(heard, "one|1\n");
    log_listen(LOG_DETAIL, hear);
    log_decision("one", "%d", evaluate());
    log_detail("two", "%d", evaluate());
    assert_string_equal(heard, "one|1\none|2\ntwo|3\n");
}

static void test_each_line_is_passed_alone_and_printable(void **state)
{
    (void)state;
    log_listen(LOG_DECISION, hear);
    log_decision("area", "first\n\nsecond\t\x1b[31m%s\n", "red");
    assert_string_equal(heard, "area|first\narea|second \xef\xbf\xbd[31mred\n");
}

static void test_logging_keeps_errno(void **state)
{
    (void)state;
    log_listen(LOG_DECISION, hear);
    errno = ENOENT;
    log_decision("area", "text");
    assert_int_equal(errno, ENOENT);
    assert_string_equal(heard, "area|text\n");
}

/* Start with this value of BEAMFLAME_LOG, log a decision and a detail, and return what is in the
 * file. */
static const char *logged(const char *value, const char *path)
{
    static char text[1024];
    FILE *file;

    verbose_start(value);
    log_decision("one", "decided");
    log_detail("two", "looked");
    file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return text;
}

static void test_environment_variable_names_the_log_file(void **state)
{
    char path[] = "/tmp/beamflame-log-XXXXXX", value[64];
    const char *text;
    double seconds;
    int end = 0;

    (void)state;
    close(mkstemp(path));
    text = logged(path, path);
    assert_int_equal(sscanf(text, "beamflame: [%lf] one: decided\n%n", &seconds, &end), 1);
    assert_in_range((int)seconds, 0, 10);
    assert_int_equal(text[end], '\0');
    snprintf(value, sizeof(value), "detail:%s", path);
    text = logged(value, path);
    assert_non_null(strstr(text, "] one: decided\n"));
    assert_non_null(strstr(text, "] two: looked\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_arguments_are_not_evaluated_without_a_listener, silence),
        cmocka_unit_test_setup(test_level_includes_the_levels_below, silence),
        cmocka_unit_test_setup(test_each_line_is_passed_alone_and_printable, silence),
        cmocka_unit_test_setup(test_logging_keeps_errno, silence),
        cmocka_unit_test_setup(test_environment_variable_names_the_log_file, silence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
