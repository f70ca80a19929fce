// SPDX-License-Identifier: Apache-2.0
/* Sets of registers (include/arch.h): bit N stands for register N. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

typedef uint64_t register_set;

#define REGISTER_BIT(reg) ((register_set)1 << (reg))
#define REGISTERS_ALL     (REGISTER_BIT(CPU_REGISTERS) - 1)

static inline bool registers_have(register_set set, unsigned int reg)
{
    return set >> reg & 1;
}
