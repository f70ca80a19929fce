// SPDX-License-Identifier: Apache-2.0
#include "output/protobuf/protobuf_internal.h"

#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "output/protobuf/wire_types.h"
#include "util/alloc.h"
#include "util/attribute_list.h"

enum { ATTRIBUTES_MAX = 64 };

struct attributes {
    OTLP_COMMON(KeyValue) pairs[ATTRIBUTES_MAX], *pointers[ATTRIBUTES_MAX];
    OTLP_COMMON(AnyValue) values[ATTRIBUTES_MAX];
    char *texts[ATTRIBUTES_MAX]; /* NULL for numbers */
    char *keys[ATTRIBUTES_MAX];  /* NULL for a key of the conventions */
    size_t count;
};

static OTLP_COMMON(AnyValue) * add_pair(struct attributes *attributes, const char *key)
{
    size_t at = attributes->count++;

    attributes->pairs[at] = (OTLP_COMMON(KeyValue))OTLP_COMMON_INIT(KEY_VALUE);
    attributes->values[at] = (OTLP_COMMON(AnyValue))OTLP_COMMON_INIT(ANY_VALUE);
    attributes->pairs[at].key = (char *)key;
    attributes->pairs[at].value = &attributes->values[at];
    attributes->pointers[at] = &attributes->pairs[at];
    return &attributes->values[at];
}

/* Add a text of `size` bytes at most, unless it is empty. */
static void add_bytes(struct attributes *attributes, const char *key, const char *text, size_t size)
{
    OTLP_COMMON(AnyValue) * value;

    size = wire_text_size(text, strnlen(text, size));
    if (!size)
        return;
    attributes->texts[attributes->count] = xstrndup(text, size);
    value = add_pair(attributes, key);
    value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE;
    value->string_value = attributes->texts[attributes->count - 1];
}

static void add_text(struct attributes *attributes, const char *key, const char *text)
{
    add_bytes(attributes, key, text, SIZE_MAX);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "shop@web-1" is an instance of the service "shop", unless the VM's environment names another. By
 * the semantic conventions, a service without a name is unknown (model/service/registry.yaml:13,
 * v1.44.0). */
static void add_service(struct attributes *attributes, const struct profile *profile,
                        const struct target_entry *target)
{
    const char *node = profile_text(profile, target->node);
    char *service = wire_service_name(profile, target);

    add_text(attributes, "service.name", service);
    if (wire_node_has_name(node))
        add_text(attributes, "service.instance.id", node);
    free(service);
}

static bool has(const struct attributes *attributes, const char *key)
{
    for (size_t i = 0; i < attributes->count; i++)
        if (!strcmp(attributes->pairs[i].key, key))
            return true;
    return false;
}

/* Add what the environment of the VM says of it, and is not known better. */
static void add_given(struct attributes *attributes, const char *list)
{
    struct buffer key = {0}, value = {0};

    while (attributes->count < ATTRIBUTES_MAX && attribute_list_next(&list, &key, &value)) {
        size_t at = attributes->count;
        char *own;

        if (has(attributes, key.data))
            continue;
        own = xstrdup(key.data);
        add_text(attributes, own, value.data);
        if (attributes->count > at)
            attributes->keys[at] = own;
        else
            free(own);
    }
    buffer_free(&key);
    buffer_free(&value);
}

/* As the conventions describe a runtime of Erlang (docs/resource/process.md:97, v1.44.0). */
static void add_runtime(struct attributes *attributes, const char *release, const char *erts)
{
    char *description = xasprintf("Erlang/OTP %s erts-%s", release, erts);

    add_text(attributes, "process.runtime.name", "BEAM");
    add_text(attributes, "process.runtime.version", erts);
    if (*release && *erts)
        add_text(attributes, "process.runtime.description", description);
    free(description);
}

static void add_target(struct attributes *attributes, const struct profile *profile,
                       const struct target_entry *target)
{
    const char *executable = profile_text(profile, target->executable);
    OTLP_COMMON(AnyValue) *pid = add_pair(attributes, "process.pid");

    pid->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE;
    pid->int_value = target->pid;
    add_text(attributes, "process.executable.name", base_name(executable));
    add_text(attributes, "process.executable.path", executable);
    add_runtime(attributes, profile_text(profile, target->otp_release),
                profile_text(profile, target->erts));
    add_text(attributes, "container.id", profile_text(profile, target->container));
}

/* A recording of beamflame has the version of the kernel; inputs of other tools name neither system
 * nor CPU. A VM has a host of its own if the recording has several. */
static void add_host(struct attributes *attributes, const struct recording_header *header,
                     const char *own_host)
{
    add_text(attributes, "host.name", *own_host ? own_host : header->hostname);
    if (!*header->kernel)
        return;
    add_text(attributes, "host.arch", cpu.otel_name);
    add_text(attributes, "os.type", "linux");
}

/* All names are from the semantic conventions 1.44. beamflame is not an SDK inside the service, so
 * it is named as an agent ("telemetry.distro"). */
static void add_all(struct attributes *attributes, const struct output_source *source,
                    target_id target)
{
    const struct profile *profile = source->profile;
    static const struct target_entry none = {0};
    const struct target_entry *known = target ? profile_get_target(profile, target) : &none;

    add_service(attributes, profile, known);
    add_host(attributes, source->header, profile_text(profile, known->host));
    if (target)
        add_target(attributes, profile, known);
    add_text(attributes, "telemetry.distro.name", "beamflame");
    add_text(attributes, "telemetry.distro.version", source->header->version);
    add_given(attributes, profile_text(profile, known->attributes));
}

void otlp_resource_write(struct protobuf *out, const struct output_source *source, target_id target)
{
    OTLP(ResourceProfiles) part = OTLP_INIT(RESOURCE_PROFILES);
    Opentelemetry__Proto__Resource__V1__Resource resource =
        OPENTELEMETRY__PROTO__RESOURCE__V1__RESOURCE__INIT;
    struct attributes attributes = {.count = 0};

    add_all(&attributes, source, target);
    resource.n_attributes = attributes.count;
    resource.attributes = attributes.pointers;
    part.resource = &resource;
    protobuf_put(out, &part.base);
    for (size_t i = 0; i < attributes.count; i++)
        free(attributes.texts[i]);
    for (size_t i = 0; i < attributes.count; i++)
        free(attributes.keys[i]);
}
