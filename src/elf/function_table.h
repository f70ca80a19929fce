// SPDX-License-Identifier: Apache-2.0
/*
 * Finds function boundaries without symbols. The table of .eh_frame_hdr, which stripped binaries
 * keep for unwinding, lists the start of each function (Linux Standard Base Core 5.0, 10.6.2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_table {
    const uint8_t *pairs;
    size_t count;
    uint64_t address; /* of the section: starts are relative to it */
};

/* Read the table from the bytes of .eh_frame_hdr, which is at `address` of the file. The table
 * borrows the bytes. False if it has another form than linkers for x86-64 and arm64 write. */
bool function_table_read(struct function_table *table, const void *bytes, size_t size,
                         uint64_t address);

/* The start of function `index`, an address of the file. Starts ascend, unless the file is
 * damaged. */
uint64_t function_table_start(const struct function_table *table, size_t index);

/* The number of functions that start at `address` of the file or before it. */
size_t function_table_until(const struct function_table *table, uint64_t address);
