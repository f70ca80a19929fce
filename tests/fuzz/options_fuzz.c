// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as arguments of options (libFuzzer). The first byte selects the option.
 */
#include <stdlib.h>
#include <string.h>

#include "beam/name_keys.h"
#include "capture/event_kinds.h"
#include "cli/command_line.h"
#include "output/output.h"
#include "session/trigger.h"
#include "util/alloc.h"
#include "view/selection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Each returns what the parser does: 0, or -1 with a sentence in the error. */

static int as_trigger(char *text, struct error *error)
{
    struct trigger trigger;

    if (trigger_parse(text, &trigger, error))
        return -1;
    check(trigger.kind <= TRIGGER_EXIT && trigger.limit >= 0);
    trigger_free(&trigger);
    return 0;
}

static int as_grouping(char *text, struct error *error)
{
    struct grouping grouping = {0};

    if (grouping_parse(text, &grouping, error))
        return -1;
    check(!grouping.keys[GROUPS_MAX + 1]);
    return 0;
}

static int as_event(char *text, struct error *error)
{
    struct event_request request = {0};

    return event_kinds_parse_request(text, event_kind_names(), &request, error);
}

/* Without patterns: glibc compiles these, for ever if they repeat repetitions. */
static int as_selection(char *text, struct error *error)
{
    struct selection_options options = {0};
    int result = selection_add_process(&options.processes, text, error) ||
                 selection_add_statuses(&options, text, error);

    selection_options_free(&options);
    return result ? -1 : 0;
}

static int as_number(char *text, struct error *error)
{
    uint64_t bytes;
    double seconds;
    pid_t pid;
    long number;

    if (!option_number("number", text, -5, 5, &number, error))
        check(number >= -5 && number <= 5);
    if (!option_pid(text, &pid, error))
        check(pid > 0);
    if (!option_seconds_or_0("seconds", text, &seconds, error))
        check(seconds >= 0 && seconds < 1e18);
    if (!option_percent("percent", text, &seconds, error))
        check(seconds > 0 && seconds <= 100);
    return option_bytes("bytes", text, &bytes, error);
}

static int as_name_key(char *text, struct error *error)
{
    struct name_keys keys = {0};

    if (name_keys_add(&keys, text, error))
        return -1;
    check(keys.count == 1 && keys.keys[0].atom[0] && keys.keys[0].element <= NAME_ELEMENT_MAX);
    check(memchr(keys.keys[0].atom, 0, NAME_KEY_BYTES) != NULL);
    return 0;
}

static int as_path(char *text, struct error *error)
{
    const struct output_format *format = output_format_of(text);

    (void)error;
    check(!format || output_format_named(format->name) == format);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int (*const options[])(char *text, struct error *error) = {
        as_trigger, as_grouping, as_event, as_selection, as_number, as_path, as_name_key};
    struct error error = {0};
    char *text;

    if (!size)
        return 0;
    text = xstrndup((const char *)data + 1, size - 1);
    if (options[data[0] % (sizeof(options) / sizeof(options[0]))](text, &error))
        check(error.code == ERROR_USAGE && error.text[0]);
    free(text);
    return 0;
}
