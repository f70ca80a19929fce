// SPDX-License-Identifier: Apache-2.0
/* The configuration of the agent as it is printed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "agent/config/config_table.h"
#include "agent/config/config_value.h"
#include "config_file.h"
#include "same_config.h"
#include "util/alloc.h"
#include "util/buffer.h"

enum { CONFIGURATIONS = 2000 };

static void test_defaults_are_printed_as_such(void **state)
{
    struct agent_config config = good_config("");
    char *text = printed_config(&config);

    (void)state;
    assert_string_equal(text, "record:\n"
                              "  cpu: 19 # default\n"
                              "  wall: 1 # default\n"
                              "  events: gc,alloc,sched # default\n"
                              "  budget: 0.5 # default\n"
                              "  host_budget: 1 # default\n"
                              "  stacks: 5 # default\n"
                              "  interval: 15s # default\n"
                              "  max_memory: 64M # default\n"
                              "  beside_others: false # default\n"
                              "spool:\n"
                              "  directory: /var/lib/beamflame # default\n"
                              "  max_size: 256M # default\n"
                              "  max_age: 1h # default\n"
                              "http:\n"
                              "  listen: unix:http.sock # default\n"
                              "rules: [] # default\n"
                              "triggers: [] # default\n"
                              "push: [] # default\n");
    free(text);
    agent_config_free(&config);
}

static void test_each_value_has_its_source(void **state)
{
    struct agent_config config;
    char *text;

    (void)state;
    setenv("BEAMFLAME_RECORD_WALL", "3", 1);
    setenv("BEAMFLAME_PUSH_0_TENANT", "it's", 1);
    config = good_config("record:\n  cpu: 49\npush:\n- url: 'https://a:1'\n  protocol: otlp\n");
    unsetenv("BEAMFLAME_RECORD_WALL");
    unsetenv("BEAMFLAME_PUSH_0_TENANT");
    text = printed_config(&config);
    assert_non_null(strstr(text, "  cpu: 49 # agent.yaml:2\n"));
    assert_non_null(strstr(text, "  wall: 3 # BEAMFLAME_RECORD_WALL\n"));
    assert_non_null(strstr(text, "push:\n"
                                 "  - name: otlp # default\n"
                                 "    protocol: otlp # agent.yaml:5\n"
                                 "    url: https://a:1 # agent.yaml:4\n"
                                 "    tenant: 'it''s' # BEAMFLAME_PUSH_0_TENANT\n"));
    free(text);
    agent_config_free(&config);
}

/* A name of a file can't leave its comment. */
static void test_a_path_with_a_line_break_stays_in_the_comment(void **state)
{
    static const char path[] = "a\nrecord: {cpu: 7}\xe2\x80\xa8#";
    struct agent_config config, again;
    struct error error;
    char *text;

    (void)state;
    write_config("spool: {max_age: 2h}", strlen("spool: {max_age: 2h}"));
    assert_int_equal(rename(CONFIG_NAME, path), 0);
    assert_int_equal(agent_config_load(path, &config, &error), 0);
    text = printed_config(&config);
    again = good_config(text);
    assert_true(same_config(&config, &again));
    free(text);
    agent_config_free(&config);
    agent_config_free(&again);
}

/* ---- printed and read again ---- */

#define ALL_EVENTS "gc, msg, alloc, probe:a b#c: 'd', usdt: x: "

static uint64_t random_state;

/* xorshift64 */
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static void put_random_number(const struct config_key *key, struct buffer *text)
{
    double share = (double)random_below(1 << 20) / (1 << 20);
    double number = key->least + share * (key->most - key->least);

    if (key->type == &config_percent)
        buffer_format(text, "%.17g", random_below(2) ? number : 0.001 + share / 7);
    else if (key->type == &config_duration && random_below(2))
        buffer_format(text, "%.9fs", number);
    else if (key->type == &config_duration)
        buffer_format(text, "%.0f", number);
    else if (key->type == &config_size && random_below(2))
        buffer_format(text, "%.0fM", number / 0x1p20);
    else
        buffer_format(text, "%.0f", number);
}

/* Texts that YAML takes for something else, if they are not quoted. */
static void put_random_text(struct buffer *text)
{
    static const char *const parts[] = {
        "a",        "Z",
        "0",        " ",
        "  ",       ":",
        ": ",       " #",
        "#",        "'",
        "''",       "\"",
        "\\",       "-",
        "- ",       "[",
        "]",        "{",
        "}",        ",",
        "&a",       "*a",
        "!",        "!!int",
        "|",        ">",
        "%",        "@",
        "`",        "? ",
        "~",        "null",
        "\xc3\xa9", "\xf0\x9f\x94\xa5",
        "/",        "<<",
        "=",        "...",
        "---",      "true",
        "1e3",      "\xc2\xa0",
        "\\n",      "\xe2\x80\x8c",
    };
    uint64_t count = 1 + random_below(5);

    while (count--)
        buffer_text(text, parts[random_below(sizeof(parts) / sizeof(parts[0]))]);
}

static enum push_protocol random_protocol; /* the newest one */

static void put_random_protocol(struct buffer *text)
{
    random_protocol = (enum push_protocol)random_below(PUSH_PROTOCOLS);
    buffer_text(text, push_service_protocol_name(random_protocol));
}

static void put_random_value(const struct config_key *key, size_t index, struct buffer *text)
{
    static const char *const urls[] = {"http://a", "https://[::1]:4040/x:", "http://a.b:80/%20;'"};
    static const char *const addresses[] = {"127.0.0.1:80", "[::1]:9466", "unix:/a b#: 'c'"};
    static const char *const events[] = {"",          "gc",      "msg, alloc", "probe:a b#c: 'd'",
                                         "usdt: x: ", ALL_EVENTS};
    static const char *const conditions[] = {"exit", "cpu>80%", "process a b#: 'c' msgq > 1"};

    if (key->type->print_limit)
        put_random_number(key, text);
    else if (key->type == &config_flag)
        buffer_text(text, random_below(2) ? "true" : "false");
    else if (key->type == &config_protocol)
        put_random_protocol(text);
    else if (key->type == &config_events)
        buffer_text(text, events[random_below(sizeof(events) / sizeof(events[0]))]);
    else if (key->type == &config_trigger)
        buffer_text(text, conditions[random_below(sizeof(conditions) / sizeof(conditions[0]))]);
    else if (key->type == &config_url)
        buffer_text(text, urls[random_below(sizeof(urls) / sizeof(urls[0]))]);
    else if (key->type == &config_listen)
        buffer_text(text, addresses[random_below(sizeof(addresses) / sizeof(addresses[0]))]);
    else if (key->type == &config_name)
        buffer_format(text, "%s%zu", random_below(2) ? "-" : "n", index);
    else if (key->type == &config_user)
        buffer_text(text, random_below(2) ? "null" : "- 'u' #");
    else {
        if (key->type == &config_path)
            buffer_byte(text, '/');
        put_random_text(text);
    }
}

/* Write a value between double quotes of YAML. */
static void put_quoted(const char *value, struct buffer *text)
{
    buffer_byte(text, '"');
    for (; *value; value++) {
        if (strchr("\"\\", *value))
            buffer_byte(text, '\\');
        buffer_byte(text, *value);
    }
    buffer_byte(text, '"');
}

/* True if a service has the key: what must come together does, names differ, and each key suits the
 * protocol, which is the key before. */
static bool has_key(const struct config_key *key, bool basic)
{
    if (key->required || key->type == &config_name)
        return true;
    if (key->type == &config_user || !strcmp(key->name, "password_file"))
        return basic;
    if (!strcmp(key->name, "token_file"))
        return !basic && random_below(2);
    if (!strcmp(key->name, "timestamps"))
        return random_protocol == PUSH_OTLP && random_below(2);
    return random_below(2);
}

/* Give random keys of a section random values: in the file, or one in four in the environment. */
static void put_random_keys(enum config_section section, size_t index, struct buffer *text)
{
    bool basic = random_below(2);

    for (size_t i = 0; config_key_at(i); i++) {
        const struct config_key *key = config_key_at(i);
        char variable[CONFIG_VARIABLE_ROOM];
        struct buffer value = {0};

        if (key->section != section || !has_key(key, basic))
            continue;
        put_random_value(key, index, &value);
        buffer_byte(&value, '\0');
        config_key_variable(key, index, variable);
        if (random_below(4)) {
            buffer_format(text, "\"%s\": ", key->name);
            put_quoted(value.data, text);
            buffer_text(text, ", ");
        } else {
            setenv(variable, value.data, 1);
        }
        buffer_free(&value);
    }
}

static void put_random_config(struct buffer *text)
{
    buffer_text(text, "record: {");
    put_random_keys(CONFIG_RECORD, 0, text);
    buffer_text(text, "}\nspool: {");
    put_random_keys(CONFIG_SPOOL, 0, text);
    buffer_text(text, "}\nhttp: {");
    put_random_keys(CONFIG_HTTP, 0, text);
    buffer_text(text, "}\nrules:\n");
    for (size_t i = 0, count = random_below(4); i < count; i++) {
        buffer_text(text, "- {");
        put_random_keys(CONFIG_RULES, i, text);
        buffer_text(text, "}\n");
    }
    buffer_text(text, "- {profile: true, events: \"" ALL_EVENTS "\"}\n"); /* so each can be sent */
    buffer_text(text, "triggers:\n");
    for (size_t i = 0, count = random_below(4); i < count; i++) {
        buffer_text(text, "- {");
        put_random_keys(CONFIG_TRIGGERS, i, text);
        buffer_text(text, "}\n");
    }
    buffer_text(text, "push:\n");
    for (size_t i = 0, count = random_below(4); i < count; i++) {
        buffer_text(text, "- {");
        put_random_keys(CONFIG_PUSH, i, text);
        buffer_text(text, "}\n");
    }
    buffer_byte(text, '\0');
}

static void forget_variables(void)
{
    char name[CONFIG_VARIABLE_ROOM];

    for (size_t i = 0; config_key_at(i); i++)
        for (size_t index = 0; index < 4; index++) {
            config_key_variable(config_key_at(i), index, name);
            unsetenv(name);
        }
}

/* Print a configuration, read it, and print that. The values are the same both times. */
static void test_what_is_printed_is_read_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CONFIGURATIONS; seed++) {
        struct buffer text = {0};
        struct agent_config config, again;
        char *printed;

        random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
        put_random_config(&text);
        config = good_config(text.data);
        forget_variables();
        printed = printed_config(&config);
        again = good_config(printed);
        if (!same_config(&config, &again))
            fail_msg("configuration %d: %s\n is printed as\n%s", (int)seed, text.data, printed);
        free(printed);
        agent_config_free(&config);
        agent_config_free(&again);
        buffer_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_defaults_are_printed_as_such),
        IN_FOLDER(test_each_value_has_its_source),
        IN_FOLDER(test_a_path_with_a_line_break_stays_in_the_comment),
        IN_FOLDER(test_what_is_printed_is_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
