// SPDX-License-Identifier: Apache-2.0
/* A fake VM, and the names of its atoms and pids, as the arguments of calls need them. */
#pragma once

#include "calls/argument_text.h"
#include "fake_target.h"

struct fake_names {
    struct fake_target *target;
    struct vm vm;
    struct pid_encoding encoding; /* without masks: OTP 25 needs none */
    struct argument_names names;
};

static inline void fake_names_start(struct fake_names *fake, int otp_release,
                                    const char *const *atoms, uint32_t count)
{
    fake->target = fake_target_new();
    fake->names.atoms = fake_vm_with_atoms(fake->target, &fake->vm, otp_release, atoms, count);
    fake->encoding = (struct pid_encoding){.wide = fake->vm.features.wide_pids};
    fake->names.encoding = &fake->encoding;
}

static inline void fake_names_stop(struct fake_names *fake)
{
    atoms_free(fake->names.atoms);
    free(fake->target);
}
