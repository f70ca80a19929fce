// SPDX-License-Identifier: Apache-2.0
/* Identify a BEAM and its release by the contents of the ELF file, never by the file's name. */
#pragma once

#include "beam/layout.h"

/* Read .rodata of the ELF file open at `fd`: the banner "Erlang/OTP R%s [erts-V] ..." and the text
 * of config.h that each VM contains. Returns 1 and fills *build if it is a BEAM, 0 if it is not, -1
 * with error if it can't be read. */
int build_identify(int fd, struct build *build, struct error *error);
