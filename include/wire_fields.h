/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * The fields of the VM's structs that BPF programs use and that samples contain. The names are as
 * in src/beam/layout_rows.h.
 *
 *   WIRE_FIELD(of, member)        programs know the offset, and samples contain the word
 *   WIRE_WORD(of, member, plus)   samples contain the word, `plus` bytes behind the field's start
 *   WIRE_OFFSET(member)           programs know the offset
 *
 * `of` is PROCESS or SCHEDULER. A field of Process or ErtsSchedulerData that is read from a sample
 * must be listed: the kernel side copies no other words, because the cost of a sample grows with
 * its bytes (docs/measurements.md, "Overhead").
 *
 * This file is included several times. A file that includes it defines the macros that it needs.
 */
#ifndef WIRE_FIELD
#define WIRE_FIELD(...)
#endif
#ifndef WIRE_WORD
#define WIRE_WORD(...)
#endif
#ifndef WIRE_OFFSET
#define WIRE_OFFSET(...)
#endif

/* heap and stack */
WIRE_FIELD(PROCESS, process_htop)
WIRE_FIELD(PROCESS, process_stop)
WIRE_FIELD(PROCESS, process_heap)
WIRE_FIELD(PROCESS, process_hend)
WIRE_FIELD(PROCESS, process_abandoned_heap)
WIRE_OFFSET(process_old_htop)
/* current code and state */
WIRE_WORD(PROCESS, process_i, 0)
WIRE_FIELD(PROCESS, process_current)
WIRE_FIELD(PROCESS, process_state)
/* garbage collection */
WIRE_FIELD(PROCESS, process_flags)
WIRE_FIELD(PROCESS, process_high_water)
WIRE_FIELD(PROCESS, process_old_heap)
WIRE_FIELD(PROCESS, process_gen_gcs)
WIRE_WORD(PROCESS, process_max_gen_gcs, 0)
/* metrics (beam/process_metrics.h) */
WIRE_FIELD(PROCESS, process_reds)
WIRE_WORD(PROCESS, process_def_arg_reg, REDS_IN_REGISTER * 8)
WIRE_FIELD(PROCESS, process_fcalls)
WIRE_FIELD(PROCESS, process_heap_sz)
WIRE_WORD(PROCESS, process_old_hend, 0)
WIRE_FIELD(PROCESS, process_mbuf_sz)
WIRE_FIELD(PROCESS, process_off_heap_overhead)
WIRE_FIELD(PROCESS, process_bin_old_vheap)
WIRE_WORD(PROCESS, process_msgq_flags, 0)
WIRE_WORD(PROCESS, process_msgq_len, 0)
WIRE_WORD(PROCESS, process_msgq_mq_len, 0)
WIRE_WORD(PROCESS, process_msgq_mlenoffs, 0)
WIRE_WORD(PROCESS, process_msgq_nmsigs_next, 0)
WIRE_WORD(PROCESS, process_inq_len, 0)
WIRE_WORD(PROCESS, process_inq_mlenoffs, 0)
WIRE_WORD(PROCESS, process_inq_nmsigs, 0)
WIRE_WORD(PROCESS, process_inq_buffers, 0)
/* identity (beam/process_info.h); `initial` is module, function, arity */
WIRE_FIELD(PROCESS, process_id)
WIRE_WORD(PROCESS, process_reg, 0)
WIRE_FIELD(PROCESS, process_dictionary)
WIRE_WORD(PROCESS, process_initial, 0)
WIRE_WORD(PROCESS, process_initial, 8)
WIRE_WORD(PROCESS, process_initial, 16)
WIRE_WORD(PROCESS, process_parent, 0)
WIRE_WORD(PROCESS, process_group_leader, 0)
WIRE_OFFSET(process_scheduler_data)
WIRE_OFFSET(procdict_size_mask)
WIRE_OFFSET(procdict_used)
WIRE_OFFSET(procdict_data)
/* messages */
WIRE_OFFSET(process_msgq_save)
WIRE_OFFSET(message_m)
WIRE_OFFSET(message_hfrag)
WIRE_OFFSET(heap_fragment_mem)
/* the first argument of a BIF */
WIRE_OFFSET(x_reg_array)
WIRE_OFFSET(magic_binary_numbers)
/* schedulers */
WIRE_FIELD(SCHEDULER, sched_registers)
WIRE_FIELD(SCHEDULER, sched_ssi)
WIRE_WORD(SCHEDULER, sched_type, 0)
WIRE_FIELD(SCHEDULER, sched_current_process)
WIRE_WORD(SCHEDULER, sched_current_nif, 0)
WIRE_WORD(SCHEDULER, sched_current_port, 0)
WIRE_FIELD(SCHEDULER, sched_virtual_reds)

#undef WIRE_FIELD
#undef WIRE_WORD
#undef WIRE_OFFSET
