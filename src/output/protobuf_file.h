// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of Protocol Buffers in a file. A message may be written in pieces: the bytes of several
 * messages of one type, one after the other, are those of one that has all their repeated fields.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* What could not be written the file's error flag tells. */
void protobuf_write(FILE *file, const ProtobufCMessage *message);
