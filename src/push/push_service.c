// SPDX-License-Identifier: Apache-2.0
#include "push/push_service.h"

#include <stdlib.h>

const char *push_protocol_name(enum push_protocol protocol)
{
    static const char *const names[PUSH_PROTOCOLS] = {
        [PUSH_OTLP] = "otlp", [PUSH_PYROSCOPE] = "pyroscope", [PUSH_PARCA] = "parca"};

    return names[protocol];
}

void push_service_free(struct push_service *service)
{
    free(service->name);
    free(service->url);
    free(service->tenant);
    free(service->user);
    free(service->password_file);
    free(service->token_file);
    free(service->ca_file);
    *service = (struct push_service){0};
}
