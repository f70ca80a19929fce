// SPDX-License-Identifier: Apache-2.0
/*
 * Pids as Erlang prints them: <0.NUMBER.SERIAL>.
 *
 * A pid term holds data that distinguish processes, and the index of the process in the process
 * table:
 *
 *   until 25   pix:32 | data:28 | 0011              number = data[0..15), serial = data[15..28)
 *   from 26    pixdata:60       | 0011              number = data[0..28), serial = data[28..60)
 *
 * From 26 on the index is in the low bits of pixdata. Data is pixdata with these bits permuted back
 * to counting order (erts_ptab_pixdata2data, erl_ptab.h 29.1.1:288). Consecutive processes in
 * counting order are in different cache lines of the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"

/* The encoding of local pid terms, which depends on the release (28 or 60 bits of data), with the
 * masks of the VM's ErtsPTab. pid_encoding_read() fills it. pid_encoding_format() writes "<0.N.S>";
 * it returns false if `term` is not a local pid. */
struct pid_encoding {
    bool wide; /* features.wide_pids */
    uint64_t pix_mask, pix_cl_mask, pix_cli_mask;
    int32_t pix_cl_shift, pix_cli_shift;
};
int pid_encoding_read(struct vm *vm, struct pid_encoding *encoding, struct error *error);
bool pid_encoding_format(const struct pid_encoding *encoding, uint64_t term, char *buffer,
                         size_t size);
/* The term of the local pid <0.NUMBER.SERIAL>; 0 if no pid has these numbers. */
uint64_t pid_encoding_term(const struct pid_encoding *encoding, uint64_t number, uint64_t serial);
/* As for pids, of ports: "#Port<0.N>". The encoding of the port table. */
int pid_encoding_read_ports(struct vm *vm, struct pid_encoding *encoding, struct error *error);
bool pid_encoding_format_port(const struct pid_encoding *encoding, uint64_t term, char *buffer,
                              size_t size);
/* Index in its table of the process or port with this data, in counting order (erts_ptab_data2pix,
 * erl_ptab.h 29.1.1:297). */
uint64_t pid_encoding_index_of_data(const struct pid_encoding *encoding, uint64_t data);
/* Index in its table of the process or port with this term. */
uint64_t pid_encoding_index(const struct pid_encoding *encoding, uint64_t term);
