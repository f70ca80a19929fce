// SPDX-License-Identifier: Apache-2.0
/*
 * The service that an OS process is part of. Two sources need no request to others: the environment
 * of the process, and the names that a kubelet gives to the logs of its host.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Return the known attributes as a list (util/attribute_list.h), to be freed; "" if there are none.
 * Names are from OpenTelemetry's semantic conventions 1.44. Attributes of OTEL_RESOURCE_ATTRIBUTES
 * come first; its attributes of the pod are left out if the kubelet's are known. service.name is
 * the first of these that exists:
 *
 *   OTEL_SERVICE_NAME           of the environment
 *   service.name                in OTEL_RESOURCE_ATTRIBUTES
 *   RELEASE_NAME                of a release of Elixir or Erlang
 *   NAMESPACE/CONTAINER         of Kubernetes
 *
 * service.version is that of OTEL_RESOURCE_ATTRIBUTES, else RELEASE_VSN of the environment.
 *
 * `container` is the id of the process's container; "": none.
 */
char *service_attributes(pid_t pid, const char *container);

/* The same from an environment, in which each variable ends in NUL, and from the directory with the
 * logs of containers. */
char *service_attributes_from(const char *environment, size_t size, const char *logs,
                              const char *container);
