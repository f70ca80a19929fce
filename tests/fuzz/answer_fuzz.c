// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as the answer of a service to a push (libFuzzer). The first byte selects the protocol,
 * the second the status, the third the type of the content.
 */
#include <stdlib.h>
#include <string.h>

#include "push/push_format.h"
#include "util/alloc.h"
#include "util/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const long statuses[] = {200, 400, 404, 429, 500, 503};
    static const char *const types[] = {"", "application/json", "application/x-protobuf",
                                        "text/plain"};
    struct push_answer answer;
    struct push_reply reply = {0};
    char *body;

    if (size < 3)
        return 0;
    body = xmalloc(size - 2);
    memcpy(body, data + 3, size - 3);
    answer = (struct push_answer){statuses[data[1] % 6], types[data[2] % 4], {body, size - 3}};
    push_verdict(push_format_of(data[0] % PUSH_PROTOCOLS), &answer, &reply);
    check((reply.outcome == PUSH_ACCEPTED) == (answer.status == 200));
    check(reply.status == answer.status && strlen(reply.reason) < sizeof(reply.reason));
    check(utf8_is_clean(reply.reason, strlen(reply.reason)));
    check(answer.status == 200 || !strncmp(reply.reason, "status ", 7));
    free(body);
    return 0;
}
