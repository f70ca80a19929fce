// SPDX-License-Identifier: Apache-2.0
/* Is this executable a BEAM, and which? Told from the ELF file, never from its name. */
#pragma once

#include "beam/layout.h"

/* Read .rodata of the ELF file open at `fd`: the banner "Erlang/OTP R%s [erts-V] ..." and the text
 * of config.h that each emulator carries. Returns 1 and fills *build if it is a BEAM, 0 if it is
 * not, -1 with error if it can't be read. */
int build_identify(int fd, struct build *build, struct error *error);
