// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a configuration of the agent (libFuzzer): its file, and after a NUL the variables
 * of the environment, one a line. A configuration that is accepted must be the same after it was
 * printed and read again.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/same_config.h"
#include "agent/config/config_table.h"
#include "session/trigger.h"
#include "util/alloc.h"
#include "util/files.h"
#include "util/utf8.h"

enum { VARIABLES_MAX = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static int load_bytes(const void *data, size_t size, struct agent_config *config,
                      struct error *error)
{
    int fd = memfd_create("agent.yaml", MFD_CLOEXEC), result;
    char path[40];

    check(fd >= 0 && !files_write_all(fd, data, size));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    result = agent_config_load(path, config, error);
    close(fd);
    return result;
}

/* Cut the text into lines; NULL ends the list. */
static void split(char *text, char *variables[VARIABLES_MAX + 1])
{
    size_t count = 0;

    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line && count < VARIABLES_MAX;
         line = strtok_r(NULL, "\n", &rest))
        variables[count++] = line;
    variables[count] = NULL;
}

static void check_values(const struct agent_config *config)
{
    check(config->record.cpu <= 1000 && config->record.wall <= 1000);
    check(config->record.budget > 0 && config->record.budget <= 100);
    check(config->record.host_budget > 0 && config->record.host_budget <= 10000);
    check(config->record.interval >= 1 && config->spool.max_age >= 1);
    check(config->record.max_memory && config->spool.max_size);
    check(config->spool.directory[0] == '/' && config->record.events);
    check(config->rule_count <= CONFIG_RULES_MAX);
    check(config->service_count <= CONFIG_SERVICES_MAX);
    check(config->trigger_count <= CONFIG_TRIGGERS_MAX);
    for (size_t i = 0; i < config->trigger_count; i++) {
        const struct agent_trigger *trigger = &config->triggers[i];
        struct trigger parsed;
        struct error error;

        check(trigger->name && trigger->name[0] && !trigger_parse(trigger->when, &parsed, &error));
        trigger_free(&parsed);
        check(trigger->holdoff >= 1 && trigger->max_kept && trigger->max_size);
    }
    for (size_t i = 0; i < config->service_count; i++) {
        const struct push_service *service = &config->services[i];

        check(service->name && service->name[0] && service->url &&
              !strncmp(service->url, "http", 4));
        check(!service->user == !service->password_file);
        check(!service->user || !service->token_file);
        check(!service->tenant || utf8_is_clean(service->tenant, strlen(service->tenant)));
    }
}

/* The environment must be empty by now: a variable may have added a service. */
static void check_printed(const struct agent_config *config)
{
    struct agent_config again;
    struct error error;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    config_print(config, file);
    fclose(file);
    check(!load_bytes(text, size, &again, &error) && same_config(config, &again));
    agent_config_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t file_size = end ? (size_t)(end - data) : size;
    char *lines = end ? xstrndup((const char *)end + 1, size - file_size - 1) : xstrdup("");
    char *variables[VARIABLES_MAX + 1], *none[] = {NULL}, **own = environ;
    struct agent_config config;
    struct error error = {0};
    int result;

    split(lines, variables);
    environ = variables;
    result = load_bytes(data, file_size, &config, &error);
    environ = none;
    if (result) {
        check(error.code == ERROR_USAGE && error.text[0] && !strchr(error.text, '\n'));
    } else {
        check_values(&config);
        check_printed(&config);
        agent_config_free(&config);
    }
    environ = own;
    free(lines);
    return 0;
}
