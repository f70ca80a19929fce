// SPDX-License-Identifier: Apache-2.0
/* Variables of the environment that override the agent's configuration. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "config_file.h"
#include "util/alloc.h"

#define ONE_SERVICE "push: [{protocol: otlp, url: 'http://a', tenant: t}]"

/* Load CONFIG_NAME with these variables, which end with NULL, and no others. */
static int load(const char *const *variables, struct agent_config *config, struct error *error)
{
    char **own = environ;
    int result;

    *error = (struct error){0};
    environ = (char **)variables;
    result = agent_config_load(exists(CONFIG_NAME) ? CONFIG_NAME : NULL, config, error);
    environ = own;
    return result;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct agent_config good(const char *const *variables)
{
    struct agent_config config;
    struct error error;

    if (load(variables, &config, &error))
        fail_msg("%s", error.text);
    return config;
}

static void assert_refused(const char *const *variables, const char *message)
{
    struct agent_config config;
    struct error error;

    assert_int_equal(load(variables, &config, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_string_equal(error.text, message);
}

static void test_variables_override_the_file(void **state)
{
    struct agent_config config;

    (void)state;
    write_config("record: {cpu: 49, wall: 2}", strlen("record: {cpu: 49, wall: 2}"));
    config = good(LIST("PATH=/bin", "BEAMFLAME_RECORD_CPU=99", "BEAMFLAME_SPOOL_MAX_AGE=2d",
                       "BEAMFLAME_RECORD_EVENTS=", "BEAMFLAME_RECORD_MAX_MEMORY=32M"));
    assert_int_equal(config.record.cpu, 99);
    assert_int_equal(config.record.wall, 2);
    assert_true(config.spool.max_age == 2 * 86400);
    assert_string_equal(config.record.events, "");
    assert_int_equal(config.record.max_memory, 32 << 20);
    agent_config_free(&config);
}

static void test_variables_override_services(void **state)
{
    struct agent_config config;

    (void)state;
    write_config(ONE_SERVICE, strlen(ONE_SERVICE));
    config = good(LIST("BEAMFLAME_PUSH_0_URL=https://b", "BEAMFLAME_PUSH_0_TENANT="));
    assert_int_equal(config.service_count, 1);
    assert_string_equal(config.services[0].url, "https://b");
    assert_null(config.services[0].tenant);
    agent_config_free(&config);
}

/* Whatever the order of the environment. */
static void test_variables_add_services(void **state)
{
    struct agent_config config;

    (void)state;
    write_config(ONE_SERVICE, strlen(ONE_SERVICE));
    config = good(LIST("BEAMFLAME_PUSH_2_PROTOCOL=parca", "BEAMFLAME_PUSH_1_PROTOCOL=pyroscope",
                       "BEAMFLAME_PUSH_2_URL=http://c", "BEAMFLAME_PUSH_1_URL=http://b"));
    assert_int_equal(config.service_count, 3);
    assert_string_equal(config.services[1].name, "pyroscope");
    assert_string_equal(config.services[1].url, "http://b");
    assert_string_equal(config.services[2].name, "parca");
    assert_string_equal(config.services[2].url, "http://c");
    agent_config_free(&config);
}

static void test_variables_add_rules(void **state)
{
    struct agent_config config =
        good(LIST("BEAMFLAME_RULES_1_PROFILE=false", "BEAMFLAME_RULES_0_NODE=shop@*",
                  "BEAMFLAME_RULES_0_PROFILE=true", "BEAMFLAME_PUSH_0_URL=http://a",
                  "BEAMFLAME_PUSH_0_PROTOCOL=otlp"));

    (void)state;
    assert_int_equal(config.rule_count, 2);
    assert_string_equal(config.rules[0].node, "shop@*");
    assert_true(config.rules[0].profile);
    assert_null(config.rules[1].node);
    assert_false(config.rules[1].profile);
    assert_int_equal(config.service_count, 1);
    agent_config_free(&config);
}

static void test_variables_suffice_without_a_file(void **state)
{
    struct agent_config config =
        good(LIST("BEAMFLAME_PUSH_0_PROTOCOL=otlp", "BEAMFLAME_PUSH_0_URL=http://a"));

    (void)state;
    assert_int_equal(config.service_count, 1);
    agent_config_free(&config);
}

static void test_gaps_between_services_are_refused(void **state)
{
    (void)state;
    assert_refused(LIST("BEAMFLAME_PUSH_1_URL=http://a"),
                   "BEAMFLAME_PUSH_1_URL: there is no such service; the next one is set by "
                   "BEAMFLAME_PUSH_0_URL");
}

static void test_too_many_services_are_refused(void **state)
{
    const char *variables[18] = {NULL};
    char texts[17][64];

    (void)state;
    for (int i = 0; i < 17; i++) {
        snprintf(texts[i], sizeof(texts[i]), "BEAMFLAME_PUSH_%d_TENANT=t", i);
        variables[i] = texts[i];
    }
    assert_refused(variables, "BEAMFLAME_PUSH_16_TENANT: push can have at most 16 entries");
}

static void test_incomplete_services_are_refused(void **state)
{
    (void)state;
    assert_refused(LIST("BEAMFLAME_PUSH_0_URL=http://a"),
                   "BEAMFLAME_PUSH_0_PROTOCOL: push.protocol is missing: every service must have "
                   "it");
    assert_refused(LIST("BEAMFLAME_PUSH_0_PROTOCOL=otlp", "BEAMFLAME_PUSH_0_URL=http://a",
                        "BEAMFLAME_PUSH_0_USER=u"),
                   "BEAMFLAME_PUSH_0_USER: push.user needs push.password_file");
}

static void test_bad_values_are_refused(void **state)
{
    (void)state;
    assert_refused(
        LIST("BEAMFLAME_RECORD_CPU="),
        "BEAMFLAME_RECORD_CPU: record.cpu must be a whole number from 0 to 1000, not ''");
    assert_refused(LIST("BEAMFLAME_RECORD_CPU=\xff"),
                   "BEAMFLAME_RECORD_CPU: record.cpu has a character that is not plain text");
    assert_refused(LIST("BEAMFLAME_PUSH_0_TENANT=a\nX-Header: b"),
                   "BEAMFLAME_PUSH_0_TENANT: push.tenant has a character that is not plain text");
    assert_refused(LIST("BEAMFLAME_PUSH_0_URL=http://u:secret@a"),
                   "BEAMFLAME_PUSH_0_URL: push.url can't have credentials in it: set user and "
                   "password_file instead");
}

static void test_unknown_variables_are_refused_with_a_suggestion(void **state)
{
    static const char *const cases[][2] = {
        {"BEAMFLAME_RECORD_CPUS=1", "BEAMFLAME_RECORD_CPUS sets nothing; did you mean "
                                    "'BEAMFLAME_RECORD_CPU'?"},
        {"BEAMFLAME_SPOOL_DIR=/x", "BEAMFLAME_SPOOL_DIR sets nothing"},
        {"BEAMFLAME_SPOOL_DIRECTRY=/x", "BEAMFLAME_SPOOL_DIRECTRY sets nothing; did you mean "
                                        "'BEAMFLAME_SPOOL_DIRECTORY'?"},
        {"BEAMFLAME_PUSH_1_ULR=x", "BEAMFLAME_PUSH_1_ULR sets nothing"},
        {"BEAMFLAME_PUSH_1_TENNANT=x",
         "BEAMFLAME_PUSH_1_TENNANT sets nothing; did you mean 'BEAMFLAME_PUSH_1_TENANT'?"},
        {"BEAMFLAME_PUSH_URL=x",
         "BEAMFLAME_PUSH_URL sets nothing; did you mean 'BEAMFLAME_PUSH_0_URL'?"},
        {"BEAMFLAME_PUSH_00_URL=x",
         "BEAMFLAME_PUSH_00_URL sets nothing; did you mean 'BEAMFLAME_PUSH_0_URL'?"},
        {"BEAMFLAME_PUSH_0_=x", "BEAMFLAME_PUSH_0_ sets nothing"},
        {"BEAMFLAME_RECORD_=x", "BEAMFLAME_RECORD_ sets nothing"},
        {"BEAMFLAME_RECORD_cpu=x", "BEAMFLAME_RECORD_cpu sets nothing; did you mean "
                                   "'BEAMFLAME_RECORD_CPU'?"},
        {"BEAMFLAME_PUSH_99999999999999999999_URL=x",
         "BEAMFLAME_PUSH_99999999999999999999_URL sets nothing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *message = xasprintf("the variable %s", cases[i][1]);

        assert_refused(LIST(cases[i][0]), message);
        free(message);
    }
}

static void test_other_variables_are_left_alone(void **state)
{
    struct agent_config config = good(
        LIST("BEAMFLAME_LOG=2", "BEAMFLAME_LAB=/x", "BEAMFLAME_RECORD=x", "BEAMFLAME_RECORDS_CPU=1",
             "XBEAMFLAME_RECORD_CPU=1", "BEAMFLAME_RECORD_X", "=", ""));

    (void)state;
    assert_int_equal(config.record.cpu, 19);
    agent_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_variables_override_the_file),
        IN_FOLDER(test_variables_override_services),
        IN_FOLDER(test_variables_add_services),
        IN_FOLDER(test_variables_add_rules),
        IN_FOLDER(test_variables_suffice_without_a_file),
        IN_FOLDER(test_gaps_between_services_are_refused),
        IN_FOLDER(test_too_many_services_are_refused),
        IN_FOLDER(test_incomplete_services_are_refused),
        IN_FOLDER(test_bad_values_are_refused),
        IN_FOLDER(test_unknown_variables_are_refused_with_a_suggestion),
        IN_FOLDER(test_other_variables_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
