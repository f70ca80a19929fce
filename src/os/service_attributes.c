// SPDX-License-Identifier: Apache-2.0
#include "os/service_attributes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/pod.h"
#include "os/process.h"
#include "os/procfs.h"
#include "util/alloc.h"
#include "util/attribute_list.h"
#include "util/buffer.h"

/* The root of the host for a program in a container that sees the host's pids. */
static const char HOST[] = "/proc/1/root";

#define SERVICE_NAME    "service.name"
#define SERVICE_VERSION "service.version"
#define NAMESPACE       "k8s.namespace.name"
#define POD_NAME        "k8s.pod.name"

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

/* ---- the list ---- */

/* Append an attribute whose value is known. */
static void add_known(struct buffer *list, const char *key, const char *value)
{
    if (value)
        attribute_list_put(list, key, value);
}

/* An attribute of the pod. */
struct pod_attribute {
    const char *key, *value; /* NULL: the host does not know the value */
};

enum { POD_ATTRIBUTES = 4 };

static void list_pod(const struct pod *pod, struct pod_attribute attributes[POD_ATTRIBUTES])
{
    const struct pod_attribute list[POD_ATTRIBUTES] = {{NAMESPACE, pod->name_space},
                                                       {POD_NAME, pod->name},
                                                       {"k8s.pod.uid", pod->uid},
                                                       {"k8s.container.name", pod->container}};

    memcpy(attributes, list, sizeof(list));
}

/* True if the host knows the value of this attribute. */
static bool is_known(const struct pod_attribute attributes[POD_ATTRIBUTES], const char *key)
{
    for (int i = 0; i < POD_ATTRIBUTES; i++)
        if (!strcmp(attributes[i].key, key))
            return attributes[i].value;
    return false;
}

/* Copy the attributes of the environment, apart from the name of the service, and from those that
 * the host knows: it is right. */
static void add_given(struct buffer *list, const char *given,
                      const struct pod_attribute attributes[POD_ATTRIBUTES])
{
    struct buffer key = {0}, value = {0};

    while (attribute_list_next(&given, &key, &value))
        if (*key.data && *value.data && strcmp(key.data, SERVICE_NAME) != 0 &&
            !is_known(attributes, key.data))
            attribute_list_put(list, key.data, value.data);
    buffer_free(&key);
    buffer_free(&value);
}

/* Return the name of the service, to be freed; NULL if it is not known. */
static char *service_name(const char *environment, size_t size, const char *given,
                          const struct pod *pod)
{
    const char *name = variable(environment, size, "OTEL_SERVICE_NAME");
    char *own = name ? xstrdup(name) : attribute_list_find(given, SERVICE_NAME);

    if (own && *own)
        return own;
    free(own);
    if (pod->service)
        return xstrdup(pod->service);
    if ((name = variable(environment, size, "RELEASE_NAME")))
        return xstrdup(name);
    return pod->name_space && pod->container ? xasprintf("%s/%s", pod->name_space, pod->container)
                                             : NULL;
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

char *service_attributes_from(const char *environment, size_t size, const struct pod *pod,
                              const char *service)
{
    const char *given = variable(environment, size, "OTEL_RESOURCE_ATTRIBUTES");
    struct pod_attribute of_pod[POD_ATTRIBUTES];
    struct buffer list = {0};
    char *own;

    if (!given)
        given = "";
    list_pod(pod, of_pod);
    add_given(&list, given, of_pod);
    for (int i = 0; i < POD_ATTRIBUTES; i++)
        add_known(&list, of_pod[i].key, of_pod[i].value);
    own = service_name(environment, size, given, pod);
    add_known(&list, SERVICE_NAME, service && *service ? service : own);
    free(own);
    add_version(&list, environment, size, given);
    buffer_byte(&list, '\0');
    return list.data;
}

/* True if this program has another root than the host. */
static bool host_is_elsewhere(void)
{
    struct stat own, host;

    return !stat("/", &own) && !stat(HOST, &host) &&
           (own.st_dev != host.st_dev || own.st_ino != host.st_ino);
}

/* Files of the host can be mounted here, and the others are behind HOST, unless it is forbidden. */
static struct pod pod_of(const char *cgroup, const char *container)
{
    struct pod pod = {0};

    pod_learn(&pod, "/", cgroup, container);
    if (host_is_elsewhere())
        pod_learn(&pod, HOST, cgroup, container);
    return pod;
}

/* If the host does not know a value, take it from the attributes of the environment. */
static void learn_given(char **value, const char *given, const char *key)
{
    char *own = *value ? NULL : attribute_list_find(given, key);

    if (own && *own)
        *value = own;
    else
        free(own);
}

/* Learn what the host does not know. The attributes are meant to say it, so they count first. */
static void learn_inside(struct pod *pod, pid_t pid, const char *environment, size_t size)
{
    const char *given = variable(environment, size, "OTEL_RESOURCE_ATTRIBUTES");

    if (given) {
        learn_given(&pod->name_space, given, NAMESPACE);
        learn_given(&pod->name, given, POD_NAME);
    }
    pod_learn_inside(pod, pid, variable(environment, size, "HOSTNAME"));
}

char *service_attributes(pid_t pid, const char *container, const char *service)
{
    size_t size = 0, length;
    char *environment = process_environment(pid, &size);
    char *cgroup = procfs_read(pid, "cgroup", &length);
    struct pod pod = pod_of(cgroup ? cgroup : "", container);
    char *list;

    learn_inside(&pod, pid, environment, size);
    list = service_attributes_from(environment ? environment : "", size, &pod, service);

    pod_free(&pod);
    free(cgroup);
    free(environment);
    return list;
}
