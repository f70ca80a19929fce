// SPDX-License-Identifier: Apache-2.0
#pragma once

/* Begins the name of a C function that is less certain than other names: "~dec_term"
 * (symbols/README.md). */
#define INFERRED_NAME '~'
