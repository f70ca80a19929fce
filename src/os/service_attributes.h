// SPDX-License-Identifier: Apache-2.0
/*
 * Which service an OS process is part of, as it is known without asking anybody: by its
 * environment, and by the names that a kubelet gives to the logs of its host.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Return what is known as a list (util/attribute_list.h), to be freed; "" if nothing is. The names
 * are those of OpenTelemetry's semantic conventions 1.44. Those of OTEL_RESOURCE_ATTRIBUTES come
 * first, apart from those of the pod, if the kubelet's are known. service.name is the first of
 * these that is there:
 *
 *   OTEL_SERVICE_NAME           of the environment
 *   service.name                in OTEL_RESOURCE_ATTRIBUTES
 *   RELEASE_NAME                of a release of Elixir or Erlang
 *   NAMESPACE/CONTAINER         of Kubernetes
 *
 * `container` is the id of the process's container; "": none.
 */
char *service_attributes(pid_t pid, const char *container);

/* The same from an environment, in which each variable ends in NUL, and from the directory with the
 * logs of containers. */
char *service_attributes_from(const char *environment, size_t size, const char *logs,
                              const char *container);
