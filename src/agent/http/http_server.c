// SPDX-License-Identifier: Apache-2.0
#include "agent/http/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/listen_address.h"
#include "agent/http/http_answer.h"
#include "agent/http/microhttpd_library.h"
#include "agent/http/slow_requests.h"
#include "os/fence.h"
#include "os/privileges.h"
#include "util/clock.h"

enum {
    CONNECTIONS = 32,
    CONNECTIONS_OF_ONE = 16,  /* of one address, so that others are answered too */
    TIMEOUT_SECONDS = 10,     /* of a connection that sends or takes nothing */
    REQUEST_BYTES = 16 << 10, /* of a request's head */
};

/* Send the answer of a request. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct http_answer *answer)
{
    struct MHD_Response *response =
        answer->fd >= 0 ? microhttpd.create_response_from_fd64(answer->size, answer->fd)
                        : microhttpd.create_response_from_buffer(
                              answer->text.size, answer->text.data, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;
    char damaged[16];

    microhttpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    microhttpd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (answer->status == MHD_HTTP_UNAUTHORIZED)
        microhttpd.add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (answer->name[0])
        microhttpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, answer->name);
    snprintf(damaged, sizeof(damaged), "%u", answer->damaged);
    if (answer->damaged)
        microhttpd.add_response_header(response, "Beamflame-Damaged-Recordings", damaged);
    result = microhttpd.queue_response(connection, answer->status, response);
    microhttpd.destroy_response(response);
    buffer_free(&answer->text);
    return result;
}

static const char *argument(void *context, const char *name)
{
    return microhttpd.lookup_connection_value(context, MHD_GET_ARGUMENT_KIND, name);
}

/* Marks of a request: it has begun, it has a place (http/slow_requests.h). The marks are the
 * addresses. */
static int begun, has_place;

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *body, size_t *body_size, void **state)
{
    const struct http_request request = {
        .path = url,
        .is_get = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD),
        .is_head = !strcmp(method, MHD_HTTP_METHOD_HEAD),
        .host =
            microhttpd.lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
        .authorization = microhttpd.lookup_connection_value(connection, MHD_HEADER_KIND,
                                                            MHD_HTTP_HEADER_AUTHORIZATION),
        .accept =
            microhttpd.lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
        .argument = argument,
        .context = connection,
    };
    struct http_answer answer;

    (void)version;
    (void)body;
    if (!*state) { /* the head is there, but not all of the body */
        *state = &begun;
        return MHD_YES;
    }
    if (*body_size) { /* no request has a body that matters */
        *body_size = 0;
        return MHD_YES;
    }
    answer = http_answer_make(context, &request);
    if (answer.is_slow)
        *state = &has_place;
    return send_answer(connection, &answer);
}

static void end_request(void *context, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    if (*state == &has_place)
        slow_requests_leave();
    *state = NULL;
}

static void run(const struct http_server_options *options, int listening, int end_fd)
{
    struct pollfd end = {.fd = end_fd, .events = POLLIN};
    /* A thread for each connection: a thread of several would let some wait for a slow request. */
    struct MHD_Daemon *daemon = microhttpd.start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC, 0, NULL, NULL,
        take_request, (void *)options, MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_OF_ONE, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES, MHD_OPTION_NOTIFY_COMPLETED,
        end_request, NULL, MHD_OPTION_END);

    while (daemon && poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
    if (daemon)
        microhttpd.stop_daemon(daemon);
    _exit(daemon ? 0 : ERROR_FAILED);
}

static struct file_fence *fence_of(const struct agent_config *config)
{
    struct file_fence *fence = file_fence_new();

    file_fence_read(fence, config->spool.directory);
    file_fence_read_beside(fence, config->http.token_file);
    return fence;
}

struct http_job {
    const struct http_server_options *options;
    int listening;
};

static void run_start(void *context, int end_fd)
{
    const struct http_job *start = context;
    struct error error;

    tzset(); /* reads files */
    privileges_send(fence_of(start->options->config));
    if (microhttpd_load(&error)) {
        start->options->warn("HTTP is not answered: %s", error.text);
        _exit(WORKER_CAN_NOT_RUN);
    }
    privileges_send_only();
    run(start->options, start->listening, end_fd);
}

int http_server_start(struct worker *worker, const struct http_server_options *options,
                      struct error *error)
{
    const char *text = options->config->http.listen;
    struct listen_address address;
    struct http_job start = {.options = options};
    int result;

    *worker = (struct worker){.end_fd = -1, .started = clock_ns(CLOCK_MONOTONIC)};
    if (listen_address_parse(text, options->config->spool.directory, &address, error))
        return -1;
    start.listening = listen_address_open(&address, text, error);
    if (start.listening < 0)
        return -1;
    result = worker_start(
        worker,
        &(struct worker_job){.name = "beamflame-http",
                             .run = run_start,
                             .context = &start,
                             .kept = {start.listening, options->log_file, options->dumps, -1}},
        error);
    close(start.listening);
    return result;
}

void http_server_end(struct worker *worker)
{
    worker_await(worker, 0); /* an answer that is cut can be requested again */
}
