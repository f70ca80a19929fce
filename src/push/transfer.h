// SPDX-License-Identifier: Apache-2.0
/* Requests of HTTP to one URL, over connections that stay open (libcurl). */
#pragma once

#include <stdbool.h>

#include "push/curl_library.h"
#include "push/push_client.h"
#include "util/buffer.h"
#include "util/error.h"

/* What a request needs besides its body. NULL: none. */
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
