// SPDX-License-Identifier: Apache-2.0
#include "os/service_attributes.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "util/alloc.h"
#include "util/attribute_list.h"
#include "util/buffer.h"

/* The kubelet's links to the logs of containers, POD_NAMESPACE_CONTAINER-ID.log
 * (pkg/kubelet/kuberuntime/legacy.go:32 and :69, Kubernetes v1.34.0). */
static const char LOGS[] = "/var/log/containers";

#define SERVICE_NAME    "service.name"
#define SERVICE_VERSION "service.version"

/* The value of a variable, or NULL. */
static const char *variable(const char *environment, size_t size, const char *name)
{
    size_t length = strlen(name);

    for (size_t at = 0; at < size; at += strlen(environment + at) + 1)
        if (!strncmp(environment + at, name, length) && environment[at + length] == '=' &&
            environment[at + length + 1])
            return environment + at + length + 1;
    return NULL;
}

/* ---- Kubernetes ---- */

struct pod {
    char *name, *space, *container;
};

static void free_pod(struct pod *pod)
{
    free(pod->name);
    free(pod->space);
    free(pod->container);
}

/* Take the names out of POD_NAMESPACE_CONTAINER-ID.log. Names have no '_'. */
static bool parse_log(const char *file, const char *id, struct pod *ret_pod)
{
    const char *first = strchr(file, '_'), *second = first ? strchr(first + 1, '_') : NULL;
    const char *end = second ? strstr(second + 1, id) : NULL;

    if (!end || end < second + 3 || end[-1] != '-' || strcmp(end + strlen(id), ".log") != 0)
        return false;
    *ret_pod = (struct pod){
        .name = xstrndup(file, (size_t)(first - file)),
        .space = xstrndup(first + 1, (size_t)(second - first - 1)),
        .container = xstrndup(second + 1, (size_t)(end - 1 - (second + 1))),
    };
    return true;
}

static bool find_pod(const char *logs, const char *id, struct pod *ret_pod)
{
    DIR *directory = *id ? opendir(logs) : NULL;
    bool found = false;

    if (!directory)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(directory));)
        found = parse_log(entry->d_name, id, ret_pod);
    closedir(directory);
    return found;
}

/* ---- the list ---- */

#define POD_PREFIX "k8s."

static void add_pod(struct buffer *list, const struct pod *pod)
{
    attribute_list_put(list, POD_PREFIX "namespace.name", pod->space);
    attribute_list_put(list, POD_PREFIX "pod.name", pod->name);
    attribute_list_put(list, POD_PREFIX "container.name", pod->container);
}

/* Copy the attributes of the environment, apart from the name of the service. If the kubelet's
 * names describe the pod, leave out attributes of the pod: the kubelet's are right. */
static void add_given(struct buffer *list, const char *given, bool has_pod)
{
    struct buffer key = {0}, value = {0};

    while (attribute_list_next(&given, &key, &value))
        if (*key.data && *value.data && strcmp(key.data, SERVICE_NAME) != 0 &&
            !(has_pod && !strncmp(key.data, POD_PREFIX, strlen(POD_PREFIX))))
            attribute_list_put(list, key.data, value.data);
    buffer_free(&key);
    buffer_free(&value);
}

static void add_service(struct buffer *list, const char *environment, size_t size,
                        const char *given, const struct pod *pod)
{
    const char *name = variable(environment, size, "OTEL_SERVICE_NAME");
    char *own = name ? xstrdup(name) : attribute_list_find(given, SERVICE_NAME);

    if (own && !*own) {
        free(own);
        own = NULL;
    }
    if (!own && (name = variable(environment, size, "RELEASE_NAME")))
        own = xstrdup(name);
    if (!own && pod)
        own = xasprintf("%s/%s", pod->space, pod->container);
    if (own)
        attribute_list_put(list, SERVICE_NAME, own);
    free(own);
}

/* A release of Elixir or Erlang has its version in the environment. */
static void add_version(struct buffer *list, const char *environment, size_t size,
                        const char *given)
{
    const char *version = variable(environment, size, "RELEASE_VSN");
    char *own = attribute_list_find(given, SERVICE_VERSION);

    if (version && *version && !(own && *own))
        attribute_list_put(list, SERVICE_VERSION, version);
    free(own);
}

char *service_attributes_from(const char *environment, size_t size, const char *logs,
                              const char *container)
{
    const char *given = variable(environment, size, "OTEL_RESOURCE_ATTRIBUTES");
    struct buffer list = {0};
    struct pod pod;
    bool has_pod = find_pod(logs, container, &pod);

    if (!given)
        given = "";
    add_given(&list, given, has_pod);
    if (has_pod)
        add_pod(&list, &pod);
    add_service(&list, environment, size, given, has_pod ? &pod : NULL);
    add_version(&list, environment, size, given);
    if (has_pod)
        free_pod(&pod);
    buffer_byte(&list, '\0');
    return list.data;
}

char *service_attributes(pid_t pid, const char *container)
{
    size_t size = 0;
    char *environment = process_environment(pid, &size);
    char *list = service_attributes_from(environment ? environment : "", size, LOGS, container);

    free(environment);
    return list;
}
