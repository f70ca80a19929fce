// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of Protocol Buffers that are never in memory as a whole. A message is written in parts:
 * the bytes of several messages of one type, one after the other, are those of one that has the
 * repeated fields of all of them, and of others what was written last.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* Where parts go. What could not be written the file's error flag tells. */
struct protobuf {
    FILE *file;  /* NULL: they are only counted */
    size_t size; /* bytes so far */
};

/* A part of the message that is being written. */
void protobuf_put(struct protobuf *out, const ProtobufCMessage *part);

/* A message inside of it, as the field `name` of it, of type `of`: `write` puts its parts. It is
 * called twice, as the size of a message comes before it, and must put the same each time. */
void protobuf_nested(struct protobuf *out, const ProtobufCMessageDescriptor *of, const char *name,
                     void (*write)(struct protobuf *out, void *context), void *context);
