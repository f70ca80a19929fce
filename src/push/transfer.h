// SPDX-License-Identifier: Apache-2.0
/* Requests of HTTP to one URL, over connections that stay open (libcurl). */
#pragma once

#include <stdbool.h>

/* curl's checks of types are macros around functions that are linked. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "push/push_client.h"
#include "push/push_service.h"
#include "util/buffer.h"
#include "util/error.h"

/* ---- curl_library.c ---- */

/*
 * libcurl, loaded when the first client needs it. It brings some 30 libraries, which would take 17
 * ms and 6 MB of each command, and run their own code at the start of a program with rights.
 */

#define CURL_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(easy_cleanup)                                                                         \
    FUNCTION(easy_getinfo)                                                                         \
    FUNCTION(easy_init)                                                                            \
    FUNCTION(easy_setopt)                                                                          \
    FUNCTION(easy_strerror)                                                                        \
    FUNCTION(free)                                                                                 \
    FUNCTION(global_init)                                                                          \
    FUNCTION(multi_add_handle)                                                                     \
    FUNCTION(multi_cleanup)                                                                        \
    FUNCTION(multi_info_read)                                                                      \
    FUNCTION(multi_init)                                                                           \
    FUNCTION(multi_perform)                                                                        \
    FUNCTION(multi_poll)                                                                           \
    FUNCTION(multi_remove_handle)                                                                  \
    FUNCTION(slist_append)                                                                         \
    FUNCTION(slist_free_all)                                                                       \
    FUNCTION(url)                                                                                  \
    FUNCTION(url_cleanup)                                                                          \
    FUNCTION(url_get)                                                                              \
    FUNCTION(url_set)                                                                              \
    FUNCTION(url_strerror)

/* curl_NAME() is the member NAME. */
struct curl_library {
#define CURL_MEMBER(name) __typeof__(&curl_##name) name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* NULL if it can't be loaded, with an error. */
const struct curl_library *curl_library(struct error *error);

/* ---- push_url.c ---- */

/* Return the URL of a service with `path` added, malloc'ed, and its host in *ret_host, malloc'ed.
 * NULL with ERROR_USAGE, whose text has no part of the URL: it may contain a password. */
char *push_url_of(const struct push_service *service, const char *path, char **ret_host,
                  struct error *error);

/* ---- transfer.c ---- */

/* Credentials and settings of a request. NULL: none. */
struct transfer_access {
    const char *user, *password;
    const char *token;
    const struct buffer *certificates; /* to trust instead of the system's */
};

/* Valid until the next request. Texts are the server's: not clean. */
struct transfer_result {
    CURLcode code;       /* CURLE_ABORTED_BY_CALLBACK: stopped */
    const char *problem; /* in curl's words */
    long verify;         /* X509_V_ERR_..., if the certificate is not trusted */
    long status;
    const char *content_type, *redirect; /* "" if there is none */
    double retry_after;                  /* seconds; 0: not given */
    uint64_t sent;                       /* bytes of the body */
    const struct buffer *answer;
    bool answer_is_cut; /* it is too long: this is its beginning */
};

struct transfer;

/* `headers` ends with NULL. NULL with error. */
struct transfer *transfer_new(const char *url, const char *const *headers, const char *tenant,
                              struct error *error);
void transfer_free(struct transfer *transfer);

/* POST a body. Returns soon after `stop` is set. */
struct transfer_result transfer_post(struct transfer *transfer, const struct buffer *body,
                                     const struct transfer_access *access,
                                     const struct push_stop *stop);
