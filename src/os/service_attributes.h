// SPDX-License-Identifier: Apache-2.0
/*
 * The service that an OS process is part of, by sources that need no request to others: the
 * environment of the process, and its pod (os/pod.h).
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "os/pod.h"

/*
 * Return the known attributes as a list (util/attribute_list.h), to be freed; "" if there are none.
 * Names are from OpenTelemetry's semantic conventions 1.44. Attributes of OTEL_RESOURCE_ATTRIBUTES
 * come first, without those of the pod that the host knows. service.name is the first of these that
 * exists:
 *
 *   `service`                   what the user calls it; NULL or "": nothing
 *   OTEL_SERVICE_NAME           of the environment
 *   service.name                in OTEL_RESOURCE_ATTRIBUTES
 *   pyroscope.io/service_name   an annotation of the pod
 *   RELEASE_NAME                of a release of Elixir or Erlang
 *   NAMESPACE/CONTAINER         of Kubernetes
 *
 * service.version is that of OTEL_RESOURCE_ATTRIBUTES, else RELEASE_VSN of the environment.
 *
 * `container` is the id of the process's container; "": none.
 */
char *service_attributes(pid_t pid, const char *container, const char *service);

/* The same from an environment, in which each variable ends in NUL, and a pod. */
char *service_attributes_from(const char *environment, size_t size, const struct pod *pod,
                              const char *service);
