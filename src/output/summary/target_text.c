// SPDX-License-Identifier: Apache-2.0
#include "output/summary/target_text.h"

void target_text(const struct profile *profile, target_id id, struct buffer *text)
{
    const struct target_entry *target = profile_get_target(profile, id);

    if (target->node)
        buffer_format(text, "%s, ", profile_text(profile, target->node));
    buffer_format(text, "pid %u", target->pid);
    if (target->otp_release)
        buffer_format(text, ", OTP %s", profile_text(profile, target->otp_release));
    if (target->erts)
        buffer_format(text, ", erts %s", profile_text(profile, target->erts));
    if (target->flavor)
        buffer_format(text, ", %s", profile_text(profile, target->flavor));
    if (target->host)
        buffer_format(text, ", host %s", profile_text(profile, target->host));
    if (target->container)
        buffer_format(text, ", container %s", profile_text(profile, target->container));
}
