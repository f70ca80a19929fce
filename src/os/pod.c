// SPDX-License-Identifier: Apache-2.0
/*
 * Names of cgroups of pods (pkg/kubelet/cm/cgroup_manager_linux.go and
 * pod_container_manager_linux.go of Kubernetes v1.34.0): /kubepods/burstable/podUID and
 * /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice, where the UID has '_'
 * for
 * '-'.
 */
#include "os/pod.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/container_annotations.h"
#include "os/procfs.h"
#include "util/alloc.h"

/* The kubelet's links to the logs of containers, POD_NAMESPACE_CONTAINER-ID.log
 * (pkg/kubelet/kuberuntime/legacy.go:32 and :69, Kubernetes v1.34.0). */
static const char CONTAINER_LOGS[] = "/var/log/containers";

/* The folders of pods, NAMESPACE_POD_UID, with one for each container
 * (pkg/kubelet/kuberuntime/helpers.go, BuildPodLogsDirectory(), Kubernetes v1.34.0). */
static const char POD_LOGS[] = "/var/log/pods";

/* Where the runtimes keep config.json of a container: containerd for a kubelet, that of k3s and
 * RKE2, CRI-O. */
static const char *const BUNDLES[] = {
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
    "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
    "/run/containers/storage/overlay-containers/%s/userdata/config.json",
};

enum { ID_DIGITS = 64 };

void pod_free(struct pod *pod)
{
    free(pod->uid);
    free(pod->name_space);
    free(pod->name);
    free(pod->container);
    free(pod->service);
    *pod = (struct pod){0};
}

/* Copy a text if it is not known yet. Later sources are used for what is missing. */
static void learn(char **known, const char *text, size_t length)
{
    if (!*known && length)
        *known = xstrndup(text, length);
}

static bool has_names(const struct pod *pod)
{
    return pod->name_space && pod->name && pod->container;
}

/* ---- the cgroup ---- */

static size_t uid_length(const char *text)
{
    size_t length = 0;

    while (isxdigit((unsigned char)text[length]) || text[length] == '-' || text[length] == '_')
        length++;
    return length;
}

/* A UID has 32 digits, with or without the four '-' (a pod of a file on the host has none). */
static void find_uid(const char *cgroup, struct pod *pod)
{
    /* In a cgroup namespace the folders above are not shown: /../../podUID/ID. */
    for (const char *at = cgroup; (at = strstr(at, "pod"));) {
        size_t length = uid_length(at += strlen("pod"));

        if (length != 36 && length != 32)
            continue;
        learn(&pod->uid, at, length);
        for (char *c = pod->uid; *c; c++)
            if (*c == '_')
                *c = '-';
        return;
    }
}

/* ---- logs ---- */

/* Call `take` with the name of each entry of a folder until it returns true. */
static void search_folder(const char *host, const char *path, struct pod *pod, const char *id,
                          bool (*take)(const char *name, const char *id, struct pod *pod))
{
    int fd = procfs_open_folder_in_root(host, path);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;

    if (!directory) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; !found && (entry = readdir(directory));)
        found = entry->d_name[0] != '.' && take(entry->d_name, id, pod);
    closedir(directory);
}

/* Take the names out of POD_NAMESPACE_CONTAINER-ID.log. Names have no '_'. */
static bool take_container_log(const char *file, const char *id, struct pod *pod)
{
    const char *first = strchr(file, '_'), *second = first ? strchr(first + 1, '_') : NULL;
    const char *end = second ? strstr(second + 1, id) : NULL;

    if (!end || end < second + 3 || end[-1] != '-' || strcmp(end + strlen(id), ".log") != 0)
        return false;
    learn(&pod->name, file, (size_t)(first - file));
    learn(&pod->name_space, first + 1, (size_t)(second - first - 1));
    learn(&pod->container, second + 1, (size_t)(end - 1 - (second + 1)));
    return true;
}

/* Take the names out of NAMESPACE_POD_UID. */
static bool take_pod_log(const char *folder, const char *uid, struct pod *pod)
{
    const char *first = strchr(folder, '_'), *second = first ? strchr(first + 1, '_') : NULL;

    if (!second || strcmp(second + 1, uid) != 0)
        return false;
    learn(&pod->name_space, folder, (size_t)(first - folder));
    learn(&pod->name, first + 1, (size_t)(second - first - 1));
    return true;
}

/* ---- the runtime ---- */

/* containerd: internal/cri/annotations/annotations.go:66 to :79, v2.1.0. CRI-O passes the labels
 * that the kubelet gives (staging/src/k8s.io/kubelet/pkg/types/labels.go, Kubernetes v1.34.0). */
static void take_annotation(void *context, const char *key, const char *value)
{
    struct pod *pod = context;
    const struct {
        const char *key;
        char **known;
    } meanings[] = {
        {"io.kubernetes.cri.sandbox-uid", &pod->uid},
        {"io.kubernetes.cri.sandbox-namespace", &pod->name_space},
        {"io.kubernetes.cri.sandbox-name", &pod->name},
        {"io.kubernetes.cri.container-name", &pod->container},
        {"io.kubernetes.pod.uid", &pod->uid},
        {"io.kubernetes.pod.namespace", &pod->name_space},
        {"io.kubernetes.pod.name", &pod->name},
        {"io.kubernetes.container.name", &pod->container},
        {"pyroscope.io/service_name", &pod->service},
    };

    for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
        if (!strcmp(key, meanings[i].key))
            learn(meanings[i].known, value, strlen(value));
}

void pod_learn(struct pod *pod, const char *host, const char *cgroup, const char *container)
{
    /* Other containers are named by users, and names can lead to other files ("../"). */
    if (strlen(container) != ID_DIGITS || strspn(container, "0123456789abcdef") != ID_DIGITS)
        return;
    find_uid(cgroup, pod);
    if (!has_names(pod))
        search_folder(host, CONTAINER_LOGS, pod, container, take_container_log);
    if (!has_names(pod) && pod->uid)
        search_folder(host, POD_LOGS, pod, pod->uid, take_pod_log);
    for (size_t i = 0; i < sizeof(BUNDLES) / sizeof(*BUNDLES); i++) {
        char *path = xasprintf(BUNDLES[i], container);
        int fd = procfs_open_in_root(host, path);

        if (fd >= 0)
            container_annotations(fd, take_annotation, pod);
        free(path);
    }
}
