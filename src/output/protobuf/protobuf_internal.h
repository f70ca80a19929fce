// SPDX-License-Identifier: Apache-2.0
/* Shared by the files of this folder: messages of Protocol Buffers, and parts of OpenTelemetry's
 * messages. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

#include "opentelemetry/proto/profiles/v1development/profiles.pb-c.h"
#include "output/code_table.h"
#include "output/output.h"

/* ---- protobuf_file.c ---- */

/*
 * Messages of Protocol Buffers that are never in memory as a whole. A message is written in parts,
 * which are messages of the same type. Such parts, one after the other, are read as one message: it
 * has the repeated fields of all parts, and the last value of every other field.
 */

/* Where parts go. A write error sets the file's error flag. */
struct protobuf {
    FILE *file;  /* NULL: bytes are only counted */
    size_t size; /* bytes so far */
};

/* Write a part of the current message. */
void protobuf_put(struct protobuf *out, const ProtobufCMessage *part);

/* Write a nested message as field `name` of the current message, whose type is `of`. `write` puts
 * the parts of the nested message. It is called several times, because the size of a message comes
 * before it, and must put the same bytes each time. */
void protobuf_nested(struct protobuf *out, const ProtobufCMessageDescriptor *of, const char *name,
                     void (*write)(struct protobuf *out, void *context), void *context);

/* ---- otlp_dictionary.c ---- */

/*
 * The dictionary of an OpenTelemetry ProfilesData: tables that its samples refer to by index.
 * Element 0 of each table is "none". Functions that add an element return its index.
 */

#define OTLP(type)             Opentelemetry__Proto__Profiles__V1development__##type
#define OTLP_INIT(type)        OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__##type##__INIT
#define OTLP_COMMON(type)      Opentelemetry__Proto__Common__V1__##type
#define OTLP_COMMON_INIT(type) OPENTELEMETRY__PROTO__COMMON__V1__##type##__INIT

struct otlp_dictionary {
    struct code_table code;
    struct intern attributes, links;
    struct string_table values; /* texts of attributes, which the format stores inline */
    int32_t *stacked;           /* locations of all stacks, one after the other, each leaf first */
    size_t stacked_count, stacked_room;
    size_t *stack_ends; /* in `stacked`, by stack - 1 */
    size_t ends_room;
    uint32_t stacks;
};

void otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile);
void otlp_dictionary_free(struct otlp_dictionary *dictionary);

int32_t otlp_dictionary_text(struct otlp_dictionary *dictionary, const char *text);
int32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
                                  const char *text);
int32_t otlp_dictionary_attribute_number(struct otlp_dictionary *dictionary, const char *key,
                                         uint64_t number);

/* Add a link to a span of a trace. */
int32_t otlp_dictionary_link(struct otlp_dictionary *dictionary, trace_span_id span);

/* Add a stack, even if an equal one is there. `frames`: root first. */
int32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, const struct view_frame *frames,
                              size_t count);

/* Write the parts of a ProfilesDictionary; `context` is a struct otlp_dictionary. */
void otlp_dictionary_write(struct protobuf *out, void *context);

/* ---- otlp_resource.c ---- */

/* The resource of OpenTelemetry's profiles: the VM that they are of, and its host. */

/* Write the resource as a part of a ResourceProfiles. `target` is 0 for samples of no VM. */
void otlp_resource_write(struct protobuf *out, const struct output_source *source,
                         target_id target);
