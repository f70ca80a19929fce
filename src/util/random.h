// SPDX-License-Identifier: Apache-2.0
/* Random numbers that other users can't foresee. */
#pragma once

#include <stdint.h>

uint64_t random_word(void);
