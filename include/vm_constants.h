/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * The constants of the Erlang VM: flags, tags and numbers that its sources define and that no
 * binary shows. BPF programs and user space read them here, and nowhere else.
 *
 * Names are as in the VM's sources, without a leading underscore. A citation is the file below
 * erts/emulator/beam, and the line in each release where the value was checked: TAG:LINE. A value
 * holds for all supported releases, unless its comment says otherwise.
 */
#ifndef BEAMFLAME_VM_CONSTANTS_H
#define BEAMFLAME_VM_CONSTANTS_H

/* ---- processes ---- */

/* Flags of Process.state (erl_process.h 25.2.3:1245-1299, 27.3.4.1:1271-1326, 29.1.1:1284-1339).
 * Their bits start above three priorities of two bits each (ERTS_PSFLGS_ZERO_BIT_OFFSET,
 * erl_process.h 25.2.3:1199, 27.3.4.1:1225, 29.1.1:1238). */
#define ERTS_PSFLG_BIT(n) (1 << (6 + (n)))
enum erts_psflg {
    ERTS_PSFLG_FREE = ERTS_PSFLG_BIT(4),
    ERTS_PSFLG_EXITING = ERTS_PSFLG_BIT(5),
    ERTS_PSFLG_ACTIVE = ERTS_PSFLG_BIT(7),
    ERTS_PSFLG_IN_RUNQ = ERTS_PSFLG_BIT(8),
    ERTS_PSFLG_RUNNING = ERTS_PSFLG_BIT(9),
    ERTS_PSFLG_SUSPENDED = ERTS_PSFLG_BIT(10),
    ERTS_PSFLG_GC = ERTS_PSFLG_BIT(11),
    ERTS_PSFLG_ACTIVE_SYS = ERTS_PSFLG_BIT(14),
    ERTS_PSFLG_RUNNING_SYS = ERTS_PSFLG_BIT(15),
    ERTS_PSFLG_DIRTY_CPU_PROC = ERTS_PSFLG_BIT(20),
    ERTS_PSFLG_DIRTY_IO_PROC = ERTS_PSFLG_BIT(21),
    ERTS_PSFLG_DIRTY_ACTIVE_SYS = ERTS_PSFLG_BIT(22),
    ERTS_PSFLG_DIRTY_RUNNING = ERTS_PSFLG_BIT(23),
    ERTS_PSFLG_DIRTY_RUNNING_SYS = ERTS_PSFLG_BIT(24),
};

/* Flags of Process.flags (erl_process.h 25.2.3:1551-1559, 27.3.4.1:1613-1621, 29.1.1:1634-1642). */
enum { F_NEED_FULLSWEEP = 1 << 4, F_ABANDONED_HEAP_USE = 1 << 12 };

/* Flags of Process.sig_qs.flags (erl_process.h 25.2.3:1575-1583, 27.3.4.1:1638-1651,
 * 29.1.1:1659-1679). */
enum fs_flag {
    FS_ON_HEAP_MSGQ = 1 << 1,
    FS_DELAYED_PSIGQS_LEN = 1 << 6, /* until 26: `len` is an offset for the moment. Unused from
                                     * 27 on (erl_process.h 27.3.4.1:1644, 29.1.1:1665) */
};

/* The index in Process.def_arg_reg of the reductions that the process got for its slice (REDS_IN,
 * beam_common.h 25.2.3:249, 27.3.4.1:248, 29.1.1:249). */
enum { REDS_IN_REGISTER = 5 };

/* The index of a process specific datum (erl_process.h 25.2.3:863, 27.3.4.1:872, 29.1.1:890). */
enum { ERTS_PSD_SAVED_CALLS_BUF = 1 };

/* The bounds of the process limit: +P is between them (erl_process.h 25.2.3:2843, 27.3.4.1:2924,
 * 29.1.1:3001; erl_ptab.h 25.2.3:152, 27.3.4.1:172, 29.1.1:174). */
enum { ERTS_MIN_PROCESSES = 1024, ERTS_PTAB_MAX_SIZE = 1 << 27 };

/* ---- ports ---- */

/* Flags of Port.state (erl_port.h 25.2.3:317-331, 27.3.4.1:317-331, 29.1.1:319-333). */
enum erts_port_sflg {
    ERTS_PORT_SFLG_EXITING = 1 << 1,
    ERTS_PORT_SFLG_DISTRIBUTION = 1 << 2,
    ERTS_PORT_SFLG_CLOSING = 1 << 5,
    ERTS_PORT_SFLG_FREE = 1 << 8,
    ERTS_PORT_SFLG_INITIALIZING = 1 << 9,
};

/* Flags of Port.sched.flags: the port, or its queue of signals, is busy (erl_port_task.h
 * 25.2.3:70-71, 27.3.4.1:70-71, 29.1.1:74-75). */
enum erts_pts_flg { ERTS_PTS_FLG_BUSY_PORT = 1 << 4, ERTS_PTS_FLG_BUSY_PORT_Q = 1 << 5 };

/* ---- schedulers ---- */

/* ErtsSchedulerData.type (erl_process.h 25.2.3:402, 27.3.4.1:402, 29.1.1:404). */
enum erts_sched_type { ERTS_SCHED_NORMAL, ERTS_SCHED_DIRTY_CPU, ERTS_SCHED_DIRTY_IO };

/* The offset of ErtsSchedulerSleepInfo.flags (erl_process.h 25.2.3:364, 27.3.4.1:364, 29.1.1:366),
 * and its flags (erl_process.h 25.2.3:263-268, 27.3.4.1:263-268, 29.1.1:266-271). */
enum { ERTS_SSI_FLAGS_OFFSET = 24 };
enum erts_ssi_flg {
    ERTS_SSI_FLG_POLL_SLEEPING = 1 << 1, /* sleeps, or is about to, in the poll system call */
    ERTS_SSI_FLG_TSE_SLEEPING = 1 << 2,  /* the same, on its own event */
    ERTS_SSI_FLG_WAITING = 1 << 3,       /* has no work: in scheduler_wait(), which first spins */
};

/* ---- terms ---- */

/* The two low bits of a word (erl_term.h 25.2.3:70-75, 27.3.4.1:68-73, 29.1.1:70-75). */
enum tag_primary {
    TAG_PRIMARY_SIZE = 2,
    TAG_PRIMARY_MASK = 0x3,
    TAG_PRIMARY_HEADER = 0x0,
    TAG_PRIMARY_LIST = 0x1,
    TAG_PRIMARY_BOXED = 0x2,
    TAG_PRIMARY_IMMED1 = 0x3,
};

/* The tags of immediate terms (erl_term.h 25.2.3:79-90, 27.3.4.1:77-88, 29.1.1:79-90). */
enum tag_immed {
    TAG_IMMED1_SIZE = 4,
    TAG_IMMED1_MASK = 0xf,
    TAG_IMMED1_PID = 0x0 << TAG_PRIMARY_SIZE | TAG_PRIMARY_IMMED1,
    TAG_IMMED1_PORT = 0x1 << TAG_PRIMARY_SIZE | TAG_PRIMARY_IMMED1,
    TAG_IMMED1_IMMED2 = 0x2 << TAG_PRIMARY_SIZE | TAG_PRIMARY_IMMED1,
    TAG_IMMED1_SMALL = 0x3 << TAG_PRIMARY_SIZE | TAG_PRIMARY_IMMED1,
    TAG_IMMED2_SIZE = 6,
    TAG_IMMED2_MASK = 0x3f,
    TAG_IMMED2_ATOM = 0x0 << TAG_IMMED1_SIZE | TAG_IMMED1_IMMED2,
    TAG_IMMED2_NIL = 0x3 << TAG_IMMED1_SIZE | TAG_IMMED1_IMMED2,
};

/* A header word: the kind of object, and from bit HEADER_ARITY_OFFS on the number of words that
 * follow (erl_term.h 25.2.3:159-161, 27.3.4.1:160-162, 29.1.1:151-152). */
enum tag_header { TAG_HEADER_MASK = 0x3f, HEADER_ARITY_OFFS = 6 };

/* The kinds of objects (erl_term.h 25.2.3:124-140, 27.3.4.1:124-141, 29.1.1:131-148). OTP 27
 * renumbered binaries and maps. 29 also has records (RECORD_SUBTAG, 29.1.1:139), which have no
 * constant here. */
enum thing_subtag {
    ARITYVAL_SUBTAG = 0x0 << TAG_PRIMARY_SIZE, /* a tuple */
    POS_BIG_SUBTAG = 0x2 << TAG_PRIMARY_SIZE,
    NEG_BIG_SUBTAG = 0x3 << TAG_PRIMARY_SIZE,
    REF_SUBTAG = 0x4 << TAG_PRIMARY_SIZE,
    FUN_SUBTAG = 0x5 << TAG_PRIMARY_SIZE,
    FLOAT_SUBTAG = 0x6 << TAG_PRIMARY_SIZE,
    EXTERNAL_PID_SUBTAG = 0xc << TAG_PRIMARY_SIZE,
    EXTERNAL_PORT_SUBTAG = 0xd << TAG_PRIMARY_SIZE,
    EXTERNAL_REF_SUBTAG = 0xe << TAG_PRIMARY_SIZE,
    /* until 26 */
    REFC_BINARY_SUBTAG = 0x8 << TAG_PRIMARY_SIZE,
    HEAP_BINARY_SUBTAG = 0x9 << TAG_PRIMARY_SIZE,
    SUB_BINARY_SUBTAG = 0xa << TAG_PRIMARY_SIZE,
    MAP_SUBTAG_26 = 0xf << TAG_PRIMARY_SIZE,
    /* from 27 on */
    HEAP_BITS_SUBTAG = 0x8 << TAG_PRIMARY_SIZE,
    SUB_BITS_SUBTAG = 0x9 << TAG_PRIMARY_SIZE,
    BIN_REF_SUBTAG = 0xa << TAG_PRIMARY_SIZE,
    MAP_SUBTAG_27 = 0xb << TAG_PRIMARY_SIZE,
};

/* The header of a map: two bits at HEADER_ARITY_OFFS are its type, and a node of a tree has a bit
 * for each child (erl_term.h 25.2.3:1238-1245, 27.3.4.1:1270-1277, 29.1.1:1295-1302). */
enum map_header {
    MAP_HEADER_TYPE_MASK = 0x3,
    MAP_HEADER_TAG_FLATMAP_HEAD = 0x0,
    MAP_HEADER_TAG_HAMT_NODE_BITMAP = 0x1,
    MAP_HEADER_VAL_OFFS = 16,
    MAP_HEADER_VAL_MASK = 0xffff,
};

/* A map that is no tree has so many keys at most (erl_map.h 25.2.3:110, 27.3.4.1:111, 29.1.1:113).
 */
enum { MAP_SMALL_MAP_LIMIT = 32 };

/* Atoms: 1 << INDEX_PAGE_SHIFT are in one segment of the table (index.h 25.2.3:49, 27.3.4.1:49,
 * 29.1.1:51), and a name has so many characters at most (atom.h 25.2.3:27, 27.3.4.1:27,
 * 29.1.1:29). */
enum { INDEX_PAGE_SHIFT = 10, MAX_ATOM_CHARACTERS = 255 };

/* ---- messages and signals ---- */

/* ErtsMessage.data of a message in the fragment that follows it, ERTS_MSG_COMBINED_HFRAG
 * (erl_message.h 25.2.3:538, 27.3.4.1:552, 29.1.1:565). */
enum { ERTS_MSG_COMBINED_HFRAG = 1 };

/* Offsets in ErtsMessage, of `data`, and from m[0], the message, to m[2], the sender (erl_message.h
 * 25.2.3:198-223, 27.3.4.1:207-232, 29.1.1:209-234); and of ErlHeapFragment.used_size, in words
 * (erl_message.h 25.2.3:192, 27.3.4.1:201, 29.1.1:203). */
enum {
    ERTS_MESSAGE_DATA_OFFSET = 8,
    ERTS_MESSAGE_FROM_OFFSET = 16,
    ERL_HEAP_FRAGMENT_USED_OFFSET = 32,
};

/* m[0] of a signal that is no message is the header of an external pid (ERTS_SIG_IS_NON_MSG_TAG,
 * erl_message.h 25.2.3:252, 27.3.4.1:261, 29.1.1:263). From bit HEADER_ARITY_OFFS on it has the
 * signal's kind (erl_proc_sig_queue.h 25.2.3:266-268, 27.3.4.1:333-335, 29.1.1:345-347). */
enum { ERTS_SIG_Q_OP_MASK = 0xff };

/* The kinds of signals (erl_proc_sig_queue.h 24.3.4.4:112, 25.2.3:115-134, 27.3.4.1:174-193,
 * 29.1.1:176-196). */
enum erts_sig_q_op {
    ERTS_SIG_Q_OP_EXIT,
    ERTS_SIG_Q_OP_EXIT_LINKED,
    ERTS_SIG_Q_OP_MONITOR_DOWN,
    ERTS_SIG_Q_OP_MONITOR,
    ERTS_SIG_Q_OP_DEMONITOR,
    ERTS_SIG_Q_OP_LINK,
    ERTS_SIG_Q_OP_UNLINK,
    ERTS_SIG_Q_OP_GROUP_LEADER,
    ERTS_SIG_Q_OP_TRACE_CHANGE_STATE,
    ERTS_SIG_Q_OP_PERSISTENT_MON_MSG, /* to a process that monitors the time offset or nodes */
    ERTS_SIG_Q_OP_IS_ALIVE,
    ERTS_SIG_Q_OP_PROCESS_INFO,
    ERTS_SIG_Q_OP_SYNC_SUSPEND,
    ERTS_SIG_Q_OP_RPC,
    ERTS_SIG_Q_OP_DIST_SPAWN_REPLY,
    ERTS_SIG_Q_OP_ALIAS_MSG, /* to an alias; in 29 (ALTACT_MSG) also with priority */
    ERTS_SIG_Q_OP_RECV_MARK,
    ERTS_SIG_Q_OP_UNLINK_ACK,
    ERTS_SIG_Q_OP_ADJ_MSGQ, /* process_flag(message_queue_data) */
    ERTS_SIG_Q_OP_FLUSH,
    ERTS_SIG_Q_OP_NIF_SELECT, /* in 29; 25.2.3 and 27.3.4.1 have no kind above FLUSH */
    ERTS_SIG_Q_OPS,           /* the number of kinds */
};

/* ---- links and monitors ---- */

/* The kinds of monitors (erl_monitor_link.h 25.2.3:456-467, 27.3.4.1:456-467, 29.1.1:447-458). */
enum erts_mon_type {
    ERTS_MON_TYPE_DIST_PROC = 3,
    ERTS_MON_TYPE_DIST_PORT = 4,
    ERTS_MON_TYPE_NODE = 6,
    ERTS_MON_TYPE_NODES = 7,
    ERTS_MON_TYPE_SUSPEND = 8,
    ERTS_MON_TYPE_ALIAS = 9,
};

/* ErtsMonLnkNode.flags: ERTS_ML_FLG_EXTENDED (erl_monitor_link.h 25.2.3:480, 27.3.4.1:480). In 29
 * the kind is in the low bits of the flags, and the flag is further up (erl_monitor_link.h
 * 29.1.1:468-471, 29.1.1:482, 29.1.1:497-504). */
enum {
    ERTS_ML_FLG_EXTENDED = 1 << 4,
    ERTS_ML_TYPE_MASK_29 = 31,
    ERTS_ML_FLG_EXTENDED_29 = 1 << (5 + 2 + 4),
};

/* ---- memory ---- */

/* The last argument of erts_heap_alloc() in HeapFragOnlyAlloc(), and in no other call (erl_vm.h
 * 25.2.3:220-223, 27.3.4.1:222-225, 29.1.1:224-227). */
enum { ERTS_HEAP_FRAG_ONLY_XTRA = 512 };

/* The highest number of an allocator; the first is 1 (erl_alloc.types 25.2.3:69-83, 27.3.4.1:69-83,
 * 29.1.1:71-85). The most instances of an allocator (erl_alloc_util.h 25.2.3:35, 27.3.4.1:35,
 * 29.1.1:37). */
enum { ERTS_ALC_A_COUNT = 12, ERTS_AU_MAX_PREF_ALLOC_INSTANCES = 1 << 11 };

/* The fragment that stands for none, a pointer (erl_message.h 25.2.3:180, 27.3.4.1:189,
 * 29.1.1:191). */
enum { ERTS_INVALID_HFRAG_PTR = ~7 };

/* ---- ETS tables ---- */

/* Flags of DbTableCommon.status (erl_db_util.h 25.2.3:331-345, 27.3.4.1:352-366,
 * 29.1.1:357-371). */
enum db_flag {
    DB_PRIVATE = 1 << 0,
    DB_PROTECTED = 1 << 1,
    DB_PUBLIC = 1 << 2,
    DB_DELETE = 1 << 3,
    DB_SET = 1 << 4,
    DB_BAG = 1 << 5,
    DB_DUPLICATE_BAG = 1 << 6,
    DB_ORDERED_SET = 1 << 7,
    DB_CA_ORDERED_SET = 1 << 8,
    DB_FINE_LOCKED = 1 << 9,
    DB_FREQ_READ = 1 << 10,
    DB_NAMED_TABLE = 1 << 11,
    DB_FINE_LOCKED_AUTO = 1 << 14,
};

/* The counters of a table (erl_db_util.h 25.2.3:280-281, 27.3.4.1:301-302, 29.1.1:306-307). */
enum { ERTS_DB_TABLE_NITEMS_COUNTER_ID = 0, ERTS_DB_TABLE_MEM_COUNTER_ID = 1 };

/* Decentralized counters (erl_flxctr.h 25.2.3:54, 27.3.4.1:54, 29.1.1:57; erl_flxctr.c 25.2.3:44,
 * 27.3.4.1:44, 29.1.1:46). */
enum { ERTS_MAX_FLXCTR_GROUPS = 256, ERTS_FLXCTR_SNAPSHOT_NOT_ONGOING = 0 };

/* The header of a reference, which two words follow. In a magic reference the first of them is the
 * address of an ErtsMagicBinary. In an ordinary one its low half is the marker (erl_term.h
 * 25.2.3:736-774, 25.2.3:940, 27.3.4.1:769-807, 27.3.4.1:973). */
enum { ERTS_REF_THING_HEADER = 2 << HEADER_ARITY_OFFS | REF_SUBTAG };
#define ERTS_ORDINARY_REF_MARKER (~0U)

/* The numbers of a reference (erl_term.h 25.2.3:715, 27.3.4.1:748). */
enum { ERTS_REF_NUMBERS = 3 };

/* The second number of a reference (erl_bif_unique.h 25.2.3:102-111, 27.3.4.1:100-109,
 * 29.1.1:102-111). */
enum { ERTS_REF1_MAGIC_MARKER_BIT = 1 << 17, ERTS_REF1_THR_ID_MASK = (1 << 16) - 1 };

/* ---- BIFs ---- */

/* Arguments of a BIF at most (erl_vm.h 27.3.4.1:56, 29.1.1:58; 25.2.3 has no name for it). */
enum { MAX_BIF_ARITY = 4 };

#endif
