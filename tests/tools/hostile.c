// SPDX-License-Identifier: Apache-2.0
/*
 * hostile PID LIE: write a lie into the memory of a stopped node of tests/loads/hostile.erl, as a
 * hostile user would into a program that looks like a VM. `hostile` alone lists the lies. The lies
 * are put into the largest area of zeros that the node has.
 */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    void (*tell)(void);
} lies[] = {
    {"ancestors", lie_ancestors},
    {"dictionary", lie_dictionary},
    {"label", lie_label},
    {"links", lie_links},
    {"monitors", lie_monitors},
    {"messages", lie_messages},
    {"fragments", lie_fragments},
    {"binaries", lie_binaries},
    {"stacks", lie_stacks},
    {"processes", lie_processes},
    {"table", lie_table},
    {"atoms", lie_atoms},
    {"code", lie_code},
    {"code_ring", lie_code_ring},
    {"code_sizes", lie_code_sizes},
    {"names", lie_names},
    {"changing", lie_changing},
    {"held_table", lie_held_table},
    {"held_processes", lie_held_processes},
    {"held_dictionaries", lie_held_dictionaries},
    {"held_stacks", lie_held_stacks},
    {"held_atoms", lie_held_atoms},
    {"held_code", lie_held_code},
    {"ets", lie_ets},
    {"allocators", lie_allocators},
    {"ports", lie_ports},
    {"absent_stack", lie_absent_stack},
    {"absent_process", lie_absent_process},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        if (argc < 3) {
            puts(lies[i].name);
        } else if (!strcmp(argv[2], lies[i].name)) {
            open_node(atoi(argv[1]));
            lies[i].tell();
            vm_close(vm);
            return 0;
        }
    }
    return argc < 3 ? 0 : 2;
}
