// SPDX-License-Identifier: Apache-2.0
#include "push/transfer.h"

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
    const struct curl_library *curl;
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

static void add_header(struct transfer *transfer, const char *header)
{
    struct curl_slist *longer = transfer->curl->slist_append(transfer->headers, header);

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
    __typeof__(&curl_easy_setopt) set = transfer->curl->easy_setopt;
    CURL *easy = transfer->easy;

    set(easy, CURLOPT_URL, url);
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_HTTPHEADER, transfer->headers);
    set(easy, CURLOPT_USERAGENT, "beamflame/" BEAMFLAME_VERSION);
    set(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    set(easy, CURLOPT_WRITEFUNCTION, take_answer);
    set(easy, CURLOPT_WRITEDATA, transfer);
    set(easy, CURLOPT_ERRORBUFFER, transfer->problem);
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    set(easy, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    set(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
    set(easy, CURLOPT_LOW_SPEED_TIME, (long)SLOW_SECONDS);
    set(easy, CURLOPT_NOSIGNAL, 1L);
    /* A thread that resolves a name is left alone: its end may be far beyond all limits. */
    set(easy, CURLOPT_QUICK_EXIT, 1L);
    /* The answer of a proxy to CONNECT is no answer of the service. */
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

struct transfer *transfer_new(const char *url, const char *const *headers, const char *tenant,
                              struct error *error)
{
    const struct curl_library *curl = curl_library(error);
    struct transfer *transfer;

    if (!curl)
        return NULL;
    transfer = xcalloc(1, sizeof(*transfer));
    transfer->curl = curl;
    transfer->transfers = curl->multi_init();
    transfer->easy = curl->easy_init();
    if (!transfer->transfers || !transfer->easy) {
        transfer_free(transfer);
        error_set(error, ERROR_FAILED, "libcurl makes no handle: out of memory");
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
    transfer->curl->easy_cleanup(transfer->easy);
    transfer->curl->multi_cleanup(transfer->transfers);
    transfer->curl->slist_free_all(transfer->headers);
    buffer_free(&transfer->answer);
    free(transfer);
}

/* Without its certificates, the system's would be trusted: a failure must end the request. */
static CURLcode set_trust(const struct transfer *transfer, const struct buffer *certificates)
{
    struct curl_blob blob = {certificates->data, certificates->size, CURL_BLOB_COPY};
    CURLcode code = transfer->curl->easy_setopt(transfer->easy, CURLOPT_CAINFO_BLOB, &blob);

    /* curl would look into the system's folder, too. */
    return code ? code : transfer->curl->easy_setopt(transfer->easy, CURLOPT_CAPATH, NULL);
}

static CURLcode set_access(const struct transfer *transfer, const struct transfer_access *access)
{
    __typeof__(&curl_easy_setopt) set = transfer->curl->easy_setopt;
    CURL *easy = transfer->easy;

    set(easy, CURLOPT_HTTPAUTH, (long)(access->token ? CURLAUTH_BEARER : CURLAUTH_BASIC));
    set(easy, CURLOPT_USERNAME, access->user);
    set(easy, CURLOPT_PASSWORD, access->password);
    set(easy, CURLOPT_XOAUTH2_BEARER, access->token);
    return access->certificates ? set_trust(transfer, access->certificates) : CURLE_OK;
}

/* Forget the secrets: the next request reads their files again. */
static void clear_access(const struct transfer *transfer)
{
    __typeof__(&curl_easy_setopt) set = transfer->curl->easy_setopt;
    CURL *easy = transfer->easy;

    set(easy, CURLOPT_USERNAME, NULL);
    set(easy, CURLOPT_PASSWORD, NULL);
    set(easy, CURLOPT_XOAUTH2_BEARER, NULL);
}

static CURLcode ended_with(const struct transfer *transfer)
{
    const CURLMsg *message;
    int left;

    while ((message = transfer->curl->multi_info_read(transfer->transfers, &left)))
        if (message->msg == CURLMSG_DONE)
            return message->data.result;
    return CURLE_ABORTED_BY_CALLBACK;
}

static CURLcode run(struct transfer *transfer, const struct push_stop *stop)
{
    const struct curl_library *curl = transfer->curl;
    CURLMcode code = curl->multi_add_handle(transfer->transfers, transfer->easy);
    CURLcode result = CURLE_FAILED_INIT;
    int running = 1;

    while (!code && running && !stop->is_set(stop->context)) {
        code = curl->multi_perform(transfer->transfers, &running);
        if (!code && running)
            code = curl->multi_poll(transfer->transfers, NULL, 0, STOP_MS, NULL);
    }
    if (!code)
        result = ended_with(transfer);
    curl->multi_remove_handle(transfer->transfers, transfer->easy);
    return result;
}

static const char *text_of(const struct transfer *transfer, CURLINFO info)
{
    char *text = NULL;

    transfer->curl->easy_getinfo(transfer->easy, info, &text);
    return text ? text : "";
}

static struct transfer_result result_of(struct transfer *transfer, CURLcode code)
{
    struct transfer_result result = {.code = code, .answer = &transfer->answer};
    __typeof__(&curl_easy_getinfo) get = transfer->curl->easy_getinfo;
    curl_off_t sent = 0, retry_after = 0;

    get(transfer->easy, CURLINFO_RESPONSE_CODE, &result.status);
    get(transfer->easy, CURLINFO_SSL_VERIFYRESULT, &result.verify);
    get(transfer->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    get(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
    result.sent = sent > 0 ? (uint64_t)sent : 0;
    result.retry_after = retry_after > 0 ? (double)retry_after : 0;
    result.content_type = text_of(transfer, CURLINFO_CONTENT_TYPE);
    result.redirect = text_of(transfer, CURLINFO_REDIRECT_URL);
    result.problem = *transfer->problem ? transfer->problem : transfer->curl->easy_strerror(code);
    result.answer_is_cut = transfer->answer_is_cut;
    return result;
}

struct transfer_result transfer_post(struct transfer *transfer, const struct buffer *body,
                                     const struct transfer_access *access,
                                     const struct push_stop *stop)
{
    CURLcode code;

    transfer->answer.size = 0;
    transfer->answer_is_cut = false;
    transfer->problem[0] = '\0';
    transfer->curl->easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, body->data ? body->data : "");
    transfer->curl->easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                (curl_off_t)body->size);
    code = set_access(transfer, access);
    if (!code)
        code = run(transfer, stop);
    clear_access(transfer);
    return result_of(transfer, code);
}
