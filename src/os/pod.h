// SPDX-License-Identifier: Apache-2.0
/*
 * The Kubernetes pod of a container, by what the kubelet and the container runtime leave on the
 * host, and by what the pod has of itself. Nobody is asked.
 */
#pragma once

#include <sys/types.h>

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

/* ---- pod_inside.c ---- */

/*
 * Learn what is still not known of the pod of process `pid`, if its uid is known:
 *
 *   the namespace that is mounted with the token of its service account  name_space
 *   `host_name`, its variable HOSTNAME; NULL: none                       name
 *
 * The pod can change both. The kubelet names the host of a pod after the pod, unless the pod's
 * specification has another name. A pod in the host's network has the host's name, and a name of 63
 * characters may be cut: these are not used.
 */
void pod_learn_inside(struct pod *pod, pid_t pid, const char *host_name);
