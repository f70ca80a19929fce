// SPDX-License-Identifier: Apache-2.0
/*
 * push_send PROTOCOL URL [KEY=VALUE...] FILE...: send files as profiles, and print the reply:
 *
 *     accepted status=200 retry_after=0 sent=1234 rejected=0 seconds=0.012 reason=
 *
 * Keys are tenant, user, password_file, token_file, ca_file; times=N (requests, one after the
 * other, each with its line), stop_after=SECONDS, and label=NAME=VALUE, again and again. The id of
 * a file is its number.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "push/push_client.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/clock.h"

enum { LABELS_MAX = 64, FILES_MAX = 64 };

struct sender {
    struct push_service service;
    struct push_label labels[LABELS_MAX];
    size_t label_count;
    struct push_profile profiles[FILES_MAX];
    size_t profile_count;
    long times;
    double stop_after;
};

static volatile bool is_stopped;

static bool is_set(void *context)
{
    (void)context;
    return is_stopped;
}

static void *stop_later(void *seconds)
{
    usleep((useconds_t)(*(double *)seconds * 1e6));
    is_stopped = true;
    return NULL;
}

static char **text_option(struct push_service *service, const char *key)
{
    return !strcmp(key, "tenant")          ? &service->tenant
           : !strcmp(key, "user")          ? &service->user
           : !strcmp(key, "password_file") ? &service->password_file
           : !strcmp(key, "token_file")    ? &service->token_file
           : !strcmp(key, "ca_file")       ? &service->ca_file
                                           : NULL;
}

/* Take KEY=VALUE, which is cut in two. False for any other text. */
static bool take_option(struct sender *sender, char *text)
{
    char *value = strchr(text, '='), **option, *rest;

    if (!value || text[0] == '/')
        return false;
    *value++ = '\0';
    option = text_option(&sender->service, text);
    if (option) {
        *option = xstrdup(value);
    } else if (!strcmp(text, "times")) {
        sender->times = strtol(value, NULL, 10);
    } else if (!strcmp(text, "stop_after")) {
        sender->stop_after = strtod(value, NULL);
    } else if (!strcmp(text, "label") && (rest = strchr(value, '='))) {
        *rest++ = '\0';
        sender->labels[sender->label_count++ % LABELS_MAX] = (struct push_label){value, rest};
    } else {
        fprintf(stderr, "push_send: unknown key '%s'\n", text);
        exit(2);
    }
    return true;
}

static void add_file(struct sender *sender, const char *path)
{
    struct push_profile *profile = &sender->profiles[sender->profile_count++ % FILES_MAX];
    struct buffer content = {0};
    int fd = open(path, O_RDONLY);
    ssize_t got;

    while (fd >= 0 && (got = read(fd, buffer_reserve(&content, 1 << 16), 1 << 16)) > 0)
        content.size += (size_t)got;
    if (fd < 0 || got < 0) {
        perror(path);
        exit(2);
    }
    close(fd);
    *profile = (struct push_profile){content.data, content.size, .labels = sender->labels};
    profile->id[15] = (uint8_t)sender->profile_count;
}

static void send_once(struct sender *sender, struct push_client *client)
{
    static const char *const outcomes[] = {"accepted", "refused", "later"};
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    struct push_reply reply = push_client_send(client, sender->profiles, sender->profile_count,
                                               &(struct push_stop){.is_set = is_set});

    printf("%s status=%ld retry_after=%g sent=%" PRIu64 " rejected=%" PRIu64
           " seconds=%.3f reason=%s\n",
           outcomes[reply.outcome], reply.status, reply.retry_after, reply.sent, reply.rejected,
           (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9, reply.reason);
    fflush(stdout);
}

static enum push_protocol protocol_named(const char *name)
{
    for (int i = 0; i < PUSH_PROTOCOLS; i++)
        if (!strcmp(push_service_protocol_name((enum push_protocol)i), name))
            return (enum push_protocol)i;
    fprintf(stderr, "push_send: unknown protocol '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    struct sender sender = {.times = 1};
    struct push_client *client;
    struct error error;
    pthread_t stopper;

    if (argc < 4) {
        fprintf(stderr, "usage: push_send PROTOCOL URL [KEY=VALUE...] FILE...\n");
        return 2;
    }
    sender.service.protocol = protocol_named(argv[1]);
    sender.service.name = xstrdup("test");
    sender.service.url = xstrdup(argv[2]);
    for (int i = 3; i < argc; i++)
        if (!take_option(&sender, argv[i]))
            add_file(&sender, argv[i]);
    for (size_t i = 0; i < sender.profile_count; i++)
        sender.profiles[i].label_count = sender.label_count;
    client = push_client_new(&sender.service, &error);
    if (!client) {
        fprintf(stderr, "push_send: %s\n", error.text);
        push_service_free(&sender.service);
        return error.code;
    }
    if (sender.stop_after > 0 && pthread_create(&stopper, NULL, stop_later, &sender.stop_after))
        abort();
    while (sender.times-- > 0)
        send_once(&sender, client);
    if (sender.stop_after > 0)
        pthread_join(stopper, NULL);
    push_client_free(client);
    push_service_free(&sender.service);
    for (size_t i = 0; i < sender.profile_count; i++)
        free((void *)sender.profiles[i].data);
    return 0;
}
