// SPDX-License-Identifier: Apache-2.0
#include "push/push_client.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "push/push_format.h"
#include "push/transfer.h"
#include "util/alloc.h"
#include "util/files.h"
#include "util/log.h"

/* The files of a service, as they are now. */
struct access_files {
    struct buffer password, token, certificates;
};

struct push_client {
    const struct push_service *service;
    const struct push_format *format;
    char *host; /* of its server */
    struct transfer *transfer;
};

static bool has_controls(const char *text)
{
    for (; text && *text; text++)
        if (iscntrl((unsigned char)*text))
            return true;
    return false;
}

/* Return what is wrong with a service besides its URL; NULL: nothing. */
static const char *problem_of(const struct push_service *service)
{
    if (!service->user != !service->password_file)
        return "user and password_file need each other";
    if (service->user && service->token_file)
        return "give user and password_file, or token_file, not both";
    if (has_controls(service->tenant) || has_controls(service->user))
        return "a control character in tenant or user";
    if (service->user && strchr(service->user, ':'))
        return "Basic authentication allows no ':' in user";
    return NULL;
}

struct push_client *push_client_new(const struct push_service *service, struct error *error)
{
    const struct push_format *format = push_format_of(service->protocol);
    const char *problem = problem_of(service);
    struct push_client *client;
    char *url, *host;

    if (problem) {
        error_set(error, ERROR_USAGE, "service '%s': %s", service->name, problem);
        return NULL;
    }
    url = push_url_of(service, format->path, &host, error);
    if (!url)
        return NULL;
    client = xcalloc(1, sizeof(*client));
    *client = (struct push_client){
        .service = service,
        .format = format,
        .host = host,
        .transfer = transfer_new(url, format->headers, service->tenant, error),
    };
    free(url);
    if (client->transfer)
        return client;
    error_prefix(error, "service '%s'", service->name);
    push_client_free(client);
    return NULL;
}

void push_client_free(struct push_client *client)
{
    if (!client)
        return;
    transfer_free(client->transfer);
    free(client->host);
    free(client);
}

static void free_files(struct access_files *files)
{
    small_file_free(&files->password);
    small_file_free(&files->token);
    small_file_free(&files->certificates);
}

static int read_files(const struct push_service *service, struct access_files *files,
                      struct error *error)
{
    if (service->password_file &&
        small_file_secret(service->password_file, &files->password, error))
        return error_prefix(error, "password_file");
    if (service->token_file && small_file_secret(service->token_file, &files->token, error))
        return error_prefix(error, "token_file");
    if (service->ca_file && small_file_read(service->ca_file, &files->certificates, error))
        return error_prefix(error, "ca_file");
    return 0;
}

/* The numbers of OpenSSL's X509_V_ERR_... for a chain that ends with no trusted certificate. */
static bool is_unknown_issuer(long verify)
{
    return verify == 2 || (verify >= 18 && verify <= 21);
}

/* There is no answer, or only its beginning. */
static void set_failure(const struct push_client *client, const struct transfer_result *result,
                        struct push_reply *reply)
{
    const char *ca_file = client->service->ca_file;

    reply->outcome = PUSH_LATER;
    if (result->code == CURLE_ABORTED_BY_CALLBACK)
        push_reason_set(reply, "stopped");
    else if (result->code == CURLE_PEER_FAILED_VERIFICATION && is_unknown_issuer(result->verify))
        push_reason_set(reply, "the certificate of %s is not trusted: %s; %s", client->host,
                        result->problem,
                        ca_file ? "its CA is not in ca_file" : "name its CA with ca_file");
    else if (result->code == CURLE_PEER_FAILED_VERIFICATION)
        push_reason_set(reply, "the certificate of %s is not trusted: %s", client->host,
                        result->problem);
    else if (result->code == CURLE_SSL_CACERT_BADFILE && ca_file)
        push_reason_set(reply, "ca_file: no certificate in '%s'", ca_file);
    else
        push_reason_set(reply, "%c%s", tolower((unsigned char)result->problem[0]),
                        result->problem + 1);
}

static void read_result(const struct push_client *client, const struct transfer_result *result,
                        struct push_reply *reply)
{
    struct push_answer answer = {
        result->status, result->content_type, {result->answer->data, result->answer->size}};

    reply->sent = result->sent;
    if (result->code && !result->answer_is_cut) {
        set_failure(client, result, reply);
    } else if (*result->redirect) {
        reply->outcome = PUSH_REFUSED;
        reply->status = result->status;
        push_reason_set(reply,
                        "redirects to %s, which is not followed: credentials would be sent there",
                        result->redirect);
    } else if (result->answer_is_cut && answer.status < 300) {
        /* OTLP's rule. The service may have taken the profiles. */
        reply->outcome = PUSH_REFUSED;
        reply->status = result->status;
        push_reason_set(reply, "status %ld with an answer of more than 64 KB", result->status);
    } else {
        push_verdict(client->format, &answer, reply);
        reply->retry_after = reply->outcome == PUSH_LATER ? result->retry_after : 0;
    }
}

static void send_profiles(struct push_client *client, const struct access_files *files,
                          const struct push_profile *profiles, size_t count,
                          const struct push_stop *stop, struct push_reply *reply)
{
    const struct push_service *service = client->service;
    struct transfer_access access = {
        .user = service->user,
        .password = files->password.data,
        .token = files->token.data,
        .certificates = service->ca_file ? &files->certificates : NULL,
    };
    struct transfer_result result;
    struct buffer body = {0};

    client->format->write(&body, profiles, count);
    result = transfer_post(client->transfer, &body, &access, stop);
    read_result(client, &result, reply);
    log_detail("push", "%s: %zu profiles in %zu bytes: status %ld: %s", service->name, count,
               body.size, reply->status, *reply->reason ? reply->reason : "accepted");
    buffer_free(&body);
}

struct push_reply push_client_send(struct push_client *client, const struct push_profile *profiles,
                                   size_t count, const struct push_stop *stop)
{
    struct push_reply reply = {.outcome = PUSH_LATER};
    struct access_files files = {0};
    struct error error;

    if (count > client->format->most) {
        reply.outcome = PUSH_REFUSED;
        push_reason_set(&reply, "%s takes %zu profile a request",
                        push_service_protocol_name(client->service->protocol),
                        client->format->most);
    } else if (read_files(client->service, &files, &error)) {
        push_reason_set(&reply, "%s", error.text);
    } else {
        send_profiles(client, &files, profiles, count, stop, &reply);
    }
    free_files(&files);
    return reply;
}
