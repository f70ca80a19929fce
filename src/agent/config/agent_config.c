// SPDX-License-Identifier: Apache-2.0
#include "agent/config/agent_config.h"

#include <stdlib.h>

#include "agent/config/config_internal.h"
#include "agent/config/config_store.h"
#include "agent/config/config_value.h"
#include "agent/config/config_yaml.h"

int agent_config_load(const char *path, struct agent_config *config, struct error *error)
{
    struct agent_config made;

    config_store_begin(&made, path);
    if ((path && config_yaml_read(&made, error)) || config_environment_apply(&made, error) ||
        config_check(&made, error)) {
        agent_config_free(&made);
        return -1;
    }
    *config = made;
    return 0;
}

static void free_entries(struct agent_config *config, enum config_section section)
{
    size_t count = config_store_count(config, section);

    for (size_t entry = 0; entry < count; entry++)
        for (size_t i = 0; config_key_at(i); i++)
            if (config_key_at(i)->section == section)
                config_value_free(config_key_at(i),
                                  config_store_target(config, config_key_at(i), entry));
}

void agent_config_free(struct agent_config *config)
{
    for (size_t i = 0; config_key_at(i); i++)
        if (!config_section_is_list(config_key_at(i)->section))
            config_value_free(config_key_at(i), config_store_target(config, config_key_at(i), 0));
    free_entries(config, CONFIG_RULES);
    free(config->rules);
    free_entries(config, CONFIG_TRIGGERS);
    free(config->triggers);
    for (size_t i = 0; i < config->service_count; i++)
        push_service_free(&config->services[i]);
    free(config->services);
    if (config->sources) {
        free(config->sources->path);
        free(config->sources->list);
    }
    free(config->sources);
    *config = (struct agent_config){.services = NULL};
}
