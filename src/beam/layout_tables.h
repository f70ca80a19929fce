// SPDX-License-Identifier: Apache-2.0
// clang-format off
/*
 * The built-in layouts: the structs of each release. No other file has them.
 *
 *   LAYOUT_RELEASES(oldest, newest)               the releases of the columns
 *   LAYOUT_COLUMNS(member, 24, 25, ...)           the row of layout_rows.h in each release
 *   LAYOUT_INTERPRETER(member, 24, 25, ...)       the same in the interpreter, where it differs
 *   LAYOUT_EARLY(release, before, member, value)  the row in versions of ERTS below `before`
 *
 * A value is -1 if the release has no such field or if its offset is unknown. A file that includes
 * this one defines the macros that it needs.
 *
 * The columns come from DWARF, in the form that tools/layout-gen prints. The VMs were compiled for
 * x86-64 Linux with glibc, JIT flavour, without dynamic trace:
 *
 *   24  24.3.4.4      25  25.2.3      26  26.2.1
 *   27  27.3.4.1      29  29.1.1 (29.0.2 gives the same)
 *   28  derived, not compiled: bounded by 27.3.4.1 and a release candidate of 29.0, which agree on
 *       all rows but atom_name/atom_bin and sched_reductions (taken from the change that introduced
 *       each) and run_queue_* (unknown: -1).
 *   port_* of 24 and 26 are derived: the struct is the same in the sources of 25.2.3, 27.3.4.1 and
 *   29.1.1, and port_name, port_drv_ptr and sizeof_port do not differ. inet_* are of 25, 27 and 29;
 *   beam/ports.c tests them on each port.
 *   ptab_aid_ix, ptab_free_id_data and ptab_dix_* come from the sources (erl_ptab.h),
 *   run_queue_reductions is the field behind run_queue_switches (erl_process.h). All were compared
 *   with live nodes of 25, 27 and 29.
 *   driver_* come from the sources of 24 to 27 and 29, and were compared with live nodes.
 *   In 26.2.4 and later, and in patches of 25.3.2 from April 2024 on, ErtsSchedulerData is 8 bytes
 *   larger: sched_reductions and sched_gc_info are 8 more and sizeof_sched_aligned is 41792
 *   (beam/schedulers.c detects this). All other rows are the same in 26.2.5.
 *   Rows that only process_walk.h needs are unknown for 28. sizeof_psd of 26 is that of 26.2.5; it
 *   differs between patches of 26.
 *   Rows of ETS tables are unknown for 24. Those of 26 and 28 are derived: the releases around each
 *   agree on them, and the distance of sched_ets_tables to sched_gc_info is the same in all.
 *   magic_binary_data was compared with live nodes of 25, 27 and 29. That of 28 is derived: those
 *   around it agree.
 *   node_* were compared with live nodes of 25, 27 and 29, and copied to the other releases.
 *   allocator_* and sizeof_carriers_stats of 26 and 28 are derived: the sources of 25, 27 and 29
 *   have the same structs. They are unknown for 24.
 */
#ifndef LAYOUT_RELEASES
#define LAYOUT_RELEASES(...)
#endif
#ifndef LAYOUT_COLUMNS
#define LAYOUT_COLUMNS(...)
#endif
#ifndef LAYOUT_INTERPRETER
#define LAYOUT_INTERPRETER(...)
#endif
#ifndef LAYOUT_EARLY
#define LAYOUT_EARLY(...)
#endif

LAYOUT_RELEASES(24, 29)

/* The interpreter has its own registers and export entries. Compiled with
 * --disable-jit for 24 to 27 and 29, derived for 28. */
LAYOUT_INTERPRETER(x_reg_array, 64, 64, 64, 64, 64, 64)
LAYOUT_INTERPRETER(export_info, 32, 32, 32, 40, 40, 40)
LAYOUT_INTERPRETER(export_trampoline, 72, 72, 72, 80, 80, 80)

/* All values are compiled, or -1 if it is unknown in which version the value changed. Later lines
 * override earlier ones. */
LAYOUT_EARLY(24, "12.3.2.4", sched_gc_info, -1)
LAYOUT_EARLY(24, "12.3.1", sched_gc_info, 41672) /* 24.2, 24.3 */
LAYOUT_EARLY(24, "12.2", sched_gc_info, 41776)   /* 24.0, 24.1 */
LAYOUT_EARLY(24, "12.2", sizeof_sched_aligned, 41856)
LAYOUT_EARLY(24, "12.2", sched_reductions, 41736)
LAYOUT_EARLY(25, "13.1", sched_reductions, 41632) /* 25.0 */
LAYOUT_EARLY(25, "13.1.5", sched_gc_info, -1)
LAYOUT_EARLY(25, "13.1", sched_gc_info, 41672)
LAYOUT_EARLY(26, "14.2.5", sizeof_psd, -1)
LAYOUT_EARLY(26, "14.2.2", sizeof_psd, 88) /* 26.2.1 */
LAYOUT_EARLY(26, "14.2.1", sizeof_psd, -1)

LAYOUT_COLUMNS(sizeof_process, 744, 776, 776, 760, 760, 768)
LAYOUT_COLUMNS(process_id, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(process_reg, 48, 48, 48, 32, 32, 32)
LAYOUT_COLUMNS(process_links, 56, 56, 56, 40, 40, 40)
LAYOUT_COLUMNS(process_monitors, 72, 72, 72, 56, 56, 56)
LAYOUT_COLUMNS(process_lt_monitors, 64, 64, 64, 48, 48, 48)
LAYOUT_COLUMNS(process_htop, 80, 80, 80, 80, 80, 80)
LAYOUT_COLUMNS(process_stop, 88, 88, 88, 88, 88, 88)
LAYOUT_COLUMNS(process_frame_pointer, -1, 96, 96, 96, 96, 96)
LAYOUT_COLUMNS(process_fcalls, 96, 104, 104, 120, 120, 120)
LAYOUT_COLUMNS(process_heap, 120, 128, 128, 192, 192, 192)
LAYOUT_COLUMNS(process_hend, 128, 136, 136, 200, 200, 200)
LAYOUT_COLUMNS(process_abandoned_heap, 136, 144, 144, 208, 208, 208)
LAYOUT_COLUMNS(process_heap_sz, 144, 152, 152, 216, 216, 216)
LAYOUT_COLUMNS(process_arity, 176, 184, 184, 133, 133, 133)
LAYOUT_COLUMNS(process_arg_reg, 184, 192, 192, 136, 136, 136)
LAYOUT_COLUMNS(process_def_arg_reg, 200, 208, 208, 144, 144, 144)
LAYOUT_COLUMNS(process_i, 248, 256, 256, 248, 248, 248)
LAYOUT_COLUMNS(process_reds, 272, 280, 280, 272, 272, 272)
LAYOUT_COLUMNS(process_flags, 280, 288, 288, 124, 124, 124)
LAYOUT_COLUMNS(process_group_leader, 288, 296, 296, 280, 280, 280)
LAYOUT_COLUMNS(process_next, 304, 312, 312, 296, 296, 296)
LAYOUT_COLUMNS(process_msgq_first, 320, 328, 328, 312, 312, 312)
LAYOUT_COLUMNS(process_msgq_last, 328, 336, 336, 320, 320, 320)
LAYOUT_COLUMNS(process_msgq_save, 336, 344, 344, 328, 328, 328)
LAYOUT_COLUMNS(process_msgq_cont, 344, 352, 352, 344, 344, 344)
LAYOUT_COLUMNS(process_msgq_len, 384, 392, 392, -1, -1, -1)
LAYOUT_COLUMNS(process_msgq_mq_len, -1, -1, -1, 336, 336, 336)
LAYOUT_COLUMNS(process_msgq_mlenoffs, -1, -1, -1, 376, 376, 376)
LAYOUT_COLUMNS(process_msgq_flags, 392, 400, 400, 392, 392, 392)
LAYOUT_COLUMNS(process_msgq_nmsigs_next, 360, 368, 368, 360, 360, 360)
LAYOUT_COLUMNS(process_inq_first, 632, 656, 656, 640, 640, 640)
LAYOUT_COLUMNS(process_inq_last, 640, 664, 664, 648, 648, 648)
LAYOUT_COLUMNS(process_inq_len, 648, 672, 672, -1, -1, -1)
LAYOUT_COLUMNS(process_inq_mlenoffs, -1, -1, -1, 656, 656, 656)
LAYOUT_COLUMNS(process_inq_nmsigs, 656, 680, 680, 664, 664, 664)
LAYOUT_COLUMNS(process_inq_buffers, -1, 696, 696, 680, 680, 680)
LAYOUT_COLUMNS(process_dictionary, 408, 416, 416, 408, 408, 408)
LAYOUT_COLUMNS(process_initial, 440, 448, 448, 440, 440, 440)
LAYOUT_COLUMNS(process_current, 464, 472, 472, 464, 464, 464)
LAYOUT_COLUMNS(process_parent, 472, 480, 480, 472, 472, 472)
LAYOUT_COLUMNS(process_high_water, 488, 496, 496, 488, 488, 488)
LAYOUT_COLUMNS(process_old_hend, 496, 504, 504, 496, 496, 496)
LAYOUT_COLUMNS(process_old_htop, 504, 512, 512, 504, 504, 504)
LAYOUT_COLUMNS(process_old_heap, 512, 520, 520, 512, 512, 512)
LAYOUT_COLUMNS(process_gen_gcs, 520, 528, 528, 484, 484, 484)
LAYOUT_COLUMNS(process_max_gen_gcs, 522, 530, 530, 486, 486, 486)
LAYOUT_COLUMNS(process_off_heap_first, 528, 536, 536, 520, 520, 520)
LAYOUT_COLUMNS(process_off_heap_overhead, 536, 544, 544, 528, 528, 528)
LAYOUT_COLUMNS(process_wrt_bins, -1, 552, 552, 536, 536, 536)
LAYOUT_COLUMNS(process_mbuf, 544, 560, 560, 544, 544, 544)
LAYOUT_COLUMNS(process_mbuf_sz, 568, 584, 584, 568, 568, 568)
LAYOUT_COLUMNS(process_psd, 576, 592, 592, 576, 576, 576)
LAYOUT_COLUMNS(process_bin_old_vheap, 600, 616, 616, 600, 600, 600)
LAYOUT_COLUMNS(process_state, 624, 640, 640, 624, 624, 624)
LAYOUT_COLUMNS(process_scheduler_data, 728, 760, 760, 744, 744, 744)
LAYOUT_COLUMNS(x_reg_array, 128, 128, 128, 64, 64, 64)
LAYOUT_COLUMNS(sizeof_sched_aligned, 41728, 41728, 41728, 41792, 41792, 41792)
LAYOUT_COLUMNS(sched_registers, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(sched_tid, 32, 32, 32, 32, 32, 32)
LAYOUT_COLUMNS(sched_ssi, 160, 160, 160, 160, 160, 160)
LAYOUT_COLUMNS(sched_current_process, 168, 168, 168, 168, 168, 168)
LAYOUT_COLUMNS(sched_type, 176, 176, 176, 176, 176, 176)
LAYOUT_COLUMNS(sched_no, 184, 184, 184, 184, 184, 184)
LAYOUT_COLUMNS(sched_dirty_no, 192, 192, 192, 192, 192, 192)
LAYOUT_COLUMNS(sched_current_nif, 208, 208, 208, 208, 208, 208)
LAYOUT_COLUMNS(sched_current_port, 224, 224, 224, 224, 224, 224)
LAYOUT_COLUMNS(sched_run_queue, 232, 232, 232, 232, 232, 232)
LAYOUT_COLUMNS(sched_virtual_reds, 240, 240, 240, 240, 240, 240)
LAYOUT_COLUMNS(sched_aux_work_data, 248, 248, 248, 248, 248, 248)
LAYOUT_COLUMNS(sched_reductions, 41632, 41640, 41640, 41680, 41704, 41704)
LAYOUT_COLUMNS(sched_gc_info, 41680, 41688, 41688, 41728, 41752, 41752)
LAYOUT_COLUMNS(sched_flxctr_slot, -1, 200, 200, 200, 200, 200)
LAYOUT_COLUMNS(sched_ets_tables_25, -1, 41712, 41712, -1, -1, -1)
LAYOUT_COLUMNS(sched_ets_tables, -1, -1, -1, 41752, 41776, 41776)
LAYOUT_COLUMNS(run_queue_len, 208, 208, 208, 208, -1, 164)
LAYOUT_COLUMNS(run_queue_switches, 224, 224, 224, 224, -1, 144)
LAYOUT_COLUMNS(run_queue_reductions, 232, 232, 232, 232, -1, 152)
LAYOUT_COLUMNS(nif_env_proc, 8, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(ptab_count, 136, 136, 136, 136, 136, 136)
LAYOUT_COLUMNS(ptab_aid_ix, 140, 140, 140, 140, 140, 140)
LAYOUT_COLUMNS(ptab_tab, 192, 192, 192, 192, 192, 192)
LAYOUT_COLUMNS(ptab_free_id_data, 200, 200, 200, 200, 200, 200)
LAYOUT_COLUMNS(ptab_max, 208, 208, 208, 208, 208, 208)
LAYOUT_COLUMNS(ptab_pix_mask, 212, 212, 216, 216, 216, 216)
LAYOUT_COLUMNS(ptab_pix_cl_mask, 216, 216, 224, 224, 224, 224)
LAYOUT_COLUMNS(ptab_pix_cl_shift, 220, 220, 240, 240, 240, 240)
LAYOUT_COLUMNS(ptab_pix_cli_mask, 224, 224, 232, 232, 232, 232)
LAYOUT_COLUMNS(ptab_pix_cli_shift, 228, 228, 244, 244, 244, 244)
LAYOUT_COLUMNS(ptab_dix_cl_mask, 232, 232, 248, 248, 248, 248)
LAYOUT_COLUMNS(ptab_dix_cl_shift, 236, 236, 264, 264, 264, 264)
LAYOUT_COLUMNS(ptab_dix_cli_mask, 240, 240, 256, 256, 256, 256)
LAYOUT_COLUMNS(ptab_dix_cli_shift, 244, 244, 268, 268, 268, 268)
LAYOUT_COLUMNS(ptab_invalid_element, 248, 248, 272, 272, 272, 272)
LAYOUT_COLUMNS(ptab_invalid_data, 256, 256, 280, 280, 280, 280)
LAYOUT_COLUMNS(ptab_element_size, 272, 272, 296, 296, 296, 296)
LAYOUT_COLUMNS(index_size, 108, 108, 108, 108, 108, 108)
LAYOUT_COLUMNS(index_limit, 112, 112, 112, 112, 112, 112)
LAYOUT_COLUMNS(index_entries, 116, 116, 116, 116, 116, 116)
LAYOUT_COLUMNS(index_seg_table, 120, 120, 120, 120, 120, 120)
LAYOUT_COLUMNS(sizeof_atom, 40, 40, 40, 40, 40, 40)
LAYOUT_COLUMNS(atom_index, 16, 16, 16, 16, 16, 16)
LAYOUT_COLUMNS(atom_len, 24, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(atom_name, 32, 32, 32, 32, -1, -1)
LAYOUT_COLUMNS(atom_bin, -1, -1, -1, -1, 32, 32)
LAYOUT_COLUMNS(code_info_mfa, 16, 16, 16, 16, 16, 16)
LAYOUT_COLUMNS(export_info, 40, 40, 40, 48, 48, 48)
LAYOUT_COLUMNS(export_trampoline, 80, 80, 80, 88, 88, 88)
LAYOUT_COLUMNS(module_name, 24, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(sizeof_procdict, 32, 32, 32, 32, 32, 32)
LAYOUT_COLUMNS(procdict_size_mask, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(procdict_used, 4, 4, 4, 4, 4, 4)
LAYOUT_COLUMNS(procdict_array_size, 8, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(procdict_data, 24, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(regproc_process, 16, 16, 16, 16, 16, 16)
LAYOUT_COLUMNS(regproc_name, 32, 32, 32, 32, 32, 32)
LAYOUT_COLUMNS(sizeof_message, 88, 88, 88, 88, 88, 88)
LAYOUT_COLUMNS(message_next, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(message_data, 8, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(message_m, 16, 16, 16, 16, 16, 16)
LAYOUT_COLUMNS(message_hfrag, 40, 40, 40, 40, 40, 40)
LAYOUT_COLUMNS(heap_fragment_next, 0, 0, 0, 0, -1, 0)
LAYOUT_COLUMNS(heap_fragment_off_heap, 8, 8, 8, 8, -1, 8)
LAYOUT_COLUMNS(heap_fragment_used_size, 32, 32, 32, 32, -1, 32)
LAYOUT_COLUMNS(heap_fragment_mem, 40, 40, 40, 40, 40, 40)
LAYOUT_COLUMNS(off_heap_next, 16, 16, 16, 16, -1, 16)
LAYOUT_COLUMNS(binary_orig_size, 16, 16, 16, 24, -1, 24)
LAYOUT_COLUMNS(sizeof_receive_marker, 56, 56, 56, 56, -1, 56)
LAYOUT_COLUMNS(queue_buffers_nonempty, -1, 8224, 8224, 8224, -1, 8224)
LAYOUT_COLUMNS(sizeof_psd, 80, 80, 96, 96, -1, 112)
LAYOUT_COLUMNS(psd_data, 0, 0, 0, 0, -1, 0)
LAYOUT_COLUMNS(sizeof_relation, 40, 40, 40, 48, -1, 48)
LAYOUT_COLUMNS(relation_parent, 0, 0, 0, 0, -1, 0)
LAYOUT_COLUMNS(relation_right, 8, 8, 8, 8, -1, 8)
LAYOUT_COLUMNS(relation_left, 16, 16, 16, 16, -1, 16)
LAYOUT_COLUMNS(relation_next, 0, 0, 0, 0, -1, 0)
LAYOUT_COLUMNS(relation_prev, 8, 8, 8, 8, -1, 8)
LAYOUT_COLUMNS(relation_offset, 32, 32, 32, 40, -1, 40)
LAYOUT_COLUMNS(relation_flags, 36, 36, 36, 44, -1, 44)
LAYOUT_COLUMNS(relation_type, 38, 38, 38, 46, -1, -1)
LAYOUT_COLUMNS(sizeof_far_link, 120, 120, 120, 136, -1, 136)
LAYOUT_COLUMNS(far_link_refc, 80, 80, 80, 96, -1, 96)
LAYOUT_COLUMNS(far_link_heap, 112, 112, 112, 128, -1, 128)
LAYOUT_COLUMNS(sizeof_monitor, 96, 96, 96, 112, -1, 112)
LAYOUT_COLUMNS(sizeof_monitor_heap, 128, 128, 128, 144, -1, 144)
LAYOUT_COLUMNS(sizeof_monitor_suspend, 112, 112, 112, 128, -1, 128)
LAYOUT_COLUMNS(sizeof_monitor_extended, 128, 128, 128, 144, -1, 144)
LAYOUT_COLUMNS(monitor_origin_item, 24, 24, 24, 32, -1, 32)
LAYOUT_COLUMNS(monitor_target_item, 64, 64, 64, 80, -1, 80)
LAYOUT_COLUMNS(monitor_ref, 80, 80, 80, 96, -1, 96)
LAYOUT_COLUMNS(monitor_refc, 88, 88, 88, 104, -1, 104)
LAYOUT_COLUMNS(sizeof_port, 560, 560, 560, 560, 560, 560)
LAYOUT_COLUMNS(port_id, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(port_reg, 48, 48, 48, 32, 32, 32)
LAYOUT_COLUMNS(port_sched_flags, 152, 152, 152, 152, 152, 152)
LAYOUT_COLUMNS(port_connected, 232, 232, 232, 232, 232, 232)
LAYOUT_COLUMNS(port_bytes_in, 256, 256, 256, 256, 256, 256)
LAYOUT_COLUMNS(port_bytes_out, 264, 264, 264, 264, 264, 264)
LAYOUT_COLUMNS(port_ioq_size, 280, 280, 280, 280, 280, 280)
LAYOUT_COLUMNS(port_name, 472, 472, 472, 472, 472, 472)
LAYOUT_COLUMNS(port_drv_ptr, 480, 480, 480, 480, 480, 480)
LAYOUT_COLUMNS(port_drv_data, 488, 488, 488, 488, 488, 488)
LAYOUT_COLUMNS(port_os_pid, 496, 496, 496, 496, 496, 496)
LAYOUT_COLUMNS(port_state, 520, 520, 520, 520, 520, 520)
LAYOUT_COLUMNS(driver_next, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(driver_prev, 8, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(driver_name, 24, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(driver_start, 72, 72, 72, 72, 72, 72)
LAYOUT_COLUMNS(driver_emergency_close, 184, 184, 184, 184, 184, 184)
LAYOUT_COLUMNS(inet_socket, 0, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(inet_port, 24, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(inet_dport, 32, 32, 32, 32, 32, 32)
LAYOUT_COLUMNS(inet_recv_oct, -1, 560, -1, 568, 568, 568)
LAYOUT_COLUMNS(inet_send_oct, -1, 600, -1, 608, 608, 608)
LAYOUT_COLUMNS(node_sysname, 24, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(node_dist_entry, 40, 40, 40, 40, 40, 40)
LAYOUT_COLUMNS(ets_tables_count, -1, 0, 0, 0, 0, 0)
LAYOUT_COLUMNS(ets_tables_list, -1, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(sizeof_table, -1, 304, 304, 304, 304, 304)
LAYOUT_COLUMNS(table_fix_count, -1, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(table_next, -1, 16, 16, 16, 16, 16)
LAYOUT_COLUMNS(table_prev, -1, 24, 24, 24, 24, 24)
LAYOUT_COLUMNS(table_owner, -1, 176, 176, 176, 176, 176)
LAYOUT_COLUMNS(table_name, -1, 208, 208, 208, 208, 208)
LAYOUT_COLUMNS(table_identifier, -1, 216, 216, 216, 216, 216)
LAYOUT_COLUMNS(table_counter_count, -1, 232, 232, 232, 232, 232)
LAYOUT_COLUMNS(table_is_decentralized, -1, 236, 236, 236, 236, 236)
LAYOUT_COLUMNS(table_counters, -1, 240, 240, 240, 240, 240)
LAYOUT_COLUMNS(table_status, -1, 280, 280, 280, 280, 280)
LAYOUT_COLUMNS(table_keypos, -1, 284, 284, 284, 284, 284)
LAYOUT_COLUMNS(table_compress, -1, 288, 288, 288, 288, 288)
LAYOUT_COLUMNS(counter_snapshot_status, -1, 8, 8, 8, 8, 8)
LAYOUT_COLUMNS(counter_elements, -1, 16, 16, 16, 16, 16)
LAYOUT_COLUMNS(sizeof_counter_element, -1, 64, 64, 64, 64, 64)
LAYOUT_COLUMNS(magic_binary_numbers, -1, 32, -1, 40, 40, 40)
LAYOUT_COLUMNS(magic_binary_data, -1, 48, -1, 56, 56, 56)
LAYOUT_COLUMNS(allocator_name_prefix, -1, 120, 120, 120, 120, 120)
LAYOUT_COLUMNS(allocator_number, -1, 128, 128, 128, 128, 128)
LAYOUT_COLUMNS(allocator_pool_blocks, -1, 456, 456, 456, 456, 456)
LAYOUT_COLUMNS(allocator_pool_carriers, -1, 648, 648, 648, 648, 648)
LAYOUT_COLUMNS(allocator_single, -1, 1088, 1088, 1088, 1088, 1088)
LAYOUT_COLUMNS(allocator_multi, -1, 1744, 1744, 1744, 1744, 1744)
LAYOUT_COLUMNS(sizeof_carriers_stats, -1, 656, 656, 656, 656, 656)

#undef LAYOUT_RELEASES
#undef LAYOUT_COLUMNS
#undef LAYOUT_INTERPRETER
#undef LAYOUT_EARLY
