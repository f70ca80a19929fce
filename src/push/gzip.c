// SPDX-License-Identifier: Apache-2.0
#include "push/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* As of output/output_file.c: a higher level takes much more CPU time for few bytes. */
enum { LEVEL = 4, WINDOW_OF_GZIP = 15 + 16, MEMORY = 8 };

void gzip_put(struct buffer *buffer, const void *data, size_t size)
{
    z_stream stream = {0};
    uLong bound;

    /* Only a lack of memory is left to fail, as in util/alloc.h. */
    if (size > UINT_MAX / 2 || deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY,
                                            Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    bound = deflateBound(&stream, size);
    stream.next_in = (z_const Bytef *)data;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)buffer_reserve(buffer, bound);
    stream.avail_out = (uInt)bound;
    deflate(&stream, Z_FINISH);
    buffer->size += bound - stream.avail_out;
    deflateEnd(&stream);
}
