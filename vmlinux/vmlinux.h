/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The kernel types that the BPF programs use, and no others. preserve_access_index makes each
 * access a CO-RE relocation: libbpf takes the real offsets from the running kernel's BTF.
 */
#ifndef BEAMFLAME_VMLINUX_H
#define BEAMFLAME_VMLINUX_H
#define __VMLINUX_H__ /* tells libbpf that struct pt_regs has the kernel's names */

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;
typedef _Bool bool;
enum { false = 0, true = 1 };

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PERCPU_HASH = 5,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LRU_HASH = 9,
    BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum {
    BPF_RB_NO_WAKEUP = 1,
    BPF_RB_FORCE_WAKEUP = 2,
    BPF_RB_AVAIL_DATA = 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* arch/x86/include/asm/ptrace.h. Before 6.9 cs and ss are unsigned long. */
struct pt_regs {
    unsigned long r15, r14, r13, r12, bp, bx;
    unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
    unsigned long orig_ax, ip;
    unsigned long cs, flags, sp, ss;
};

struct thread_struct {
    unsigned long fsbase;
};

/* include/linux/uprobes.h. vaddr is in a union without a name, which CO-RE looks through. */
struct return_instance {
    unsigned long stack;
    unsigned long orig_ret_vaddr;
    struct return_instance *next;
};

struct uprobe_task {
    unsigned long vaddr;
    unsigned long xol_vaddr;
    struct return_instance *return_instances;
};

/* include/linux/rwsem.h */
struct rw_semaphore {
    struct {
        long counter;
    } count;
};

/* The same with CONFIG_PREEMPT_RT. */
struct rw_semaphore___realtime {
    struct {
        struct {
            int counter;
        } readers;
    } rwbase;
};

/* include/linux/mm_types.h */
struct mm_struct {
    unsigned long start_stack;
    struct rw_semaphore mmap_lock;
};

/* include/linux/sched.h */
/* include/linux/sched.h, with CONFIG_SCHED_INFO */
struct sched_info {
    unsigned long long run_delay; /* ns that it has waited for a CPU */
};

struct task_struct {
    struct mm_struct *mm;
    struct sched_info sched_info;
    unsigned long nvcsw, nivcsw; /* how often it left a CPU */
    int pid, tgid;
    struct task_struct *group_leader;
    unsigned long long start_boottime; /* ns; exec() keeps it */
    struct thread_struct thread;
    struct uprobe_task *utask;
    void *stack;
};

/* arch/x86/include/asm/cpu_entry_area.h and processor.h: 512 bytes before 5.18, a page since. */
struct entry_stack {
    char stack[4096];
};

/* kernel/bpf/task_iter.c */
struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

#pragma clang attribute pop

typedef struct pt_regs bpf_user_pt_regs_t;

/* include/uapi/linux/bpf_perf_event.h */
struct bpf_perf_event_data {
    bpf_user_pt_regs_t regs;
    __u64 sample_period;
    __u64 addr;
};

/* include/uapi/linux/bpf.h */
struct bpf_perf_event_value {
    __u64 counter;
    __u64 enabled;
    __u64 running;
};
struct bpf_raw_tracepoint_args {
    __u64 args[0];
};

#endif
