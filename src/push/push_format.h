// SPDX-License-Identifier: Apache-2.0
/* How one protocol writes its requests and reads its answers. */
#pragma once

#include <stdbool.h>

#include "push/push_client.h"
#include "util/buffer.h"
#include "util/span.h"

/* An answer of HTTP. Texts are the service's: not clean. */
struct push_answer {
    long status;
    const char *content_type; /* "" without one */
    struct span body;
};

struct push_format {
    const char *path;           /* added to the URL of the service */
    const char *const *headers; /* "Content-Type: ..."; ends with NULL */
    size_t most;                /* profiles in a request */
    /* Append the body of a request to an empty buffer. */
    void (*write)(struct buffer *body, const struct push_profile *profiles, size_t count);
    /* Read an accepting answer: set `rejected` and `reason`. NULL: it says nothing. */
    void (*read_accepted)(const struct push_answer *answer, struct push_reply *reply);
    /* Return the problem in the answer's own words, malloc'ed. NULL: nothing in the protocol's
     * form. */
    char *(*problem)(const struct push_answer *answer);
    /* True if a request with this status, 400 to 599, may be sent again. */
    bool (*is_later)(long status);
};

extern const struct push_format otlp_request_format, pyroscope_request_format, parca_request_format;

const struct push_format *push_format_of(enum push_protocol protocol);

/* problem() and is_later() of protocols without a rule of their own. The problem is the text
 * "message" of a JSON answer. */
char *push_format_problem(const struct push_answer *answer);
bool push_format_is_later(long status);

/* ---- push_reason.c ---- */

/* Set the reason of a reply: one line, clean for a terminal, cut at a whole character if it is
 * long. */
void push_reason_set(struct push_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- push_verdict.c ---- */

/* Set outcome, status, reason and `rejected` of a reply by what the service has answered, other
 * than a redirect. */
void push_verdict(const struct push_format *format, const struct push_answer *answer,
                  struct push_reply *reply);

/* ---- answer_json.c ---- */

/* Return the value of a key of a JSON object, if it is a string: malloc'ed, up to its first NUL.
 * NULL: there is none, or what is before it is no JSON. */
char *answer_json_text(struct span json, const char *key);
