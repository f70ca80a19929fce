// SPDX-License-Identifier: Apache-2.0
#include "push/push_format.h"

const struct push_format *push_format_of(enum push_protocol protocol)
{
    static const struct push_format *const formats[PUSH_PROTOCOLS] = {
        [PUSH_OTLP] = &otlp_request_format,
        [PUSH_PYROSCOPE] = &pyroscope_request_format,
        [PUSH_PARCA] = &parca_request_format};

    return formats[protocol];
}

char *push_format_problem(const struct push_answer *answer)
{
    return answer_json_text(answer->body, "message");
}

/* 499 is "canceled", of Connect and of gRPC's gateway: the service gave up, or ends. What it does
 * not implement (501), and a version of HTTP that it does not know (505), will not change. */
bool push_format_is_later(long status)
{
    return status == 408 || status == 429 || status == 499 ||
           (status >= 500 && status != 501 && status != 505);
}
