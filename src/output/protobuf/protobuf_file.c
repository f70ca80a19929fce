// SPDX-License-Identifier: Apache-2.0
#include "output/protobuf/protobuf_internal.h"

#include "util/buffer.h"

/* The tag of a field that is a message (protobuf.dev, "Encoding": LEN). */
enum { WIRE_TYPE_LEN = 2, WIRE_TYPE_BITS = 3 };

struct to_file {
    ProtobufCBuffer base;
    FILE *file;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    fwrite(data, 1, size, ((struct to_file *)buffer)->file);
}

void protobuf_put(struct protobuf *out, const ProtobufCMessage *part)
{
    struct to_file to = {{.append = append}, out->file};

    out->size += out->file ? protobuf_c_message_pack_to_buffer(part, &to.base)
                           : protobuf_c_message_get_packed_size(part);
}

void protobuf_nested(struct protobuf *out, const ProtobufCMessageDescriptor *of, const char *name,
                     void (*write)(struct protobuf *out, void *context), void *context)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(of, name);
    struct protobuf counted = {0};
    struct buffer start = {0};

    write(&counted, context);
    buffer_varint(&start, (uint64_t)field->id << WIRE_TYPE_BITS | WIRE_TYPE_LEN);
    buffer_varint(&start, counted.size);
    if (out->file) {
        fwrite(start.data, 1, start.size, out->file);
        write(out, context);
    } else {
        out->size += counted.size;
    }
    out->size += start.size;
    buffer_free(&start);
}
