// SPDX-License-Identifier: Apache-2.0
#pragma once

/* Turn "_ZN6my_nif4calc17h0123456789abcdefE" (legacy) or "_RNvCs1234_6my_nif4calc" (v0) into
 * "my_nif::calc", without the hash. The result is malloc'ed. NULL if `name` is not Rust's, or if
 * the name or its readable form is too long. */
char *demangle_rust(const char *name);
