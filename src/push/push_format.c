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

/* Connect and gRPC's gateway answer 499, "canceled", if the service gave up or ends. A later try
 * does not help against 501 (not implemented) and 505 (unknown version of HTTP). */
bool push_format_is_later(long status)
{
    return status == 408 || status == 429 || status == 499 ||
           (status >= 500 && status != 501 && status != 505);
}
