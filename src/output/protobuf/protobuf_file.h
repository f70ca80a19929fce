// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of Protocol Buffers that are never in memory as a whole. A message is written in parts,
 * which are messages of the same type. Such parts, one after the other, are read as one message: it
 * has the repeated fields of all parts, and the last value of every other field.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

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
