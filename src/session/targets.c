// SPDX-License-Identifier: Apache-2.0
#include "session/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/process.h"
#include "os/service_attributes.h"
#include "session/node_name.h"
#include "util/alloc.h"
#include "util/attribute_list.h"
#include "util/log.h"
#include "util/stop.h"

enum {
    START_SECONDS = 60,
    START_POLLS_A_SECOND = 50,
    ARRIVALS = 16, /* VMs for which there is room at least, if they start later */
};

struct target *targets_adopt(struct targets *targets, struct vm *vm, const struct target_rule *rule)
{
    struct target *target = target_new(vm, rule);
    char assumption[256];

    vm_assumption(vm, assumption, sizeof(assumption));
    if (assumption[0])
        targets->warn("%s", assumption);
    targets->of = xgrow(targets->of, &targets->room, targets->count, sizeof(*targets->of));
    targets->of[targets->count++] = target;
    return target;
}

struct target *targets_find(const struct targets *targets, pid_t pid)
{
    struct target *ended = NULL;

    for (size_t i = 0; i < targets->count; i++) {
        struct target *target = targets->of[i];

        if (target->vm->pid != pid)
            continue;
        if (!target->ended)
            return target;
        ended = target;
    }
    return ended;
}

size_t targets_find_rule(const struct target_rule *rules, size_t count, const struct vm *vm,
                         const char *node)
{
    char id[256] = "", *attributes, *container, *name_space, *pod;
    size_t result;

    process_container(vm->pid, id, sizeof(id));
    attributes = service_attributes(vm->pid, id, NULL);
    container = attribute_list_find(attributes, "k8s.container.name");
    name_space = attribute_list_find(attributes, "k8s.namespace.name");
    pod = attribute_list_find(attributes, "k8s.pod.name");
    result = target_rules_find(rules, count,
                               &(struct target_names){.node = node,
                                                      .container = container ? container : "",
                                                      .container_id = id,
                                                      .name_space = name_space ? name_space : "",
                                                      .pod = pod ? pod : ""});
    free(attributes);
    free(container);
    free(name_space);
    free(pod);
    return result;
}

bool targets_exclude(struct targets *targets, struct vm *vm, const struct target_rule **ret_rule)
{
    size_t count = targets->rule_count, rule;
    char node[600], reason[64];

    node_name_now(vm, node, sizeof(node));
    rule = count ? targets_find_rule(targets->rules, count, vm, node) : 0;
    *ret_rule = rule < count ? &targets->rules[rule] : NULL;
    if (!*ret_rule || (*ret_rule)->profile)
        return false;
    snprintf(reason, sizeof(reason), "rule %zu of the configuration excludes it", rule + 1);
    log_decision("targets", "process %d is skipped: %s", (int)vm->pid, reason);
    refusals_add(&targets->refused, vm->pid, node, REFUSED_BY_RULE, reason)->is_nameless = !node[0];
    return true;
}

/* Open a VM and add it, unless it is a target already, or a rule excludes it. */
static int add(struct targets *targets, pid_t pid, struct error *error)
{
    const struct target_rule *rule;
    struct vm *vm;

    if (targets_find(targets, pid))
        return 0;
    vm = vm_open(pid, targets->assumed_release, error);
    if (!vm)
        return -1;
    if (targets_exclude(targets, vm, &rule))
        vm_close(vm);
    else
        targets_adopt(targets, vm, rule);
    return 0;
}

void targets_remove(struct targets *targets, size_t index)
{
    target_free(targets->of[index]);
    targets->count--;
    memmove(&targets->of[index], &targets->of[index + 1],
            (targets->count - index) * sizeof(*targets->of));
}

static uint32_t room_for(size_t count)
{
    return 2 * (uint32_t)count + ARRIVALS;
}

uint32_t targets_room(const struct targets *targets)
{
    uint32_t room = room_for(targets->count);

    if (!targets->all)
        return (uint32_t)targets->count;
    return room > targets->room_least ? room : targets->room_least;
}

/* Return the pids of all visible VMs; the caller frees them. NULL with error. `*refused` is the
 * number of OS processes that this program may not read and that could be VMs. */
static pid_t *find_beams(const struct targets *targets, size_t *count, size_t *refused,
                         struct error *error)
{
    size_t listed, found = 0;
    pid_t *pids = process_list(&listed, error);
    struct error ignored; /* processes that ended, or that may not be read */
    struct build build;

    if (!pids)
        return NULL;
    for (size_t i = 0; i < listed && !stop_requested; i++) {
        int identified = vm_identify(pids[i], &build, &ignored);

        if (identified < 0 && ignored.code == ERROR_PERMISSION) {
            log_detail("targets", "process %d is skipped: %s", pids[i], ignored.text);
            (*refused)++;
        }
        if (identified < 0 && ignored.code == ERROR_UNSUPPORTED)
            targets->warn("process %d is skipped: %s", pids[i], ignored.text);
        if (identified == 1)
            pids[found++] = pids[i];
    }
    *count = found;
    return pids;
}

static int none_found(size_t refused, struct error *error)
{
    char missing[160];

    if (refused && !capabilities_are_the_hosts()) {
        capabilities_refused(CAPABILITIES_TO_READ, error, "examine the processes of this host");
        return error_prefix(error, "no Erlang VM is visible");
    }
    capabilities_missing(CAPABILITIES_TO_READ, missing, sizeof(missing));
    if (missing[0] && (geteuid() || refused))
        return error_set(error, ERROR_PERMISSION,
                         "no Erlang VM is visible: run as root, or with %s, to see VMs of other "
                         "users",
                         missing);
    if (!process_numbers_are_the_hosts())
        return error_set(error, ERROR_NO_PROCESS,
                         "no Erlang VM is running in this container: to see those outside, "
                         "run beamflame in the %s",
                         PROCESS_NUMBERS_OF_HOST);
    return error_set(error, ERROR_NO_PROCESS, "no Erlang VM is running on this host");
}

static enum refusal_kind kind_of(const struct error *error)
{
    switch (error->code) {
    case ERROR_UNSUPPORTED:
        return REFUSED_UNSUPPORTED;
    case ERROR_PERMISSION:
        return REFUSED_RIGHTS;
    default:
        return REFUSED_OTHER;
    }
}

void targets_refuse(struct targets *targets, pid_t pid, const struct error *error)
{
    targets->warn("process %d is skipped: %s", (int)pid, error->text);
    refusals_add(&targets->refused, pid, NULL, kind_of(error), error->text);
}

static bool may_leave_out(struct targets *targets, pid_t pid, const struct error *error)
{
    if (error->code == ERROR_UNSUPPORTED)
        targets_refuse(targets, pid, error);
    if (error->code == ERROR_NO_PROCESS)
        log_decision("targets", "process %d is skipped: %s", pid, error->text);
    return error->code == ERROR_UNSUPPORTED || error->code == ERROR_NO_PROCESS;
}

bool targets_leave_out(struct targets *targets, size_t index, const struct error *error)
{
    if (!targets->all || (targets->count == 1 && !targets->may_be_none) ||
        !may_leave_out(targets, targets->of[index]->vm->pid, error))
        return false;
    targets_remove(targets, index);
    return true;
}

/* VMs that are opened before a recording begins that others may join. To open one takes some 0.2 s
 * of CPU time: on a large host the first would wait for minutes. */
enum { FIRST_VMS = 16 };

static int add_all(struct targets *targets, const pid_t *pids, size_t count, size_t refused,
                   struct error *error)
{
    size_t first = targets->may_be_none && count > FIRST_VMS ? FIRST_VMS : count;
    struct error unsupported = {0};

    if (targets->room_least < room_for(count))
        targets->room_least = room_for(count);
    for (size_t i = 0; i < first && !stop_requested; i++) {
        if (add(targets, pids[i], error) == 0)
            continue;
        if (!may_leave_out(targets, pids[i], error)) {
            if (!targets->may_be_none || stop_requested)
                return -1;
            targets_refuse(targets, pids[i], error);
        }
        if (error->code == ERROR_UNSUPPORTED)
            unsupported = *error;
    }
    if (targets->count || targets->may_be_none)
        return 0;
    if (!unsupported.code)
        return none_found(refused, error);
    *error = unsupported;
    return -1;
}

static int too_many(const pid_t *pids, size_t count, bool one, struct error *error)
{
    char list[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof(list) - 12; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, " %d", pids[i]);
    return error_set(error, ERROR_USAGE,
                     "%zu Erlang VMs are running:%s; choose with -p PID%s ('beamflame ps' lists "
                     "them)",
                     count, list, one ? "" : ", or -a for all");
}

/* VMs among the processes that may not be read would be missed without a word. */
static void warn_of_unseen(const struct targets *targets, size_t refused)
{
    struct error error;

    if (!refused || !capabilities_may_hide_processes())
        return;
    capabilities_refused(CAPABILITIES_TO_READ, &error, "examine %zu processes", refused);
    targets->warn("VMs of other users may be missing: %s", error.text);
}

static int open_found(struct targets *targets, bool one, struct error *error)
{
    size_t count = 0, refused = 0;
    pid_t *pids = find_beams(targets, &count, &refused, error);
    int result;

    if (!pids)
        return -1;
    log_decision("targets", "%zu of the OS processes of this host are VMs", count);
    if (targets->all && (count || targets->may_be_none))
        warn_of_unseen(targets, refused);
    if (count == 0)
        result = targets->may_be_none ? 0 : none_found(refused, error);
    else if (targets->all)
        result = add_all(targets, pids, count, refused, error);
    else if (count > 1)
        result = too_many(pids, count, one, error);
    else
        result = add(targets, pids[0], error);
    free(pids);
    return result;
}

/* ---- a command ---- */

static bool descends_from(pid_t pid, pid_t ancestor)
{
    for (int depth = 0; depth < 16 && pid > 1; depth++) {
        if (pid == ancestor)
            return true;
        pid = process_parent(pid);
    }
    return false;
}

/* The VM that `child` has become or has started; 0 if there is none yet. */
static pid_t beam_of(pid_t child)
{
    struct error ignored;
    struct build build;
    size_t count = 0;
    pid_t *pids = process_list(&count, &ignored), found = 0;

    for (size_t i = 0; pids && i < count && !found && !stop_requested; i++)
        if (descends_from(pids[i], child) && vm_identify(pids[i], &build, &ignored) == 1)
            found = pids[i];
    free(pids);
    return found;
}

/* A VM that is starting has no tables yet: retry until it has them. */
static int open_command(const struct target_options *options, struct targets *targets,
                        struct error *error)
{
    char **command = options->command;
    const struct timespec pause = {.tv_nsec = 1000000000 / START_POLLS_A_SECOND};

    targets->child = command_start(command, options->user, error);
    if (targets->child < 0) {
        targets->child = 0;
        return -1;
    }
    error_set(error, ERROR_NO_PROCESS, "'%s' did not become an Erlang VM in %d seconds", command[0],
              START_SECONDS);
    for (int i = 0; i < START_SECONDS * START_POLLS_A_SECOND && !stop_requested; i++) {
        pid_t pid = beam_of(targets->child);

        if (pid && add(targets, pid, error) == 0)
            return 0;
        if (!pid && waitpid(targets->child, NULL, WNOHANG) == targets->child) {
            targets->child = 0;
            return error_set(error, ERROR_NO_PROCESS,
                             "'%s' ended without having started an Erlang VM", command[0]);
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}

int targets_open(const struct target_options *options, struct targets *targets, struct error *error)
{
    int result = 0;

    *targets = (struct targets){
        .all = options->all,
        .may_be_none = options->may_be_none,
        .room_least = options->room,
        .assumed_release = options->assumed_release,
        .rules = options->rules,
        .rule_count = options->rule_count,
        .warn = options->warn,
    };
    if (options->command)
        result = open_command(options, targets, error);
    else if (!options->pid_count)
        result = open_found(targets, options->one, error);
    for (size_t i = 0; i < options->pid_count && !result; i++)
        result = add(targets, options->pids[i], error);
    if (stop_requested)
        result = stop_error(error);
    if (result)
        targets_close(targets);
    return result;
}

void targets_close(struct targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        target_free(targets->of[i]);
    free(targets->of);
    refusals_free(&targets->refused);
    targets->of = NULL;
    targets->count = targets->room = 0;
    if (targets->child)
        waitpid(targets->child, NULL, WNOHANG);
}
