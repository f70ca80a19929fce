// SPDX-License-Identifier: Apache-2.0
/*
 * process_list PID: print the metrics of each process of a VM (beam/process_metrics.h), one process
 * a line:
 *
 *     <0.85.0> reductions=1234 msgq=0 ...       without unknown metrics
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "beam/process_info.h"
#include "beam/process_metrics.h"
#include "beam/process_walk.h"
#include "beam/process_table.h"

struct lister {
    struct vm *vm;
    struct pid_encoding encoding;
};

static bool print_process(void *context, uint64_t index, uint64_t address)
{
    struct lister *lister = context;
    const struct layout *layout = &lister->vm->layout;
    struct metrics metrics;
    uint8_t bytes[4096];
    char pid[48];
    uint64_t id;

    (void)index;
    if (!memory_read(lister->vm->memory, address, bytes, (size_t)layout->sizeof_process) ||
        !memory_read_u64(lister->vm->memory, address + (uint64_t)layout->process_id, &id) ||
        !pid_encoding_format(&lister->encoding, id, pid, sizeof(pid)))
        return true;
    process_metrics_read(lister->vm, bytes, NULL, &metrics);
    process_walk_metrics(lister->vm, address, bytes, PROCESS_READS_MAX, &metrics);
    printf("%s", pid);
    for (int i = 0; i < METRICS; i++)
        if (metrics_know(&metrics, (enum metric)i))
            printf(" %s=%" PRIu64, metric_name((enum metric)i), metrics.values[i]);
    printf("\n");
    return true;
}

int main(int argc, char **argv)
{
    struct lister lister = {0};
    struct error error;
    int result = -1;

    if (argc != 2) {
        fprintf(stderr, "usage: process_list PID\n");
        return 2;
    }
    lister.vm = vm_open(atoi(argv[1]), 0, &error);
    if (lister.vm && pid_encoding_read(lister.vm, &lister.encoding, &error) == 0)
        result = process_table_each(lister.vm, print_process, &lister, &error);
    if (result != 0)
        fprintf(stderr, "process_list: %s\n", error.text);
    vm_close(lister.vm);
    return result != 0;
}
