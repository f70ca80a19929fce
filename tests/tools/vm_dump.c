// SPDX-License-Identifier: Apache-2.0
/*
 * vm_dump PID: print all processes of a VM as JSON, one a line. The end-to-end tests compare the
 * output with what the node says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/process_info.h"
#include "beam/process_table.h"
#include "util/alloc.h"

struct dump {
    struct vm *vm;
    struct atoms *atoms;
    struct pid_encoding encoding;
    uint8_t *bytes;
};

static void put_string(const char *name, const char *text)
{
    printf("\"%s\":\"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20)
            printf("\\u%04x", *text);
        else
            putchar(*text);
    }
    putchar('"');
}

static bool put_process(void *context, uint64_t index, uint64_t process)
{
    struct dump *dump = context;
    struct process_info info;
    uint32_t state;

    (void)index;
    if (!memory_read(dump->vm->memory, process, dump->bytes, dump->vm->layout.sizeof_process) ||
        !process_info_read(dump->vm, dump->atoms, &dump->encoding, NULL, process, dump->bytes,
                           &info))
        return true;
    memcpy(&state, dump->bytes + dump->vm->layout.process_state, sizeof(state));
    printf("{");
    put_string("pid", info.pid);
    printf(",");
    put_string("name", info.name);
    printf(",");
    put_string("label", info.label);
    printf(",");
    put_string("initial_call", info.initial_call);
    printf(",\"status\":%d}\n", process_info_status(dump->vm, state));
    return true;
}

int main(int argc, char **argv)
{
    struct dump dump = {0};
    struct error error;
    int result = -1;

    if (argc != 2) {
        fprintf(stderr, "usage: vm_dump PID\n");
        return ERROR_USAGE;
    }
    dump.vm = vm_open(atoi(argv[1]), 0, &error);
    if (dump.vm) {
        dump.atoms = atoms_new(dump.vm);
        dump.bytes = xmalloc(dump.vm->layout.sizeof_process);
        result = pid_encoding_read(dump.vm, &dump.encoding, &error);
        if (result == 0)
            result = process_table_each(dump.vm, put_process, &dump, &error);
    }
    if (result != 0)
        fprintf(stderr, "vm_dump: %s\n", error.text);
    atoms_free(dump.atoms);
    vm_close(dump.vm);
    free(dump.bytes);
    return result == 0 ? 0 : (int)error.code;
}
