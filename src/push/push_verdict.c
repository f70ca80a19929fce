// SPDX-License-Identifier: Apache-2.0
#include "push/push_format.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

static bool is_type(const struct push_answer *answer, const char *type)
{
    return strncasecmp(answer->content_type, type, strlen(type)) == 0;
}

/* The answer's own words, malloc'ed. A proxy answers for the service in words of its own, of which
 * only plain text is of use. NULL: nothing. */
static char *words_of(const struct push_format *format, const struct push_answer *answer)
{
    char *words = format->problem(answer);

    if (words && *words)
        return words;
    free(words);
    return is_type(answer, "text/plain") && answer->body.size
               ? xstrndup(answer->body.at, answer->body.size)
               : NULL;
}

/* Advice for a status; "" if the words of the service must do. */
static const char *advice(long status)
{
    switch (status) {
    case 401:
    case 403:
        return "; check user and password_file, or token_file";
    case 404:
    case 405:
        return "; check url, and if the service takes profiles";
    case 413:
        return "; raise the limit of the service or of its proxy";
    default:
        return "";
    }
}

static void read_problem(const struct push_format *format, const struct push_answer *answer,
                         struct push_reply *reply)
{
    char *words = words_of(format, answer);

    reply->outcome =
        answer->status >= 400 && format->is_later(answer->status) ? PUSH_LATER : PUSH_REFUSED;
    push_reason_set(reply, "status %ld%s%s%s", answer->status, words ? ": " : "",
                    words ? words : "", advice(answer->status));
    free(words);
}

void push_verdict(const struct push_format *format, const struct push_answer *answer,
                  struct push_reply *reply)
{
    reply->status = answer->status;
    if (answer->status < 200 || answer->status > 299) {
        read_problem(format, answer, reply);
    } else if (is_type(answer, "text/html")) {
        /* A login page, or the page of another service, for which any path is right. */
        reply->outcome = PUSH_REFUSED;
        push_reason_set(reply, "status %ld with a page for browsers; check url", answer->status);
    } else {
        reply->outcome = PUSH_ACCEPTED;
        if (format->read_accepted)
            format->read_accepted(answer, reply);
    }
}
