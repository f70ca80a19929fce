// SPDX-License-Identifier: Apache-2.0
#include "push/transfer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 30000,
    SLOW_SECONDS = 15, /* at fewer than SLOW_BYTES a second, a request has failed */
    SLOW_BYTES = 64,
    ANSWER_MOST = 64 << 10,
    STOP_MS = 200, /* between looks at `stop` */
};

struct transfer {
    CURLM *transfers; /* owns the connections */
    CURL *easy;
    struct curl_slist *headers;
    char problem[CURL_ERROR_SIZE];
    struct buffer answer;
    bool answer_is_cut;
};

static size_t take_answer(char *data, size_t one, size_t size, void *context)
{
    struct transfer *transfer = context;
    size_t room = ANSWER_MOST - transfer->answer.size;

    (void)one;
    buffer_put(&transfer->answer, data, size < room ? size : room);
    transfer->answer_is_cut = size > room;
    return size > room ? 0 : size;
}

static void init_library(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void add_header(struct transfer *transfer, const char *header)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, header);

    if (!longer)
        abort();
    transfer->headers = longer;
}

static void add_headers(struct transfer *transfer, const char *const *headers, const char *tenant)
{
    for (; *headers; headers++)
        add_header(transfer, *headers);
    /* curl would wait for a server's leave to send a body of more than 1 MB. */
    add_header(transfer, "Expect:");
    if (tenant) {
        char *header = xasprintf("X-Scope-OrgID: %s", tenant);

        add_header(transfer, header);
        free(header);
    }
}

/* Options of all requests. curl's own defaults follow no redirect, and take proxies from the usual
 * variables. */
static void set_options(struct transfer *transfer, const char *url)
{
    CURL *easy = transfer->easy;

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "beamflame/" BEAMFLAME_VERSION);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)SLOW_SECONDS);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* A thread that resolves a name is left alone: its end may be far beyond all limits. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    /* The answer of a proxy to CONNECT is no answer of the service. */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

struct transfer *transfer_new(const char *url, const char *const *headers, const char *tenant)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct transfer *transfer = xcalloc(1, sizeof(*transfer));

    pthread_once(&once, init_library);
    transfer->transfers = curl_multi_init();
    transfer->easy = curl_easy_init();
    if (!transfer->transfers || !transfer->easy) {
        transfer_free(transfer);
        return NULL;
    }
    add_headers(transfer, headers, tenant);
    set_options(transfer, url);
    return transfer;
}

void transfer_free(struct transfer *transfer)
{
    if (!transfer)
        return;
    curl_easy_cleanup(transfer->easy);
    curl_multi_cleanup(transfer->transfers);
    curl_slist_free_all(transfer->headers);
    buffer_free(&transfer->answer);
    free(transfer);
}

/* Without its certificates, the system's would be trusted: a failure must end the request. */
static CURLcode set_trust(CURL *easy, const struct buffer *certificates)
{
    struct curl_blob blob = {certificates->data, certificates->size, CURL_BLOB_COPY};
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);

    /* curl would look into the system's folder, too. */
    return code ? code : curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static CURLcode set_access(CURL *easy, const struct transfer_access *access)
{
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH,
                     (long)(access->token ? CURLAUTH_BEARER : CURLAUTH_BASIC));
    curl_easy_setopt(easy, CURLOPT_USERNAME, access->user);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, access->password);
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, access->token);
    return access->certificates ? set_trust(easy, access->certificates) : CURLE_OK;
}

/* Forget the secrets: the next request reads their files again. */
static void clear_access(CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_USERNAME, NULL);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, NULL);
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, NULL);
}

static CURLcode ended_with(CURLM *transfers)
{
    const CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(transfers, &left)))
        if (message->msg == CURLMSG_DONE)
            return message->data.result;
    return CURLE_ABORTED_BY_CALLBACK;
}

static CURLcode run(struct transfer *transfer, const volatile int *stop)
{
    CURLMcode code = curl_multi_add_handle(transfer->transfers, transfer->easy);
    CURLcode result = CURLE_FAILED_INIT;
    int running = 1;

    while (!code && running && !*stop) {
        code = curl_multi_perform(transfer->transfers, &running);
        if (!code && running)
            code = curl_multi_poll(transfer->transfers, NULL, 0, STOP_MS, NULL);
    }
    if (!code)
        result = ended_with(transfer->transfers);
    curl_multi_remove_handle(transfer->transfers, transfer->easy);
    return result;
}

static const char *text_of(CURL *easy, CURLINFO info)
{
    char *text = NULL;

    curl_easy_getinfo(easy, info, &text);
    return text ? text : "";
}

static struct transfer_result result_of(struct transfer *transfer, CURLcode code)
{
    struct transfer_result result = {.code = code, .answer = &transfer->answer};
    curl_off_t sent = 0, retry_after = 0;

    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &result.status);
    curl_easy_getinfo(transfer->easy, CURLINFO_SSL_VERIFYRESULT, &result.verify);
    curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
    result.sent = sent > 0 ? (uint64_t)sent : 0;
    result.retry_after = retry_after > 0 ? (double)retry_after : 0;
    result.content_type = text_of(transfer->easy, CURLINFO_CONTENT_TYPE);
    result.redirect = text_of(transfer->easy, CURLINFO_REDIRECT_URL);
    result.problem = *transfer->problem ? transfer->problem : curl_easy_strerror(code);
    result.answer_is_cut = transfer->answer_is_cut;
    return result;
}

struct transfer_result transfer_post(struct transfer *transfer, const struct buffer *body,
                                     const struct transfer_access *access, const volatile int *stop)
{
    CURLcode code;

    transfer->answer.size = 0;
    transfer->answer_is_cut = false;
    transfer->problem[0] = '\0';
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, body->data ? body->data : "");
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
    code = set_access(transfer->easy, access);
    if (!code)
        code = run(transfer, stop);
    clear_access(transfer->easy);
    return result_of(transfer, code);
}
