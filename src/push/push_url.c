// SPDX-License-Identifier: Apache-2.0
#include "push/transfer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* Return a part of a URL, malloc'ed; NULL if it has none. */
static char *part_of(const struct curl_library *curl, CURLU *url, CURLUPart part)
{
    char *text, *copy;

    if (curl->url_get(url, part, &text, 0))
        return NULL;
    copy = xstrdup(text);
    curl->free(text);
    return copy;
}

static bool has(const struct curl_library *curl, CURLU *url, CURLUPart part)
{
    char *text = part_of(curl, url, part);

    free(text);
    return text != NULL;
}

#define BAD_SCHEME "it begins with neither http:// nor https://"

/* Return why a text can't be used as URL; NULL if it can. */
static const char *parse(const struct curl_library *curl, CURLU *url, const char *text)
{
    CURLUcode code = curl->url_set(url, CURLUPART_URL, text, 0);
    char *scheme;
    bool known;

    if (code)
        return code == CURLUE_UNSUPPORTED_SCHEME || code == CURLUE_BAD_SCHEME
                   ? BAD_SCHEME
                   : curl->url_strerror(code);
    scheme = part_of(curl, url, CURLUPART_SCHEME);
    known = scheme && (!strcmp(scheme, "http") || !strcmp(scheme, "https"));
    free(scheme);
    if (!known)
        return BAD_SCHEME;
    if (has(curl, url, CURLUPART_USER) || has(curl, url, CURLUPART_PASSWORD))
        return "it has a user: give user and password_file";
    if (has(curl, url, CURLUPART_QUERY) || has(curl, url, CURLUPART_FRAGMENT))
        return "it has a query or a fragment";
    return NULL;
}

/* Add `path` to the path of the URL, which may end with '/'. */
static void add_path(const struct curl_library *curl, CURLU *url, const char *path)
{
    char *given = part_of(curl, url, CURLUPART_PATH), *joined;
    size_t size = given ? strlen(given) : 0;

    while (size && given[size - 1] == '/')
        size--;
    joined = xasprintf("%.*s%s", (int)size, given ? given : "", path);
    curl->url_set(url, CURLUPART_PATH, joined, 0);
    free(given);
    free(joined);
}

char *push_url_of(const struct push_service *service, const char *path, char **ret_host,
                  struct error *error)
{
    const struct curl_library *curl = curl_library(error);
    const char *problem;
    char *whole = NULL;
    CURLU *url;

    if (!curl)
        return NULL;
    url = curl->url();
    problem = parse(curl, url, service->url);
    if (problem) {
        error_set(error, ERROR_USAGE, "url of service '%s': %s", service->name, problem);
    } else {
        add_path(curl, url, path);
        whole = part_of(curl, url, CURLUPART_URL);
        *ret_host = part_of(curl, url, CURLUPART_HOST);
    }
    curl->url_cleanup(url);
    return whole;
}
