// SPDX-License-Identifier: Apache-2.0
#include "output/dump/writers.h"

#include "output/summary/summary_text.h"

static void (*const text_writers[DUMP_SECTIONS])(FILE *file, const struct dump *dump) = {
    [DUMP_PROCESSES] = dump_processes_text,
    [DUMP_TABLES] = dump_tables_text,
    [DUMP_MEMORY] = dump_memory_text,
    [DUMP_PORTS] = dump_ports_text,
};

void dump_write_text(FILE *file, const struct dump *dump)
{
    struct buffer target = {0};
    const char *separator = "";

    summary_text_of_target(dump->profile, dump->target, &target);
    fprintf(file, "%.*s\n", (int)target.size, target.data);
    buffer_free(&target);
    for (int section = 0; section < DUMP_SECTIONS; section++) {
        if (!dump_has(dump, (enum dump_section)section))
            continue;
        fputs(separator, file);
        text_writers[section](file, dump);
        separator = "\n";
    }
}

static void put_core(struct json *json, const struct dump *dump)
{
    process_id crashed = dump->crashed_process;

    json_bool(json, "core", true);
    json_signed(json, "signal", dump->signal);
    dump_text_json(json, "crashed_process", dump->profile,
                   crashed ? profile_get_process(dump->profile, crashed)->pid : 0);
}

static void put_target(struct json *json, const struct dump *dump)
{
    const struct profile *profile = dump->profile;
    const struct target_entry *target = profile_get_target(profile, dump->target);

    json_number(json, "pid", target->pid);
    dump_text_json(json, "node", profile, target->node);
    dump_text_json(json, "otp_release", profile, target->otp_release);
    dump_text_json(json, "erts", profile, target->erts);
    json_thousandths(json, "time", dump->realtime / 1000000);
    if (dump->of_core)
        put_core(json, dump);
    json_number(json, "left_out", dump->left_out);
    json_number(json, "gone", dump->gone);
    json_number(json, "torn", dump->torn);
}

void dump_text_json(struct json *json, const char *key, const struct profile *profile,
                    string_id text)
{
    json_text_or_null(json, key, profile_text(profile, text));
}

void dump_owner_json(struct json *json, const struct profile *profile, process_id owner)
{
    const struct process_entry *entry = owner ? profile_get_process(profile, owner) : NULL;

    if (!entry) {
        json_null(json, "owner");
        return;
    }
    json_open(json, "owner", '{');
    json_text(json, "pid", profile_text(profile, entry->pid));
    dump_text_json(json, "name", profile, entry->name);
    dump_text_json(json, "label", profile, entry->label);
    dump_text_json(json, "initial_call", profile, entry->initial_call);
    json_close(json, '}');
}

static void (*const json_writers[DUMP_SECTIONS])(struct json *json, const struct dump *dump) = {
    [DUMP_PROCESSES] = dump_processes_json,
    [DUMP_TABLES] = dump_tables_json,
    [DUMP_MEMORY] = dump_memory_json,
    [DUMP_PORTS] = dump_ports_json,
};

void dump_write_json(FILE *file, const struct dump *dump)
{
    struct json json = {file, .compact = true};

    json_open_lines(&json, NULL, '{');
    put_target(&json, dump);
    for (int section = 0; section < DUMP_SECTIONS; section++)
        if (dump_has(dump, (enum dump_section)section))
            json_writers[section](&json, dump);
    json_close(&json, '}');
    putc('\n', file);
}
