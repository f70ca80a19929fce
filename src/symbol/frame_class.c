// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <string.h>

static bool contains_any(const char *symbol, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(symbol, *parts))
            return true;
    return false;
}

enum frame_class frame_class_of_system(const char *symbol)
{
    static const char *const polls[] = {"epoll_wait", "epoll_pwait", NULL};
    static const char *const sleeps[] = {"futex_wait", "timerfd", "do_sys_poll", "do_select", NULL};

    if (!strcmp(symbol, "ep_poll") || contains_any(symbol, polls))
        return CLASS_POLL;
    return contains_any(symbol, sleeps) ? CLASS_SLEEP : CLASS_SYSTEM;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum frame_class frame_class_of_native(const char *symbol, const char *file, const char *executable)
{
    if (!strcmp(symbol, "driver_select"))
        return CLASS_CHECK_IO;
    return strcmp(base_name(file), base_name(executable)) ? frame_class_of_system(symbol)
                                                          : CLASS_VM;
}

enum frame_class frame_class_of_start(const struct state_functions *functions, uint64_t start,
                                      enum frame_class by_name)
{
    static const uint8_t classes[STATE_FUNCTIONS] = {
        [FUNCTION_SCHEDULE] = CLASS_SCHEDULE, [FUNCTION_AUX_WORK] = CLASS_AUX,
        [FUNCTION_CHECK_IO] = CLASS_CHECK_IO, [FUNCTION_DRIVER] = CLASS_PORT,
        [FUNCTION_COLLECT] = CLASS_COLLECT,   [FUNCTION_FULL_SWEEP] = CLASS_FULL_SWEEP,
    };
    enum state_function function = state_functions_get(functions, start);

    return function == FUNCTION_OTHER ? by_name : (enum frame_class)classes[function];
}
