// SPDX-License-Identifier: Apache-2.0
#include "agent/http/http_answer.h"

#include <string.h>
#include <sys/stat.h>

#include "agent/dumper.h"

static unsigned status_of(const struct error *error, bool is_busy)
{
    if (is_busy)
        return 503;
    switch (error->code) {
    case ERROR_USAGE:
        return 400;
    case ERROR_NO_PROCESS:
        return 404;
    default:
        return 500;
    }
}

struct http_answer dump_answer(int dumps, const struct http_request *request)
{
    const char *format = request->argument(request->context, "format");
    bool as_json = !format || !strcmp(format, "json"), is_busy;
    struct http_answer answer = {
        .status = 200, .type = as_json ? "application/json" : "text/plain; charset=utf-8"};
    struct error error;
    struct stat status;

    if (!as_json && strcmp(format, "text") != 0)
        return http_answer_text(400, "a dump's format is json or text, not '%s'", format);
    answer.fd = dumper_request(dumps, request->argument(request->context, "node"), as_json,
                               &is_busy, &error);
    if (answer.fd < 0)
        return http_answer_text(status_of(&error, is_busy), "%s", error.text);
    fstat(answer.fd, &status);
    answer.size = (uint64_t)status.st_size;
    return answer;
}
