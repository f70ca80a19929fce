// SPDX-License-Identifier: Apache-2.0
/* Readable names of C++ and Rust symbols. */
#pragma once

/* Turn "_ZN6asmjit11BaseEmitter4emitEj" into "asmjit::BaseEmitter::emit", and names of Rust as
 * demangle_rust() does. The parameter list of C++ is cut off, since it only makes frame names long.
 * The result is malloc'ed. NULL if `name` is not mangled or exceeds the bounds on length and back
 * references. */
char *demangle(const char *name);
