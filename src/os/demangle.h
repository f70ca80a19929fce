// SPDX-License-Identifier: Apache-2.0
/* Readable C++ names. */
#pragma once

/* Turn "_ZN6asmjit11BaseEmitter4emitEj" into "asmjit::BaseEmitter::emit". The parameter list is cut
 * off, since it only makes frame names long. The result is malloc'ed. NULL if `name` is not mangled
 * or exceeds the bounds on length and back references. */
char *demangle(const char *name);
