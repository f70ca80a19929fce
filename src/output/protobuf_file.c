// SPDX-License-Identifier: Apache-2.0
#include "output/protobuf_file.h"

struct to_file {
    ProtobufCBuffer base;
    FILE *file;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    fwrite(data, 1, size, ((struct to_file *)buffer)->file);
}

void protobuf_write(FILE *file, const ProtobufCMessage *message)
{
    struct to_file to = {{.append = append}, file};

    protobuf_c_message_pack_to_buffer(message, &to.base);
}
