// SPDX-License-Identifier: Apache-2.0
/* Names of the enums of profile.h, as they appear in outputs. */
#include "profile/profile.h"

/* erts/emulator/beam/erl_process.c, erts_process_state2status(); OTP 27. It has no STATUS_NONE. */
static const char *const status_names[] = {
    [STATUS_NONE] = "none",
    [STATUS_RUNNING] = "running",
    [STATUS_RUNNABLE] = "runnable",
    [STATUS_WAITING] = "waiting",
    [STATUS_SUSPENDED] = "suspended",
    [STATUS_EXITING] = "exiting",
    [STATUS_GARBAGE_COLLECTING] = "garbage_collecting",
    [STATUS_FREE] = "free",
};
_Static_assert(sizeof(status_names) / sizeof(status_names[0]) == STATUS_COUNT, "one name each");

static const char *const activity_names[] = {
    [ACTIVITY_PROCESS] = "process",     [ACTIVITY_SCHEDULING] = "scheduling",
    [ACTIVITY_BUSY_WAIT] = "busy-wait", [ACTIVITY_SLEEP] = "sleep",
    [ACTIVITY_CHECK_IO] = "check-io",   [ACTIVITY_PORT] = "port",
    [ACTIVITY_AUX_WORK] = "aux",        [ACTIVITY_ASYNC] = "async",
    [ACTIVITY_POLL] = "poll",           [ACTIVITY_OTHER] = "other",
};
_Static_assert(sizeof(activity_names) / sizeof(activity_names[0]) == ACTIVITY_COUNT,
               "one name each");

static const char *const unit_names[] = {
    [UNIT_COUNT] = "count",
    [UNIT_NS] = "ns",
    [UNIT_WORDS] = "words",
    [UNIT_BYTES] = "bytes",
};
_Static_assert(sizeof(unit_names) / sizeof(unit_names[0]) == UNIT_END, "one name each");

static const struct {
    const char *name;     /* key in JSON */
    const char *sentence; /* after a count, as in "12 samples ..." */
} losses[] = {
    [LOSS_RING_FULL] = {"ring_full", "samples dropped because the ring buffer was full"},
    [LOSS_BAD_SAMPLE] = {"bad_sample", "samples dropped because their bytes are damaged"},
    [LOSS_STACK_INCOMPLETE] = {"stack_incomplete",
                               "Erlang stacks that do not reach the first function of the process"},
    [LOSS_STACK_TRUNCATED] = {"stack_truncated",
                              "stacks too deep to copy, whose middle is left out"},
    [LOSS_STACK_POINTER] = {"stack_pointer",
                            "samples whose exact Erlang stack pointer was not known"},
    [LOSS_NATIVE_UNWIND] = {"native_unwind",
                            "stacks whose native part could not be unwound to its end"},
    [LOSS_UNKNOWN_ERLANG] = {"unknown_erlang", "Erlang frames without a name for their address"},
    [LOSS_UNKNOWN_NATIVE] = {"unknown_native",
                             "native frames without a symbol, shown as file and offset"},
    [LOSS_KERNEL_STACK] = {"kernel_stack", "kernel stacks that were cut or not available"},
    [LOSS_OUT_OF_ORDER] = {"out_of_order", "samples whose time was changed to keep the order"},
    [LOSS_KERNEL_ENTRY] = {"kernel_entry",
                           "samples that hit the entry to the kernel, without a stack"},
    [LOSS_CLOCK_STOPPED] = {"clock_stopped",
                            "stop of CPU sampling, because its clock interrupted too often"},
};
_Static_assert(sizeof(losses) / sizeof(losses[0]) == LOSS_COUNT, "one name each");

const char *process_status_name(enum process_status status)
{
    return status < STATUS_COUNT ? status_names[status] : "unknown";
}

const char *activity_name(enum activity activity)
{
    return activity < ACTIVITY_COUNT ? activity_names[activity] : "unknown";
}

const char *unit_name(enum unit unit)
{
    return unit >= UNIT_COUNT && unit < UNIT_END ? unit_names[unit] : "unknown";
}

const char *loss_name(enum loss loss)
{
    return loss < LOSS_COUNT ? losses[loss].name : "unknown";
}

const char *loss_sentence(enum loss loss)
{
    return loss < LOSS_COUNT ? losses[loss].sentence : "losses of an unknown kind";
}
