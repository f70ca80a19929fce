// SPDX-License-Identifier: Apache-2.0
#include "cli/release_option.h"

#include "beam/layout.h"
#include "cli/message.h"
#include "cli/values.h"

static int set_release(void *target, char *text, struct error *error)
{
    long release;

    if (value_number("--assume-release", text, OLDEST_RELEASE, NEWEST_RELEASE, &release, error))
        return -1;
    *(int *)target = (int)release;
    return 0;
}

const struct command_option release_option_list[] = {
    {"assume-release", 0, "N",
     "Treat a VM of a newer OTP release than the known ones as release N. What is read of it is "
     "checked as always, but results may be wrong.",
     set_release, NULL},
    {0},
};

void release_option_warn(const struct vm *vm)
{
    char text[256];

    vm_assumption(vm, text, sizeof(text));
    if (text[0])
        message_warning("%s", text);
}
