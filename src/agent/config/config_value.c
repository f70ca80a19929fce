// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_value.h"

#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

enum { SHOWN_CELLS = 60 };

struct config_shown config_value_shown(const char *text)
{
    struct config_shown shown;
    size_t size = utf8_fit(text, SHOWN_CELLS), used = utf8_clean(shown.text, text, size);

    strcpy(shown.text + used, text[size] ? "..." : "");
    return shown;
}

int config_value_refuse(const struct config_key *key, const char *what, const char *text,
                        struct error *error)
{
    struct config_shown shown = config_value_shown(text);
    char path[CONFIG_PATH_ROOM];

    config_key_path(key, path);
    return error_set(error, ERROR_USAGE, "%s must be %s, not '%s'", path, what, shown.text);
}

int config_value_parse(const struct config_key *key, const char *text, void *target,
                       struct error *error)
{
    char path[CONFIG_PATH_ROOM];

    config_key_path(key, path);
    if (!utf8_is_clean(text, strlen(text)))
        return error_set(error, ERROR_USAGE, "%s has a character that is not plain text", path);
    if (!key->type->is_text)
        return key->type->parse(key, text, target, error);
    if (strlen(text) > (size_t)key->most)
        return error_set(error, ERROR_USAGE, "%s must have at most %.0f bytes, not %zu", path,
                         key->most, strlen(text));
    if (text[0] || key->fallback || key->like)
        return key->type->parse(key, text, target, error);
    config_value_free(key, target);
    return 0;
}

void config_value_print(const struct config_key *key, const void *target, struct buffer *text)
{
    if (key->type->print)
        key->type->print(target, text);
    else
        buffer_text(text, *(char *const *)target);
}

bool config_value_is_given(const struct config_key *key, const void *target)
{
    return !key->type->is_text || *(char *const *)target;
}

void config_value_free(const struct config_key *key, void *target)
{
    char **text = target;

    if (!key->type->is_text)
        return;
    free(*text);
    *text = NULL;
}

void config_value_limits(const struct config_key *key, struct buffer *text)
{
    if (key->type->print_limit) {
        key->type->print_limit(key->least, text);
        buffer_text(text, " to ");
        key->type->print_limit(key->most, text);
    } else if (key->type->is_text) {
        buffer_format(text, "at most %.0f bytes", key->most);
    }
}
