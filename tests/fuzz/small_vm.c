// SPDX-License-Identifier: Apache-2.0
/* Compiled with debug information, a small file with what is read of a VM's: a seed of elf_fuzz.c.
 * The names are those of src/beam/layout_rows.h, so that the layout which the file describes passes
 * its check. */
#include <stdint.h>

/* By these a VM is recognised (src/beam/build.c). */
void erl_drv_mutex_create(void);
void enif_alloc(void);
void erl_drv_mutex_create(void) {}
void enif_alloc(void) {}
const char banner[] = "Erlang/OTP 27%s [erts-15.2.7] [source] [64-bit] [smp:%beu:%beu] [jit:ns%s]";
const char config_text[] = "\n#define NATIVE_ERLANG_STACK 1\n#define ERLANG_FRAME_POINTERS 1\n"
                           "#undef USE_VM_PROBES\n";

typedef uint64_t Eterm;

typedef struct process Process;
struct process {
    struct {
        Eterm id;
        union {
            struct {
                struct reg_proc *reg;
                void *links, *lt_monitors, *monitors;
            } alive;
            uint64_t release[4];
        } u;
    } common;
    Eterm *htop, *stop;
    union { /* without a name: its members belong to the process */
        Eterm *frame_pointer;
        struct {
            uint32_t low, high;
        };
    };
    uint64_t fcalls, arity;
    Eterm *heap, *hend, *abandoned_heap;
    uint64_t heap_sz;
    volatile Eterm *arg_reg;
    Eterm def_arg_reg[6];
    const void *i;
    uint64_t reds, flags;
    struct {
        void *first, **last;
        int64_t len;
    } sig_qs;
    struct proc_dict *dictionary;
    union {
        struct {
            Eterm module, function, arity;
        } initial;
        void *wait;
    } u;
    const void *current;
    _Atomic uint32_t state;
    uint64_t room[8];
};

typedef struct {
    struct {
        void *registers, *run_queue;
        uint64_t tid;
        Process *current_process;
        int type;
        uint64_t no, dirty_no;
    } esd;
    char line[2][64];
} Scheduler;

typedef struct scheduler {
    void *registers, *run_queue;
    uint64_t tid;
    Process *current_process;
    int type;
    uint64_t no, dirty_no;
} ErtsSchedulerData;
typedef Scheduler ErtsAlignedSchedulerData;

typedef struct {
    union {
        struct {
            uint32_t count, aid_ix;
        } tile;
        char line[64];
    } vola;
    union {
        struct {
            uint64_t *tab;
            uint32_t max;
            uint64_t pix_mask, pix_cl_mask, pix_cli_mask;
            int pix_cl_shift, pix_cli_shift;
            void *invalid_element;
            uint64_t invalid_data;
            uint32_t element_size;
        } o;
        char line[192];
    } r;
} ErtsPTab;

typedef struct {
    int size, limit, entries;
    void ***seg_table;
} IndexTable;

typedef struct {
    struct {
        uint64_t bucket[2];
        int index;
    } slot;
    int16_t len;
    unsigned char *name;
    uint64_t room;
} Atom;

typedef struct proc_dict {
    unsigned int sizeMask, usedSlots, arraySize;
    Eterm data[1];
} ProcDict;

typedef struct reg_proc {
    uint64_t bucket[2];
    Process *p;
    Eterm name;
} RegProc;

struct erl_module {
    int seen;
    int module;
};

/* Variables, so that the compiler describes their types. */
Process process;
ErtsSchedulerData scheduler;
ErtsAlignedSchedulerData schedulers;
ErtsPTab table;
IndexTable index_table;
Atom atom;
ProcDict dictionary;
RegProc registered;
struct erl_module module;
