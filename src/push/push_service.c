// SPDX-License-Identifier: Apache-2.0
#include "push/push_service.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

const char *push_service_protocol_name(enum push_protocol protocol)
{
    static const char *const names[PUSH_PROTOCOLS] = {
        [PUSH_OTLP] = "otlp", [PUSH_PYROSCOPE] = "pyroscope", [PUSH_PARCA] = "parca"};

    return names[protocol];
}

static const size_t texts[] = {
    offsetof(struct push_service, name),          offsetof(struct push_service, url),
    offsetof(struct push_service, tenant),        offsetof(struct push_service, user),
    offsetof(struct push_service, password_file), offsetof(struct push_service, token_file),
    offsetof(struct push_service, ca_file),       offsetof(struct push_service, events),
};

enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static char **text_at(struct push_service *service, int index)
{
    return (char **)((char *)service + texts[index]);
}

static const char *text_of(const struct push_service *service, int index)
{
    return *(char *const *)((const char *)service + texts[index]);
}

struct push_service push_service_copy(const struct push_service *service)
{
    struct push_service copy = *service;

    for (int i = 0; i < TEXTS; i++)
        if (text_of(service, i))
            *text_at(&copy, i) = xstrdup(text_of(service, i));
    return copy;
}

bool push_service_is_equal(const struct push_service *one, const struct push_service *other)
{
    if (one->protocol != other->protocol || one->traces != other->traces ||
        one->timestamps != other->timestamps)
        return false;
    for (int i = 0; i < TEXTS; i++) {
        const char *a = text_of(one, i), *b = text_of(other, i);

        if (!a != !b || (a && strcmp(a, b) != 0))
            return false;
    }
    return true;
}

void push_service_free(struct push_service *service)
{
    for (int i = 0; i < TEXTS; i++)
        free(*text_at(service, i));
    *service = (struct push_service){0};
}
