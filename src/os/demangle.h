// SPDX-License-Identifier: Apache-2.0
/* C++ names as people write them. */
#pragma once

/* "_ZN6asmjit11BaseEmitter4emitEj" becomes "asmjit::BaseEmitter::emit": without the
 * parameter list, which only makes a frame's name long. malloc'ed; NULL if `name` is not a mangled
 * name or would be too much work. */
char *demangle(const char *name);
