// SPDX-License-Identifier: Apache-2.0
#include "agent/http/http_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/http/agent_metrics.h"
#include "agent/http/slow_requests.h"
#include "util/clock.h"
#include "util/files.h"

enum { READY_SECONDS = 10 }; /* since the last step of recording */

static const char PLAIN[] = "text/plain; charset=utf-8";

struct http_answer http_answer_text(unsigned status, const char *format, ...)
{
    struct http_answer answer = {.status = status, .type = PLAIN, .fd = -1};
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    buffer_format(&answer.text, "%s\n", text);
    free(text);
    return answer;
}

/* ---- who may ask ---- */

/* Takes as long for each text of the same size. */
static bool is_equal(const char *a, const char *b)
{
    size_t size = strlen(a);
    unsigned char differs = 0;

    if (strlen(b) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return !differs;
}

static bool may_ask(const struct http_server_options *options, const struct http_request *request)
{
    static const char bearer[] = "Bearer ";
    const char *path = options->config->http.token_file;
    const char *given = request->authorization;
    struct buffer token = {0};
    struct error error;
    bool may;

    if (!path)
        return true;
    if (!given || strncmp(given, bearer, strlen(bearer)) != 0 ||
        small_file_secret(path, &token, &error))
        return false;
    may = is_equal(given + strlen(bearer), token.data);
    small_file_free(&token);
    return may;
}

/* A page of a browser can have the name of its host changed to this address. Without a token, only
 * addresses and "localhost" are names of this host. */
static bool is_own_host(const struct http_server_options *options, const char *host)
{
    static const char local[] = "localhost", digits[] = "0123456789abcdefABCDEF.:[]";

    if (!host || options->config->http.token_file ||
        !strncmp(options->config->http.listen, "unix:", strlen("unix:")))
        return true;
    if (!strncmp(host, local, strlen(local)) &&
        (!host[strlen(local)] || host[strlen(local)] == ':'))
        return true;
    return !host[strspn(host, digits)] && (strchr(host, '.') || host[0] == '[');
}

/* ---- answers ---- */

static struct http_answer answer_ready(const struct agent_status *status)
{
    uint64_t now = clock_ns(CLOCK_BOOTTIME) / 1000000000, recorded = status->recorded_at;

    if (!recorded)
        return http_answer_text(503, "not recording yet");
    if (now > recorded + READY_SECONDS)
        return http_answer_text(503, "nothing recorded for %llu s",
                                (unsigned long long)(now - recorded));
    return http_answer_text(200, "recording %llu nodes", (unsigned long long)status->nodes);
}

static struct http_answer answer_metrics(const struct http_server_options *options,
                                         const char *accept)
{
    bool is_open = metric_text_is_open(accept);
    struct http_answer answer = {.status = 200,
                                 .type = is_open ? "application/openmetrics-text; version=1.0.0; "
                                                   "charset=utf-8"
                                                 : "text/plain; version=0.0.4; charset=utf-8",
                                 .fd = -1};

    agent_metrics_write(options->status, &(struct metric_text){&answer.text, is_open});
    return answer;
}

static bool is_slow(const char *path)
{
    return !strcmp(path, "/profile") || !strcmp(path, "/dump");
}

static struct http_answer answer_slow(const struct http_server_options *options,
                                      const struct http_request *request)
{
    struct http_answer answer;

    if (request->is_head)
        return http_answer_text(200, "%s", "");
    if (!slow_requests_enter())
        return http_answer_text(503, "%d other profiles or dumps are being made: try again",
                                SLOW_REQUESTS);
    if (!strcmp(request->path, "/profile"))
        answer = profile_answer(options->config, request);
    else
        answer = dump_answer(options->dumps, request);
    answer.is_slow = true;
    return answer;
}

struct http_answer http_answer_make(const struct http_server_options *options,
                                    const struct http_request *request)
{
    const char *path = request->path;

    if (!request->is_get)
        return http_answer_text(405, "only GET and HEAD are answered");
    if (!strcmp(path, "/healthz"))
        return http_answer_text(200, "ok");
    if (!strcmp(path, "/readyz"))
        return answer_ready(options->status);
    if (!is_own_host(options, request->host))
        return http_answer_text(403, "this host has another name: use its address");
    if (!may_ask(options, request))
        return http_answer_text(401, "the token of http.token_file is needed");
    if (!strcmp(path, "/metrics"))
        return answer_metrics(options, request->accept);
    if (!strcmp(path, "/nodes"))
        return nodes_answer(options->status);
    if (is_slow(path))
        return answer_slow(options, request);
    return http_answer_text(404,
                            "there are /healthz, /readyz, /metrics, /nodes, /profile and /dump");
}
