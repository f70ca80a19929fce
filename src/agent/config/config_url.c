// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config_internal.h"

#include <stdbool.h>
#include <string.h>

#include "util/span.h"

/* Return the part between "://" and the path. Its address is NULL if there is no scheme. */
static struct span authority_of(const char *url)
{
    const char *start = strstr(url, "://");

    if (!start)
        return (struct span){NULL, 0};
    start += strlen("://");
    return (struct span){start, strcspn(start, "/?#")};
}

static bool has_only_characters_of_urls(const char *url)
{
    for (; *url; url++)
        if (*url <= ' ' || *url > '~' || strchr("\"<>\\^`{|}", *url))
            return false;
    return true;
}

/* True if the text is "", or ":" and a port. */
static bool is_port(struct span text)
{
    uint64_t port;

    if (!text.size)
        return true;
    if (text.at[0] != ':')
        return false;
    text = span_skip(text, 1);
    return span_take_number(&text, 65535, &port) && port && !text.size;
}

/* HOST, HOST:PORT, [IPv6] or [IPv6]:PORT. */
static bool is_host(struct span text)
{
    const char *end = text.size && text.at[0] == '[' ? memchr(text.at, ']', text.size) : NULL;
    size_t size = 0;

    if (end) {
        size = (size_t)(end - text.at) + 1;
        return size > 2 && is_port(span_skip(text, size));
    }
    while (size < text.size && !strchr(":[]", text.at[size]))
        size++;
    return size && is_port(span_skip(text, size));
}

const char *config_url_fault(const char *url)
{
    struct span authority = authority_of(url);

    if (authority.at ? memchr(authority.at, '@', authority.size) != NULL : strchr(url, '@') != NULL)
        return "can't have credentials in it: set user and password_file instead";
    if (!begins_with(url, "http://") && !begins_with(url, "https://"))
        return "must begin with http:// or https://";
    if (strpbrk(url, "?#"))
        return "can't have a query or a fragment ('?' or '#')";
    if (!has_only_characters_of_urls(url))
        return "has a character that must be written as %XX in an URL";
    if (!is_host(authority))
        return "must have a host after '://', and may have a port from 1 to 65535 after the host";
    return NULL;
}
