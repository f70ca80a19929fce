// SPDX-License-Identifier: Apache-2.0
#include "os/pod.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/patience.h"
#include "os/procfs.h"
#include "util/alloc.h"
#include "util/files.h"

/* Where pods have the token of their service account, and the namespace beside it. The admission
 * plugin of the API server mounts it (plugin/pkg/admission/serviceaccount/admission.go, Kubernetes
 * v1.34.0: DefaultAPITokenMountPath). */
static const char NAMESPACE_FILE[] = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/* Names of hosts have at most this many characters. The kubelet cuts longer names of pods
 * (pkg/kubelet/kubelet_pods.go, truncatePodHostnameIfNeeded(), Kubernetes v1.34.0). */
enum { HOST_NAME_MOST = 63 };

/* The number of the UTS namespace in which a host starts (PROC_UTS_INIT_INO in
 * include/linux/proc_ns.h v6.18). */
static const ino_t HOST_UTS_NAMESPACE = 0xEFFFFFFE;

/* Names of namespaces and pods. */
static bool is_name(const char *text)
{
    size_t length = strlen(text);

    return length && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == length;
}

/* ---- the namespace ---- */

struct namespace_read {
    char *root;
    char text[HOST_NAME_MOST + 2]; /* with a NUL; more than a name has */
};

static void drop(void *work)
{
    struct namespace_read *read = work;

    free(read->root);
    free(read);
}

static void read_namespace(void *work)
{
    struct namespace_read *read = work;
    int fd = procfs_open_in_root(read->root, NAMESPACE_FILE);
    size_t got;

    if (fd < 0)
        return;
    got = files_read_at(fd, 0, read->text, sizeof(read->text) - 1);
    read->text[got] = '\0';
    close(fd);
}

/* The server of a file in the pod may not answer. */
static void learn_namespace(struct pod *pod, pid_t pid)
{
    struct namespace_read *read = xcalloc(1, sizeof(*read));

    read->root = xasprintf("/proc/%d/root", (int)pid);
    if (!patience_run(read_namespace, drop, read))
        return;
    read->text[strcspn(read->text, "\n")] = '\0';
    if (strlen(read->text) <= HOST_NAME_MOST && is_name(read->text))
        pod->name_space = xstrdup(read->text);
    drop(read);
}

/* ---- the name ---- */

/* True if the process has the host's name: its pod is in the host's network. */
static bool has_name_of_host(pid_t pid)
{
    char path[32];
    struct stat status;

    snprintf(path, sizeof(path), "/proc/%d/ns/uts", (int)pid);
    return stat(path, &status) || status.st_ino == HOST_UTS_NAMESPACE;
}

void pod_learn_inside(struct pod *pod, pid_t pid, const char *host_name)
{
    if (!pod->uid)
        return;
    if (!pod->name_space)
        learn_namespace(pod, pid);
    if (!pod->name && host_name && strlen(host_name) < HOST_NAME_MOST && is_name(host_name) &&
        !has_name_of_host(pid))
        pod->name = xstrdup(host_name);
}
