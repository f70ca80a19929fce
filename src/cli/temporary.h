// SPDX-License-Identifier: Apache-2.0
/* Where unnamed files are made that nobody asked for by name. */
#pragma once

#include <stdlib.h>

static inline const char *temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");

    return directory ? directory : "/tmp";
}
