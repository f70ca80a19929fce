// SPDX-License-Identifier: Apache-2.0
/* The directory of unnamed temporary files. */
#pragma once

#include <stdlib.h>

static inline const char *temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");

    return directory ? directory : "/tmp";
}
