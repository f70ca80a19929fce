// SPDX-License-Identifier: Apache-2.0
/* The types of values that are texts, and the type of the protocol, which allows some texts
 * only. */
#include "agent/config/config_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/config_internal.h"
#include "os/listen_address.h"
#include "capture/event_kinds.h"
#include "capture/event_probes.h"
#include "profile/events.h"
#include "push/push_service.h"
#include "session/options.h"
#include "session/trigger.h"
#include "util/alloc.h"
#include "util/span.h"

static int store(const char *text, void *target)
{
    char **place = target;

    free(*place);
    *place = xstrdup(text);
    return 0;
}

static int parse_text(const struct config_key *key, const char *text, void *target,
                      struct error *error)
{
    (void)key;
    (void)error;
    return store(text, target);
}

const struct config_type config_text = {"text", true, parse_text, NULL, NULL};

static int parse_path(const struct config_key *key, const char *text, void *target,
                      struct error *error)
{
    if (text[0] != '/')
        return config_value_refuse(key, "a path that begins with '/'", text, error);
    return store(text, target);
}

const struct config_type config_path = {"path", true, parse_path, NULL, NULL};

static int parse_name(const struct config_key *key, const char *text, void *target,
                      struct error *error)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (text[strspn(text, allowed)])
        return config_value_refuse(key, "of letters, digits, '-' and '_'", text, error);
    return store(text, target);
}

const struct config_type config_name = {"name", true, parse_name, NULL, NULL};

/* The header of Basic authentication has a colon between user and password. */
static int parse_user(const struct config_key *key, const char *text, void *target,
                      struct error *error)
{
    if (strchr(text, ':'))
        return error_set(error, ERROR_USAGE,
                         "push.user can't have a ':'; the password belongs in a file, which "
                         "push.password_file names");
    return parse_text(key, text, target, error);
}

const struct config_type config_user = {"user", true, parse_user, NULL, NULL};

static int parse_url(const struct config_key *key, const char *text, void *target,
                     struct error *error)
{
    const char *fault = config_url_fault(text);
    char path[CONFIG_PATH_ROOM];

    config_key_path(key, path);
    if (fault)
        return error_set(error, ERROR_USAGE, "%s %s", path, fault);
    return store(text, target);
}

const struct config_type config_url = {"URL", true, parse_url, NULL, NULL};

/* Where the directory of a socket is not known yet, "" is as good as any. */
static int parse_listen(const struct config_key *key, const char *text, void *target,
                        struct error *error)
{
    struct listen_address address;
    char path[CONFIG_PATH_ROOM];

    config_key_path(key, path);
    if (*text && listen_address_parse(text, "", &address, error))
        return error_prefix(error, "%s", path);
    return store(text, target);
}

const struct config_type config_listen = {"address", true, parse_listen, NULL, NULL};

/* ---- flags ---- */

static int parse_flag(const struct config_key *key, const char *text, void *target,
                      struct error *error)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return config_value_refuse(key, "true or false", text, error);
    *(bool *)target = text[0] == 't';
    return 0;
}

static void print_flag(const void *target, struct buffer *text)
{
    buffer_text(text, *(const bool *)target ? "true" : "false");
}

const struct config_type config_flag = {"flag", false, parse_flag, print_flag, NULL};

/* ---- protocols ---- */

static int parse_protocol(const struct config_key *key, const char *text, void *target,
                          struct error *error)
{
    char names[80] = "one of ";

    for (int i = 0; i < PUSH_PROTOCOLS; i++) {
        const char *name = push_service_protocol_name((enum push_protocol)i);

        if (!strcmp(name, text)) {
            *(enum push_protocol *)target = (enum push_protocol)i;
            return 0;
        }
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? ", " : "", name);
    }
    return config_value_refuse(key, names, text, error);
}

static void print_protocol(const void *target, struct buffer *text)
{
    buffer_text(text, push_service_protocol_name(*(const enum push_protocol *)target));
}

const struct config_type config_protocol = {"protocol", false, parse_protocol, print_protocol,
                                            NULL};

/* ---- events ---- */

/* Check one event of a list. */
static int check_event(const struct config_key *key, const char *name, struct error *error)
{
    const char *section = config_section_name(key->section);
    struct event_request request;

    if ((!strcmp(name, EVENT_CPU) || !strcmp(name, EVENT_WALL)) && key->section == CONFIG_PUSH)
        return 0;
    if (!strcmp(name, EVENT_CPU) || !strcmp(name, EVENT_WALL))
        return error_set(error, ERROR_USAGE,
                         "%s.events can't have '%s': %s.%s sets how often it is sampled", section,
                         name, section, name);
    if (begins_with(name, EVENT_CALL))
        return error_set(error, ERROR_USAGE,
                         "%s.events can't have '%s': calls of Erlang functions are counted by "
                         "'beamflame record -e %s'",
                         section, name, name);
    if (event_kinds_parse_request(name, session_options_event_names(), &request, error))
        return error_prefix(error, "%s.events", section);
    return 0;
}

/* Cut blanks off both ends of a text. */
static char *trimmed(char *text)
{
    size_t size;

    text += strspn(text, " ");
    size = strlen(text);
    while (size && text[size - 1] == ' ')
        text[--size] = '\0';
    return text;
}

/* Append each event of the list "gc, alloc", which is modified, as "gc,alloc". */
static int add_events(const struct config_key *key, char *list, struct buffer *events,
                      struct error *error)
{
    char *rest = NULL;
    int count = 0;

    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        name = trimmed(name);
        if (!*name)
            continue;
        if (check_event(key, name, error))
            return -1;
        if (count++ == EVENTS_MAX)
            return error_set(error, ERROR_USAGE, "%s.events can have at most %d events",
                             config_section_name(key->section), EVENTS_MAX);
        buffer_format(events, "%s%s", events->size ? "," : "", name);
    }
    return 0;
}

static int parse_events(const struct config_key *key, const char *text, void *target,
                        struct error *error)
{
    struct buffer events = {0};
    char *list = xstrdup(text);
    int result = add_events(key, list, &events, error);

    buffer_byte(&events, '\0');
    if (!result)
        store(events.data, target);
    free(list);
    buffer_free(&events);
    return result;
}

const struct config_type config_events = {"events", true, parse_events, NULL, NULL};

/* ---- triggers ---- */

static int parse_trigger(const struct config_key *key, const char *text, void *target,
                         struct error *error)
{
    struct trigger trigger;
    char path[CONFIG_PATH_ROOM];

    config_key_path(key, path);
    if (trigger_parse(text, &trigger, error))
        return error_prefix(error, "%s", path);
    trigger_free(&trigger);
    return store(text, target);
}

const struct config_type config_trigger = {"condition", true, parse_trigger, NULL, NULL};
