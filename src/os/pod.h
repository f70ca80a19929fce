// SPDX-License-Identifier: Apache-2.0
/*
 * The Kubernetes pod of a container, by what the kubelet and the container runtime leave on the
 * host. Nobody is asked.
 */
#pragma once

/* Texts to be freed; NULL: unknown. */
struct pod {
    char *uid, *name_space, *name, *container;
    char *service; /* by the pod's annotation pyroscope.io/service_name */
};

/*
 * Learn of the pod of a container what is not known yet.
 *
 *   host       the root directory of the host: "/", "/proc/1/root"
 *   cgroup     the text of /proc/PID/cgroup
 *   container  the id of the container, 64 hex digits; others are in no pod
 *
 * Sources are used in this order, the later ones for what is not known yet:
 *
 *   the cgroup           uid
 *   /var/log/containers  name_space, name, container
 *   /var/log/pods        name_space, name
 *   the runtime's files  all; the only source of service
 */
void pod_learn(struct pod *pod, const char *host, const char *cgroup, const char *container);
void pod_free(struct pod *pod);
