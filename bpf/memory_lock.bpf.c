// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Check if the lock of a VM's memory map is taken (src/capture/memory_lock.h). These programs are
 * attached to nothing: user space runs them. */
#include "sample.h"

/* Memory maps by the pid of their process. User space adds the pids, and find_memories the maps. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, __u32);
    __type(value, struct mm_struct *);
} memories SEC(".maps");

/* Runs for each thread of the host. Set the memory map of its process, if `memories` has the pid.
 */
SEC("iter/task")
int find_memories(struct bpf_iter__task *context)
{
    struct task_struct *task = context->task;
    struct mm_struct *memory;
    __u32 pid;

    if (!task)
        return 0;
    pid = task->tgid;
    memory = BPF_CORE_READ(task, mm); /* NULL in a thread that has ended */
    if (memory && bpf_map_lookup_elem(&memories, &pid))
        bpf_map_update_elem(&memories, &pid, &memory, BPF_ANY);
    return 0;
}

/* True if a writer has the lock or waits for it, so that a reader would wait; with `readers`, also
 * if a reader has it, so that a writer would wait. */
static __always_inline bool is_taken(const struct rw_semaphore *lock, bool readers)
{
    const struct rw_semaphore___realtime *realtime = (const void *)lock;

    /* RWSEM_WRITER_LOCKED, RWSEM_FLAG_WAITERS and RWSEM_FLAG_HANDOFF: kernel/locking/rwsem.c
     * v6.18:85 */
    if (bpf_core_field_exists(lock->count))
        return BPF_CORE_READ(lock, count.counter) & (readers ? ~0L : 7);
    /* READER_BIAS if it is free; not negative with a writer: include/linux/rwbase_rt.h v6.18:15 and
     * rwbase_read_trylock() in kernel/locking/rwbase_rt.c */
    if (bpf_core_field_exists(realtime->rwbase)) {
        int count = BPF_CORE_READ(realtime, rwbase.readers.counter);

        return readers ? count != (int)(1U << 31) : count >= 0;
    }
    return false;
}

/* Each argument is a memory map, perhaps with WIRE_MEMORY_READERS, or 0. Return the number of the
 * first one whose lock is taken, counted from 1; 0 if all are free. */
SEC("raw_tracepoint")
int look_at_locks(struct bpf_raw_tracepoint_args *context)
{
#pragma unroll
    for (int i = 0; i < WIRE_MEMORIES; i++) {
        __u64 address = context->args[i] & ~(__u64)WIRE_MEMORY_READERS;
        const struct mm_struct *memory = (const void *)address;

        if (memory && is_taken(&memory->mmap_lock, context->args[i] & WIRE_MEMORY_READERS))
            return i + 1;
    }
    return 0;
}
