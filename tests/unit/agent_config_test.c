// SPDX-License-Identifier: Apache-2.0
/* The file of the agent's configuration: the values that it sets, and errors of a bad one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "config_file.h"
#include "same_config.h"
#include "util/alloc.h"

static void assert_defaults(const struct agent_config *config)
{
    assert_int_equal(config->record.cpu, 19);
    assert_int_equal(config->record.wall, 1);
    assert_string_equal(config->record.events, "gc,alloc,sched");
    assert_true(config->record.budget == 0.5);
    assert_true(config->record.host_budget == 1);
    assert_true(config->record.interval == 15);
    assert_int_equal(config->record.max_memory, 64 << 20);
    assert_string_equal(config->spool.directory, "/var/lib/beamflame");
    assert_int_equal(config->spool.max_size, 256 << 20);
    assert_true(config->spool.max_age == 3600);
    assert_int_equal(config->service_count, 0);
}

static void test_without_a_file_all_is_default(void **state)
{
    struct agent_config config;
    struct error error;

    (void)state;
    assert_int_equal(agent_config_load(NULL, &config, &error), 0);
    assert_defaults(&config);
    agent_config_free(&config);
}

static void test_empty_files_are_all_defaults(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "# a comment\n",
        "---\n",
        "---\n...\n",
        "~\n",
        "record:\n",
        "push: []\n",
        "{}\n",
        "record: {}\nspool:\npush:\n",
        "push: ~\n",
        "\xef\xbb\xbf",
        "\xef\xbb\xbfrecord:\r\n",

    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct agent_config config = good_config(texts[i]);

        assert_defaults(&config);
        agent_config_free(&config);
    }
}

static void test_each_key_sets_its_value(void **state)
{
    struct agent_config config = good_config("record:\n"
                                             "  cpu: 49\n"
                                             "  wall: 0\n"
                                             "  events: \" gc , bif:erlang:md5/1,, gc\"\n"
                                             "  budget: 0.25\n"
                                             "  interval: 10s\n"
                                             "  max_memory: 100M\n"
                                             "  beside_others: true\n"
                                             "spool:\n"
                                             "  directory: /srv/spool\n"
                                             "  max_size: 2G\n"
                                             "  max_age: 7d\n"
                                             "push:\n"
                                             "- protocol: pyroscope\n"
                                             "  url: https://[::1]:4040/base\n"
                                             "  tenant: 12\n"
                                             "  user: agent\n"
                                             "  password_file: /etc/password\n"
                                             "  ca_file: /etc/ca.pem\n"
                                             "- {name: second, protocol: otlp, url: 'http://c',\n"
                                             "   token_file: /etc/token, traces: true,\n"
                                             "   events: 'cpu, gc', timestamps: true}\n");
    const struct push_service *services = config.services;

    (void)state;
    assert_int_equal(config.record.cpu, 49);
    assert_int_equal(config.record.wall, 0);
    assert_string_equal(config.record.events, "gc,bif:erlang:md5/1,gc");
    assert_true(config.record.budget == 0.25);
    assert_true(config.record.interval == 10);
    assert_int_equal(config.record.max_memory, 100 << 20);
    assert_true(config.record.beside_others);
    assert_string_equal(config.spool.directory, "/srv/spool");
    assert_int_equal(config.spool.max_size, UINT64_C(2) << 30);
    assert_true(config.spool.max_age == 7 * 86400);
    assert_int_equal(config.service_count, 2);
    assert_int_equal(services[0].protocol, PUSH_PYROSCOPE);
    assert_string_equal(services[0].name, "pyroscope");
    assert_string_equal(services[0].url, "https://[::1]:4040/base");
    assert_string_equal(services[0].tenant, "12");
    assert_string_equal(services[0].user, "agent");
    assert_string_equal(services[0].password_file, "/etc/password");
    assert_null(services[0].token_file);
    assert_string_equal(services[0].ca_file, "/etc/ca.pem");
    assert_int_equal(services[1].protocol, PUSH_OTLP);
    assert_string_equal(services[1].name, "second");
    assert_string_equal(services[1].url, "http://c");
    assert_string_equal(services[1].token_file, "/etc/token");
    assert_null(services[1].tenant);
    assert_true(services[1].traces && !services[0].traces);
    assert_true(services[1].timestamps && !services[0].timestamps);
    assert_string_equal(services[1].events, "cpu,gc");
    assert_null(services[0].events);
    agent_config_free(&config);
}

static void test_services_may_have_what_a_rule_records(void **state)
{
    struct agent_config config =
        good_config("record: {cpu: 0, events: gc}\n"
                    "rules: [{profile: true, node: a, cpu: 99, events: 'gc,msg'}]\n"
                    "push: [{protocol: otlp, url: http://a, events: 'cpu,msg'}]\n");

    (void)state;
    assert_string_equal(config.services[0].events, "cpu,msg");
    agent_config_free(&config);
}

/* The sender of a service that differs from before is started again. */
static void test_services_that_differ_in_a_setting_are_not_equal(void **state)
{
    const struct push_service others[] = {
        {.protocol = PUSH_PARCA, .url = "http://a"}, {.url = "http://b"},
        {.url = "http://a", .tenant = "shop"},       {.url = "http://a", .token_file = "/token"},
        {.url = "http://a", .traces = true},         {.url = "http://a", .timestamps = true},
        {.url = "http://a", .events = "cpu"},
    };
    const struct push_service service = {.url = "http://a"};
    struct push_service copy = push_service_copy(&service);

    (void)state;
    assert_true(push_service_is_equal(&service, &copy));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(push_service_is_equal(&service, &others[i]));
    push_service_free(&copy);
}

static void test_triggers_have_limits_by_default(void **state)
{
    struct agent_config config = good_config("triggers:\n"
                                             "- when: process cart msgq > 1000\n"
                                             "- {name: big, when: memory>2G, node: shop@*,\n"
                                             "   before: 0, after: 1m, holdoff: 1h,\n"
                                             "   max_kept: 3, max_size: 1M}\n");
    const struct agent_trigger *triggers = config.triggers;

    (void)state;
    assert_int_equal(config.trigger_count, 2);
    assert_string_equal(triggers[0].name, "process-cart-msgq-1000");
    assert_string_equal(triggers[0].when, "process cart msgq > 1000");
    assert_null(triggers[0].nodes.node);
    assert_true(triggers[0].before == 30 && triggers[0].after == 30);
    assert_true(triggers[0].holdoff == 300);
    assert_int_equal(triggers[0].max_kept, 10);
    assert_int_equal(triggers[0].max_size, 64 << 20);
    assert_string_equal(triggers[1].name, "big");
    assert_string_equal(triggers[1].nodes.node, "shop@*");
    assert_true(triggers[1].before == 0 && triggers[1].after == 60);
    assert_true(triggers[1].holdoff == 3600);
    assert_int_equal(triggers[1].max_kept, 3);
    assert_int_equal(triggers[1].max_size, 1 << 20);
    agent_config_free(&config);
}

static void test_durations_have_units(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"15", 15},     {"15s", 15},  {"10m", 600},       {"1h", 3600},
                 {"7d", 604800}, {"1.5m", 90}, {"365d", 31536000}, {"\"20\"", 20}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = xasprintf("spool: {max_age: %s}", cases[i].text);
        struct agent_config config = good_config(text);

        assert_true(config.spool.max_age == cases[i].seconds);
        agent_config_free(&config);
        free(text);
    }
}

static void test_texts_that_are_empty_are_not_given(void **state)
{
    struct agent_config config = good_config(
        "record: {events: ''}\npush: [{protocol: parca, url: http://p, user: '', tenant: \"\"}]");

    (void)state;
    assert_string_equal(config.record.events, "");
    assert_null(config.services[0].user);
    assert_null(config.services[0].tenant);
    agent_config_free(&config);
}

static void test_unknown_keys_are_refused_with_a_suggestion(void **state)
{
    static const struct bad_file files[] = {
        {"recrd:\n", "1:1: there is no key 'recrd'; did you mean 'record'?"},
        {"zzzzzzzz:\n", "1:1: there is no key 'zzzzzzzz'"},
        {"cpu: 19\n", "1:1: there is no key 'cpu'; did you mean 'record.cpu'?"},
        {"record:\n  cpus: 19\n", "2:3: record has no key 'cpus'; did you mean 'cpu'?"},
        {"spool:\n  cpu: 19\n", "2:3: spool has no key 'cpu'; did you mean 'record.cpu'?"},
        {"push:\n- url: http://a\n  password: x\n",
         "3:3: push has no key 'password'; did you mean 'password_file'?"},
        {"record: {\"\\e[31m\\n\": 1}\n", "1:10: record has no key '\xef\xbf\xbd[31m\xef\xbf\xbd'"},
        {"record: {[cpu]: 1}\n", "1:10: a key must be a name, not a list"},
        {"? {a: b}\n: 1\n", "1:3: a key must be a name, not keys"},
        {"record: {<<: 1}\n", "1:10: record has no key '<<'"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

static void test_keys_that_are_given_twice_are_refused(void **state)
{
    static const struct bad_file files[] = {
        {"record:\n  cpu: 19\n  cpu: 19\n", "3:3: record.cpu is given twice; line 2 has it too"},
        {"record:\nspool:\nrecord:\n", "3:1: record is given twice; line 1 has it too"},
        {"push:\n- url: http://a\n  url: http://a\n",
         "3:3: push.url is given twice; line 2 has it too"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

static void test_values_of_a_wrong_kind_are_refused(void **state)
{
    static const struct bad_file files[] = {
        {"record: 19\n", "1:9: record must have keys below it, not a text"},
        {"record:\n- cpu: 1\n", "2:1: record must have keys below it, not a list"},
        {"push:\n  url: x\n",
         "2:3: push must have a list below it, whose entries begin with '- ', not keys"},
        {"push:\n- http://a\n",
         "2:3: an entry of push must have keys, such as 'url: ...', not a text"},
        {"push:\n-\n", "2:2: an entry of push must have keys, such as 'url: ...', not nothing"},
        {"record: {events: [gc, alloc]}\n",
         "1:18: record.events must be one value (events), not a list"},
        {"record: {cpu: {a: 1}}\n", "1:15: record.cpu must be one value (whole number), not keys"},
        {"record:\n  cpu:\n  wall: 1\n",
         "2:7: record.cpu has no value; write one, or leave the key out"},
        {"record: {events: ~}\n",
         "1:18: record.events has no value; write one, or leave the key out"},
        {"- record\n", "1:1: the file must have the keys record, spool and push, not a list"},
        {"record\n", "1:1: the file must have the keys record, spool and push, not a text"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

#define COUNT    "must be a whole number from 0 to 1000, not "
#define PERCENT  "must be a percentage from 0.001 to 100, not "
#define INTERVAL "must be a time such as 15s, 10m, 1h or 7d, from 1s to 1h, not "
#define MEMORY   "must be a size such as 20M or 1G, from 32M to 1024G, not "

static void test_bad_numbers_are_refused(void **state)
{
    static const struct bad_file files[] = {
        {"record: {cpu: x}", "1:15: record.cpu " COUNT "'x'"},
        {"record: {cpu: -1}", "1:15: record.cpu " COUNT "'-1'"},
        {"record: {cpu: +1}", "1:15: record.cpu " COUNT "'+1'"},
        {"record: {cpu: ' 1'}", "1:15: record.cpu " COUNT "' 1'"},
        {"record: {cpu: ''}", "1:15: record.cpu " COUNT "''"},
        {"record: {cpu: 1001}", "1:15: record.cpu " COUNT "'1001'"},
        {"record: {cpu: 1.5}", "1:15: record.cpu " COUNT "'1.5'"},
        {"record: {cpu: 0x10}", "1:15: record.cpu " COUNT "'0x10'"},
        {"record: {cpu: 18446744073709551617}", "1:15: record.cpu " COUNT "'18446744073709551617'"},
        {"record: {budget: 0}", "1:18: record.budget " PERCENT "'0'"},
        {"record: {budget: 100.1}", "1:18: record.budget " PERCENT "'100.1'"},
        {"record: {budget: nan}", "1:18: record.budget " PERCENT "'nan'"},
        {"record: {budget: 1e1}", "1:18: record.budget " PERCENT "'1e1'"},
        {"record: {budget: 1.2.3}", "1:18: record.budget " PERCENT "'1.2.3'"},
        {"record: {budget: 1%}", "1:18: record.budget " PERCENT "'1%'"},
        {"record: {interval: 0}", "1:20: record.interval " INTERVAL "'0'"},
        {"record: {interval: -5s}", "1:20: record.interval " INTERVAL "'-5s'"},
        {"record: {interval: 5ms}", "1:20: record.interval " INTERVAL "'5ms'"},
        {"record: {interval: 5w}", "1:20: record.interval " INTERVAL "'5w'"},
        {"record: {interval: s}", "1:20: record.interval " INTERVAL "'s'"},
        {"record: {interval: 61m}", "1:20: record.interval " INTERVAL "'61m'"},
        {"record: {max_memory: -64M}", "1:22: record.max_memory " MEMORY "'-64M'"},
        {"record: {max_memory: 64T}", "1:22: record.max_memory " MEMORY "'64T'"},
        {"record: {max_memory: 64MB}", "1:22: record.max_memory " MEMORY "'64MB'"},
        {"record: {max_memory: 6.4G}", "1:22: record.max_memory " MEMORY "'6.4G'"},
        {"record: {max_memory: 31M}", "1:22: record.max_memory " MEMORY "'31M'"},
        {"record: {max_memory: 9999999999G}", "1:22: record.max_memory " MEMORY "'9999999999G'"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

static void test_bad_texts_are_refused(void **state)
{
    static const struct bad_file files[] = {
        {"spool: {directory: spool}",
         "1:20: spool.directory must be a path that begins with '/', not 'spool'"},
        {"spool: {directory: ''}",
         "1:20: spool.directory must be a path that begins with '/', not ''"},
        {"spool: {directory: \"/a\\nb\"}",
         "1:20: spool.directory has a character that is not plain text"},
        {"spool: {directory: \"/a\\0b\"}", "1:20: a text can't have the character U+0000"},
        {"record: {events: cpu}", "1:18: record.events can't have 'cpu': record.cpu sets how often "
                                  "it is sampled"},
        {"record: {events: 'gc,bif:x'}", "1:18: record.events: 'bif:x' needs a function after it, "
                                         "as in bif:erlang:md5/1"},
        {"push: [{name: a b}]",
         "1:15: push.name must be of letters, digits, '-' and '_', not 'a b'"},
        {"push: [{protocol: zipkin}]",
         "1:19: push.protocol must be one of otlp, pyroscope, parca, not 'zipkin'"},
        {"push: [{user: 'a:b'}]", "1:15: push.user can't have a ':'; the password belongs in a "
                                  "file, which push.password_file names"},
        {"push: [{name: 12345678901234567890123456789012345678901234567890123456789012345}]",
         "1:15: push.name must have at most 64 bytes, not 65"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

static void test_unknown_events_are_refused_with_those_that_exist(void **state)
{
    static const char expected[] = CONFIG_NAME ":1:18: record.events: there is no event 'gv'; the "
                                               "events are: cpu, wall, gc, alloc, ";
    struct agent_config config;
    struct error error = {0};

    (void)state;
    write_config("record: {events: 'alloc,gv'}", strlen("record: {events: 'alloc,gv'}"));
    assert_int_equal(agent_config_load(CONFIG_NAME, &config, &error), -1);
    assert_memory_equal(error.text, expected, strlen(expected));
}

/* They need breakpoints, of which a CPU has four: not all VMs of a host can share them. */
static void test_calls_of_functions_are_no_events_of_the_agent(void **state)
{
    static const char config_text[] = "record: {events: 'call:lists:map/2'}";
    struct agent_config config;
    struct error error = {0};

    (void)state;
    write_config(config_text, strlen(config_text));
    assert_int_equal(agent_config_load(CONFIG_NAME, &config, &error), -1);
    assert_string_equal(error.text,
                        CONFIG_NAME ":1:18: record.events can't have 'call:lists:map/2': calls of "
                                    "Erlang functions are counted by 'beamflame record -e "
                                    "call:lists:map/2'");
}

#define URL "1:14: push.url "

static void test_bad_urls_are_refused_without_their_passwords(void **state)
{
    static const struct bad_file files[] = {
        {"push: [{url: example}]", URL "must begin with http:// or https://"},
        {"push: [{url: 'ftp://a'}]", URL "must begin with http:// or https://"},
        {"push: [{url: 'http://u:secret@a'}]",
         URL "can't have credentials in it: set user and password_file instead"},
        {"push: [{url: 'u:secret@a'}]",
         URL "can't have credentials in it: set user and password_file instead"},
        {"push: [{url: 'http://a?token=secret'}]",
         URL "can't have a query or a fragment ('?' or '#')"},
        {"push: [{url: 'http://a b'}]",
         URL "has a character that must be written as %XX in an URL"},
        {"push: [{url: 'http://'}]",
         URL "must have a host after '://', and may have a port from 1 to 65535 after the host"},
        {"push: [{url: 'http://a:0'}]",
         URL "must have a host after '://', and may have a port from 1 to 65535 after the host"},
        {"push: [{url: 'http://a:65536/'}]",
         URL "must have a host after '://', and may have a port from 1 to 65535 after the host"},
        {"push: [{url: 'https://[::1/'}]",
         URL "must have a host after '://', and may have a port from 1 to 65535 after the host"},
    };
    struct agent_config config;

    (void)state;
    ASSERT_REFUSED(files);
    config = good_config("push: [{protocol: otlp, url: 'http://a:65535/@/x'}]");
    agent_config_free(&config);
}

static void test_services_that_contradict_are_refused(void **state)
{
    static const struct bad_file files[] = {
        {"push:\n- protocol: otlp\n", "2:3: push.url is missing: every service must have it"},
        {"push:\n- url: http://a\n", "2:3: push.protocol is missing: every service must have it"},
        {"push:\n- protocol: otlp\n  url: ''\n",
         "3:8: push.url is missing: every service must have it"},
        {"push:\n- {protocol: otlp, url: http://a}\n- {protocol: otlp, url: http://b}\n",
         "3:3: two services have the name 'otlp'; set push.name"},
        {"push:\n- {protocol: otlp, url: http://a}\n- {protocol: parca, name: otlp, url: "
         "http://b}\n",
         "3:27: two services have the name 'otlp'; set push.name"},
        {"push: [{protocol: otlp, url: http://a, user: u}]",
         "1:46: push.user needs push.password_file"},
        {"push: [{protocol: otlp, url: http://a, password_file: /p}]",
         "1:55: push.password_file needs push.user"},
        {"push: [{protocol: otlp, url: http://a, user: u, password_file: /p, token_file: /t}]",
         "1:80: push.token_file can't be beside push.user: choose one of them"},
        {"push: [{protocol: parca, url: http://a, timestamps: true}]",
         "1:53: push.timestamps needs push.protocol otlp: others have no time of a sample"},
        {"push: [{protocol: otlp, url: http://a, events: 'gc,msg'}]",
         "1:48: push.events has 'msg', which is not recorded: see record.events"},
        {"{record: {wall: 0}, push: [{protocol: otlp, url: http://a, events: wall}]}",
         "1:68: push.events has 'wall', which is not recorded: see record.wall"},
        {"{rules: [{profile: false, events: msg}], push: [{protocol: otlp, url: http://a, events: "
         "msg}]}",
         "1:89: push.events has 'msg', which is not recorded: see record.events"},
        {"push: [{protocol: otlp, url: http://a, events: 'call:a:b/1'}]",
         "1:48: push.events can't have 'call:a:b/1': calls of Erlang functions are counted by "
         "'beamflame record -e call:a:b/1'"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

static void test_yaml_that_has_no_place_here_is_refused(void **state)
{
    static const struct bad_file files[] = {
        {"record: *a\n", "1:9: an alias (*a) can't be used here: write the value"},
        {"record: &a {cpu: 1}\n", "1:9: an anchor (&a) can't be used here"},
        {"record: {cpu: &a 1}\n", "1:15: an anchor (&a) can't be used here"},
        {"push: &a\n- x\n", "1:7: an anchor (&a) can't be used here"},
        {"record: !!map {}\n", "1:9: a tag (tag:yaml.org,2002:map) can't be used here"},
        {"record: {cpu: !!int 1}\n", "1:15: a tag (tag:yaml.org,2002:int) can't be used here"},
        {"push: !x []\n", "1:7: a tag (!x) can't be used here"},
        {"record:\n---\nspool:\n", "2:1: the file must have one document; another one begins here"},
        {"record:\n\tcpu: 1\n", "2:1: a line must be indented by spaces, not by tabs"},
        {"record:\n  \tcpu: 1\n", "2:3: a line must be indented by spaces, not by tabs"},
        {"record: {cpu: 1\n", "2:1: this is not YAML: did not find expected ',' or '}' while "
                              "parsing a flow mapping"},
        {"record:\r\r}",
         "3:1: this is not YAML: did not find expected node content while parsing a "
         "block node"},
        {"record: }\n", "1:9: this is not YAML: did not find expected node content while parsing a "
                        "block node"},
        {"record: 'x\n", "2:1: this is not YAML: found unexpected end of stream while scanning a "
                         "quoted scalar"},
        {"record: {cpu: '\xc3\xa9', wall: \xff}\n", "1:26: this is not UTF-8 text"},
        {"%YAML 1.1\n---\n", "1:1: a directive of YAML (%) can't be used here"},
        {"# a\r%TAG ! x\n---\n", "2:1: a directive of YAML (%) can't be used here"},
        {"# a\r\n # \xff\n", "2:4: this is not UTF-8 text"},
        {"# \xe2\x80\xa8%TAG ! x\n", "1:3: the file has the control character U+2028 here"},
        {"record:\n  \x01\n", "2:3: the file has the control character U+0001 here"},
        {"\x7f"
         "ELF\x02",
         "1:1: the file has the control character U+007F here"},
    };

    (void)state;
    ASSERT_REFUSED(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_file_all_is_default),
        IN_FOLDER(test_empty_files_are_all_defaults),
        IN_FOLDER(test_each_key_sets_its_value),
        IN_FOLDER(test_services_may_have_what_a_rule_records),
        cmocka_unit_test(test_services_that_differ_in_a_setting_are_not_equal),
        IN_FOLDER(test_triggers_have_limits_by_default),
        IN_FOLDER(test_durations_have_units),
        IN_FOLDER(test_texts_that_are_empty_are_not_given),
        IN_FOLDER(test_unknown_keys_are_refused_with_a_suggestion),
        IN_FOLDER(test_keys_that_are_given_twice_are_refused),
        IN_FOLDER(test_values_of_a_wrong_kind_are_refused),
        IN_FOLDER(test_bad_numbers_are_refused),
        IN_FOLDER(test_bad_texts_are_refused),
        IN_FOLDER(test_unknown_events_are_refused_with_those_that_exist),
        IN_FOLDER(test_calls_of_functions_are_no_events_of_the_agent),
        IN_FOLDER(test_bad_urls_are_refused_without_their_passwords),
        IN_FOLDER(test_services_that_contradict_are_refused),
        IN_FOLDER(test_yaml_that_has_no_place_here_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
