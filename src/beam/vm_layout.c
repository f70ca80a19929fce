// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "beam/vm_internal.h"
#include "os/debug_file.h"
#include "util/log.h"

static int from_dwarf(struct elf_file *executable, struct layout *layout, struct error *error)
{
    int filled = layout_from_dwarf(executable->fd, layout, error);
    int fd = filled ? -1 : debug_file_open(executable);

    if (filled)
        log_decision("layout", "from the DWARF of %s", executable->path);
    if (fd < 0)
        return filled;
    filled = layout_from_dwarf(fd, layout, error);
    close(fd);
    if (filled)
        log_decision("layout", "from the DWARF of the debug file of %s", executable->path);
    return filled;
}

/* The build that says which features and which table the VM has. */
static struct build assumed_build(struct vm *vm)
{
    struct build build = vm->build;

    if (build.otp_release <= NEWEST_RELEASE)
        vm->assumed_release = 0;
    if (vm->assumed_release)
        build.otp_release = vm->assumed_release;
    return build;
}

int vm_choose_layout(struct vm *vm, struct elf_file *executable, struct error *error)
{
    const struct build build = assumed_build(vm);
    struct error no_table;
    struct layout layout;
    bool has_table = layout_from_table(&build, &layout, &no_table) == 0;
    int filled;

    if (!has_table)
        layout_unknown(&layout);
    filled = from_dwarf(executable, &layout, error);
    if (filled < 0)
        return -1;
    if (!filled && !has_table) {
        *error = no_table;
        return -1;
    }
    if (!filled)
        log_decision("layout",
                     "from the built-in table of OTP %d, ERTS %s (%s%s%s): %s has no DWARF of the "
                     "VM",
                     vm->build.otp_release, vm->build.erts, vm->build.jit ? "JIT" : "interpreter",
                     vm->build.frame_pointer_field ? ", with Process.frame_pointer" : "",
                     vm->build.vm_probes ? ", with USDT probes" : "", executable->path);
    if (layout_check(&layout, error) != 0)
        return -1;
    vm->layout = layout;
    vm->layout_from_dwarf = filled;
    vm->features = features_of(&build);
    return 0;
}
