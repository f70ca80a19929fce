// SPDX-License-Identifier: Apache-2.0
/*
 * OTLP/HTTP (docs/specification.md of opentelemetry-proto, 1.11.0). An ExportProfilesServiceRequest
 * has the same bytes as a ProfilesData.
 */
#include "push/push_format.h"

#include <inttypes.h>

#include "push/gzip.h"
#include "services/otlp_answer.pb-c.h"
#include "util/alloc.h"

static void write_request(struct buffer *body, const struct push_profile *profiles, size_t count)
{
    (void)count;
    gzip_put(body, profiles->data, profiles->size);
}

/* An answer with words but nothing rejected is a warning. An answer that can't be read counts as
 * acceptance: the request must not be sent again. */
static void read_accepted(const struct push_answer *answer, struct push_reply *reply)
{
    Otlp__ExportResponse *response =
        otlp__export_response__unpack(NULL, answer->body.size, (const uint8_t *)answer->body.at);
    const Otlp__PartialSuccess *partial = response ? response->partial_success : NULL;

    if (partial) {
        reply->rejected = partial->rejected_profiles > 0 ? (uint64_t)partial->rejected_profiles : 0;
        if (reply->rejected)
            push_reason_set(reply, "%" PRIu64 " of its profiles rejected: %s", reply->rejected,
                            partial->error_message);
        else
            push_reason_set(reply, "%s", partial->error_message);
    }
    if (response)
        otlp__export_response__free_unpacked(response, NULL);
}

/* google.rpc.Status; Pyroscope answers with plain text. */
static char *problem(const struct push_answer *answer)
{
    Otlp__Status *status = NULL;
    char *words = NULL;

    if (strcmp(answer->content_type, "application/x-protobuf") == 0)
        status = otlp__status__unpack(NULL, answer->body.size, (const uint8_t *)answer->body.at);
    if (status) {
        words = xstrdup(status->message);
        otlp__status__free_unpacked(status, NULL);
    }
    return words;
}

/* "All other 4xx or 5xx response status codes MUST NOT be retried." */
static bool is_later(long status)
{
    return status == 429 || (status >= 502 && status <= 504);
}

static const char *const headers[] = {"Content-Type: application/x-protobuf",
                                      "Content-Encoding: gzip", NULL};

const struct push_format otlp_request_format = {
    .path = "/v1development/profiles",
    .headers = headers,
    .most = 1,
    .write = write_request,
    .read_accepted = read_accepted,
    .problem = problem,
    .is_later = is_later,
};
