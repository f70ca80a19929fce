// SPDX-License-Identifier: Apache-2.0
/* The targets: the VMs that are profiled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "os/process.h"
#include "session/options.h"
#include "session/target.h"
#include "util/error.h"

/* ---- refusals.c ---- */

/* The VMs that run and are not profiled, with the reason: also those that are tried again. */

enum refusal_kind {
    REFUSED_BY_RULE,
    REFUSED_STARTING, /* it can't be read yet, and is tried again */
    REFUSED_UNSUPPORTED,
    REFUSED_RIGHTS, /* a capability is missing */
    REFUSED_OTHER,
    REFUSAL_KINDS,
};

struct refused_vm {
    pid_t pid;
    enum refusal_kind kind;
    struct process_identity identity;
    char *node; /* its name, or the one that it requests; NULL: not known */
    char *reason;
    bool is_nameless; /* a rule excludes it, and it has no name yet: with one, it is judged again */
};

struct refusals {
    struct refused_vm *of;
    size_t count, room;
};

/* Add a VM, or give another reason. `node`: its name if it is known, or NULL. Texts are copied.
 * The result, like that of refusals_find(), is valid until the next refusals_* call. */
struct refused_vm *refusals_add(struct refusals *refusals, pid_t pid, const char *node,
                                enum refusal_kind kind, const char *reason);

/* Forget a VM that is profiled now. */
void refusals_drop(struct refusals *refusals, pid_t pid);

/* Find the refusal of the program that the process runs now, or NULL. */
const struct refused_vm *refusals_find(const struct refusals *refusals, pid_t pid);

/* Forget those that have ended. */
void refusals_forget_ended(struct refusals *refusals);

void refusals_free(struct refusals *refusals);

/* ---- targets.c ---- */

struct targets {
    struct target **of;
    size_t count, room;
    bool all;         /* all VMs of this host were requested: some may be skipped */
    bool may_be_none; /* as in target_options, and the next two */
    uint32_t room_least;
    int assumed_release;
    const struct target_rule *rules;
    size_t rule_count;
    warn_function warn;
    struct refusals refused; /* if all were requested: those that were skipped */
    pid_t child;             /* the command that was started, 0 if none */
};

/* Open the requested VMs: the pids, every VM, the command's VM, or the only one of the host. Return
 * 0, or -1 with error: ERROR_INTERRUPTED after a signal (util/stop.h). */
int targets_open(const struct target_options *options, struct targets *targets,
                 struct error *error);

/* Add a VM, which belongs to the new target from now on, and the rule that it matches or NULL. */
struct target *targets_adopt(struct targets *targets, struct vm *vm,
                             const struct target_rule *rule);

/* Return the target with this pid, or NULL. A target that runs is preferred to one that has
 * ended.
 * */
struct target *targets_find(const struct targets *targets, pid_t pid);

/* Free a target, and remove it from the list. */
void targets_remove(struct targets *targets, size_t index);

/* The number of targets that there can be at once: more than there are if all VMs of the host are
 * targets, because others may start. */
uint32_t targets_room(const struct targets *targets);

/* Warn of a VM that can't be profiled, and note it among the refused ones. */
void targets_refuse(struct targets *targets, pid_t pid, const struct error *error);

/* Return the number of the first rule that the VM with this name matches, from 0; `count` if it
 * matches none. */
size_t targets_find_rule(const struct target_rule *rules, size_t count, const struct vm *vm,
                         const char *node);

/* True if a rule excludes the VM, which is then noted among the refused ones. *ret_rule: the first
 * rule that it matches; NULL: none. */
bool targets_exclude(struct targets *targets, struct vm *vm, const struct target_rule **ret_rule);

/* Skip a VM that can't be profiled, if all VMs of the host were requested and it is not the last
 * one. Warn if the VM is not supported; do not warn if it has ended. No other error skips a VM.
 * Return true if it was skipped. */
bool targets_leave_out(struct targets *targets, size_t index, const struct error *error);

/* Free the targets. A command that was started continues to run. */
void targets_close(struct targets *targets);

/* ---- command.c ---- */

/* Starts the command that is to be profiled, without the rights and the state of beamflame. */

/*
 * Start a command and return its pid, or -1 with error.
 *
 * The command runs as `user`; NULL: as the user who became root by sudo to start beamflame, else as
 * the user of beamflame. A command of another user than root has no capabilities. Its signals have
 * their default actions, but SIGHUP stays ignored if it is (nohup). It gets descriptors 0, 1 and 2
 * only.
 */
pid_t command_start(char **command, const char *user, struct error *error);
