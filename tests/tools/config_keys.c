// SPDX-License-Identifier: Apache-2.0
/*
 * config_keys: print the keys of the agent's configuration as a table for docs/agent.md.
 * config_keys FILE: print the configuration that a file makes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/config/agent_config.h"
#include "agent/config/config_table.h"
#include "agent/config/config_value.h"

static void print_default(const struct config_key *key)
{
    if (key->like)
        printf("that of `record.%s`", key->like);
    else if (key->fallback)
        printf("`%s`", key->fallback);
    else
        printf("%s", key->required ? "must be given" : "none");
}

static void print_key(const struct config_key *key)
{
    char path[CONFIG_PATH_ROOM], variable[CONFIG_VARIABLE_ROOM];
    struct buffer limits = {0};

    config_key_path(key, path);
    config_key_variable(key, 0, variable);
    config_value_limits(key, &limits);
    printf("| `%s` | `%s` | %s%s%.*s | ", path, variable, key->type->name,
           key->type->print_limit ? ", " : "", key->type->print_limit ? (int)limits.size : 0,
           limits.size ? limits.data : "");
    print_default(key);
    printf(" | %s |\n", key->help);
    buffer_free(&limits);
}

int main(int argc, char **argv)
{
    struct agent_config config;
    struct error error;

    if (argc == 1) {
        for (size_t i = 0; config_key_at(i); i++)
            print_key(config_key_at(i));
        return 0;
    }
    if (agent_config_load(argv[1], &config, &error)) {
        fprintf(stderr, "config_keys: %s\n", error.text);
        return (int)error.code;
    }
    config_print(&config, stdout);
    agent_config_free(&config);
    return 0;
}
