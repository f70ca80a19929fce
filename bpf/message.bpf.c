// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Messages and other signals between processes. Programs are at the entry of
 *
 *      erts_proc_sig_queue_try_enqueue_to_buffer(Eterm from, Process *to, ErtsProcLocks,
 *              ErtsSignal *first, ErtsSignal **last, ...)
 *                                             erl_proc_sig_queue.c 25.2.3:8666, 27.3.4.1:9011
 *      beam_jit_remove_message(Process *p, ...)             jit/beam_jit_common.cpp
 *
 * All signals pass the first function on their way into a queue: messages from processes, ports,
 * timers and other nodes, and messages to aliases, which are signals until the receiver has
 * examined them. Exceptions go around the queue's buffers: some signals that the VM itself sends
 * (for monitor_nodes, time_offset), and process_info() until OTP 26. OTP 24 has no such buffers.
 * There only messages from one process to another are seen, at
 *
 *      erts_queue_proc_message(Process *from, Process *to, ErtsProcLocks,
 *                              ErtsMessage *message, Eterm term)  erl_message.c 24.3.4.4:481
 *
 * A message is the same ErtsMessage from sending to receiving, so its address identifies it. That
 * holds also for a message that was made from a signal (convert_prepared_sig_to_msg(),
 * erl_proc_sig_queue.c 27.3.4.1:3710). It does not hold in 29 for a message in fragments from
 * another node, to an alias or with priority (erl_proc_sig_queue.c 29.1.1:6153): its receiving is
 * not seen.
 */
#include "event.h"

enum {
    AT_ONCE = 16,     /* signals of one hit that are examined */
    FRAGMENTS = 4,    /* fragments of one message that are counted */
    LIST_CELLS = 128, /* cells of one list that are followed */
};

/* A message in a queue. If there are too many, the map drops the oldest. */
struct message_key {
    __u64 address;
    __u64 pid; /* of the VM */
};

struct message {
    __u64 sent;     /* ns */
    __u64 from, to; /* pid terms; from is 0 if no process of this node sent it */
    __u64 window;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 131072);
    __type(key, struct message_key);
    __type(value, struct message);
} messages SEC(".maps");

static __always_inline __u64 this_pid(void)
{
    return bpf_get_current_pid_tgid() >> 32;
}

/* ---- words ----
 *
 * What is sent is copied, unless it is a literal or the sender sends to itself. The copy goes into
 * heap fragments, whose size is known, or onto the receiver's heap if that process is not running.
 * On the heap the copy ends at the top, and begins with the outermost term (copy_struct_x(), copy.c
 * 25.2.3:626, 29.1.1:647):
 *
 *      start                                                   top
 *      | tuples, maps, cells of lists  -->    <-- other terms, |
 *      | whose head is no immediate              other cells   |
 *
 * If the outermost term is a list whose head is an immediate, its first cell is the last of all.
 */

/* The words from the start of a list's copy to its cell `cell`. The start is not below `bottom`. -1
 * if there are too many cells, -2 if one can't be read. */
__noinline int message_list_words(__u64 cell, __u64 bottom)
{
    __u64 at = cell;

    for (int i = 0; i < LIST_CELLS; i++) {
        struct {
            __u64 head, tail;
        } list;
        __u64 next;

        if (bpf_probe_read_user(&list, sizeof(list), (void *)at))
            return -2;
        next = list.tail & ~7ull;
        if ((list.head & TAG_PRIMARY_MASK) != TAG_PRIMARY_IMMED1 ||
            (list.tail & TAG_PRIMARY_MASK) == TAG_PRIMARY_IMMED1 || next < bottom || next >= at)
            return (cell - at) / 8;
        if (next != at - sizeof(list) || (list.tail & TAG_PRIMARY_MASK) != TAG_PRIMARY_LIST)
            return (cell - next) / 8;
        at = next;
    }
    return -1;
}

/* The words of [start, end); 0 if the term does not lie there. */
static __always_inline __u64 words_between(__u64 term, __u64 start, __u64 end)
{
    __u64 at = term & ~7ull;

    return at >= start && at < end ? (end - start) / 8 : 0;
}

/* The words of a term's copy that lies on the receiver's heap and ends at `end`. */
static __always_inline __u64 words_on_heap(struct event *event, __u64 term, __u64 heap, __u64 end)
{
    __u64 at = term & ~7ull;
    int before = 0;

    if (at < heap || at >= end)
        return 0;
    if ((term & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST)
        before = message_list_words(at, heap);
    if (before == -2)
        event->faulted = true;
    if (before == -1) {
        event_tally(event, WIRE_MSG_LONG_LIST);
        before = 2 * LIST_CELLS;
    }
    return (end - at) / 8 + before;
}

static __always_inline __u64 words_in_fragments(struct event *event, __u64 fragment)
{
    __u64 words = 0;

    for (int i = 0; i < FRAGMENTS && fragment; i++) {
        words += user_u64(event, fragment + ERL_HEAP_FRAGMENT_USED_OFFSET);
        fragment = user_u64(event, fragment); /* ErlHeapFragment.next */
    }
    return words;
}

/* ---- sending ----
 *
 * A function of its own examines each of the signals that a hit queues. The verifier then checks
 * that function once, not for each possible signal (sample.h). The function's argument, struct
 * sending, is memory without pointers.
 */

struct sending {
    __u64 now;
    __u64 from, to;  /* pid terms; from is 0 if no process of this node sends it */
    __u64 heap, top; /* of the receiver */
    __u64 address;   /* of the next signal */
    __u64 messages, words, signals;
    __u32 slot;
    __u16 process_id, message_m, message_hfrag, fragment_mem, alias_message; /* as in wire_target */
    __u16 faulted; /* not 0: something could not be read */
};

static __always_inline bool begin_sending(struct sending *sending, struct event *event,
                                          __u64 cookie, __u64 to)
{
    const struct wire_target *target;

    if (!event_begin(event, cookie))
        return false;
    target = event->target;
    sending->now = bpf_ktime_get_ns();
    sending->to = user_u64(event, to + target->process_id);
    sending->slot = event->hit.slot;
    sending->heap = user_u64(event, to + target->process_heap);
    sending->top = user_u64(event, to + target->process_htop);
    sending->process_id = target->process_id;
    sending->message_m = target->message_m;
    sending->message_hfrag = target->message_hfrag;
    sending->fragment_mem = target->heap_fragment_mem;
    sending->alias_message = target->alias_message;
    return !event_failed(event);
}

/* Note the message, so that it is found when it is received. */
static __always_inline void follow(const struct sending *sending, const struct event *event)
{
    struct message_key key = {.address = sending->address, .pid = this_pid()};
    struct message message = {
        .sent = sending->now,
        .from = sending->from,
        .to = sending->to,
        .window = event->slot->window,
    };

    bpf_map_update_elem(&messages, &key, &message, BPF_ANY);
}

static __always_inline void count_message(struct sending *sending, const struct event *event,
                                          __u64 words)
{
    if (event->faulted)
        return;
    sending->messages++;
    sending->words += words;
    event_histogram(event, WIRE_MSG_WORDS, words);
    follow(sending, event);
}

static __always_inline bool is_pointer(__u64 term)
{
    return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST ||
           (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_BOXED;
}

static __always_inline __u64 words_of(const struct sending *sending, struct event *event,
                                      __u64 term)
{
    __u64 data = user_u64(event, sending->address + ERTS_MESSAGE_DATA_OFFSET);

    if (data == ERTS_MSG_COMBINED_HFRAG)
        return words_in_fragments(event, sending->address + sending->message_hfrag);
    if (data)
        return words_in_fragments(event, data);
    if (!is_pointer(term) || sending->from == sending->to)
        return 0;
    return words_on_heap(event, term, sending->heap, sending->top);
}

/* The start of the copy for a message to an alias, if the copy is not on the receiver's heap. For a
 * copy in a heap fragment, the address of the fragment is at the end of `info` or, until OTP 27,
 * behind the message: two small integers, a half each. Otherwise the copy is behind the
 * ErtsMessage. */
static __always_inline __u64 start_of_signal(const struct sending *sending, struct event *event,
                                             __u64 info)
{
    __u64 arity = user_u64(event, info) >> HEADER_ARITY_OFFS;
    __u64 at = info + 8 * (sending->alias_message == 3 ? 4 : arity - 1);
    __u64 low = user_u64(event, at), high = user_u64(event, at + 8);

    if (arity >= 4 && (low & TAG_IMMED1_MASK) == TAG_IMMED1_SMALL &&
        (high & TAG_IMMED1_MASK) == TAG_IMMED1_SMALL)
        return (low >> TAG_IMMED1_SIZE | high >> TAG_IMMED1_SIZE << 32) + sending->fragment_mem;
    return sending->address + sending->message_hfrag + sending->fragment_mem;
}

/* The words that were copied for a message to an alias. It comes with a tuple {From, Message,
 * Alias, ...}, or until OTP 27 {From, Alias, Message, ...}. The tuple lies behind copies of the
 * message, of the alias, and of a trace token (erts_proc_sig_send_to_alias(), erl_proc_sig_queue.c
 * 25.2.3:1644; send_altact_msg(), 29.1.1:2077). A message from another node has the name of that
 * node instead of the tuple, and is not copied. In 29, a message with priority that is not sent to
 * an alias has {From, Message, ...}, without the alias. */
static __always_inline __u64 words_of_signal(const struct sending *sending, struct event *event)
{
    __u64 info = user_u64(event, sending->address + sending->message_m + ERTS_MESSAGE_FROM_OFFSET);
    __u64 term, next = 0, end;

    if ((info & TAG_PRIMARY_MASK) != TAG_PRIMARY_BOXED)
        return 0;
    info &= ~7ull;
    term = user_u64(event, info + 8 * sending->alias_message);
    if (user_u64(event, info) >> HEADER_ARITY_OFFS >= 3)
        next = user_u64(event, info + 8 * (5 - sending->alias_message));
    end = (next & TAG_PRIMARY_MASK) == TAG_PRIMARY_BOXED ? next & ~7ull : info;
    if (!is_pointer(term))
        return 0;
    if (info >= sending->heap && info < sending->top)
        return words_on_heap(event, term, sending->heap, end);
    return words_between(term, start_of_signal(sending, event, info), end);
}

/* True if the receiver may make a message of such a signal in the same ErtsMessage. For other
 * signals it makes a new one. */
static __always_inline bool may_become_message(__u32 kind)
{
    return kind == ERTS_SIG_Q_OP_EXIT || kind == ERTS_SIG_Q_OP_EXIT_LINKED ||
           kind == ERTS_SIG_Q_OP_MONITOR_DOWN || kind == ERTS_SIG_Q_OP_PERSISTENT_MON_MSG ||
           kind == ERTS_SIG_Q_OP_DIST_SPAWN_REPLY || kind == ERTS_SIG_Q_OP_NIF_SELECT;
}

static __always_inline void count_signal(struct sending *sending, struct event *event, __u32 kind)
{
    event_tally(event, kind < WIRE_MSG_OTHER_SIGNAL ? kind : WIRE_MSG_OTHER_SIGNAL);
    if (kind == ERTS_SIG_Q_OP_ALIAS_MSG) {
        count_message(sending, event, words_of_signal(sending, event));
        return;
    }
    sending->signals++;
    if (may_become_message(kind))
        follow(sending, event);
}

__noinline int message_look(struct sending *sending)
{
    struct event event = {};
    __u32 slot; /* verifiers of 6.1 and older accept no key in the memory of an argument */
    __u64 tag;

    if (!sending)
        return 0;
    slot = sending->slot;
    event.slot = bpf_map_lookup_elem(&slots, &slot);
    event.counts = bpf_map_lookup_elem(&slot_counts, &slot);
    if (!event.slot || !event.counts)
        return 0;
    tag = user_u64(&event, sending->address + sending->message_m);
    if (event.faulted) {
        sending->faulted = 1;
        return 0;
    }
    if ((tag & TAG_HEADER_MASK) == EXTERNAL_PID_SUBTAG)
        count_signal(sending, &event, tag >> HEADER_ARITY_OFFS & ERTS_SIG_Q_OP_MASK);
    else
        count_message(sending, &event, words_of(sending, &event, tag));
    sending->faulted |= event.faulted;
    return 0;
}

static __always_inline void end_sending(const struct sending *sending, struct event *event,
                                        const struct pt_regs *ctx)
{
    event->faulted |= sending->faulted != 0;
    if (event_failed(event))
        return;
    event->hit.kind = WIRE_MSG_SENT;
    event->hit.size = 1;
    event->hit.peer = sending->to;
    event->hit.values[0] = sending->messages;
    event->hit.values[1] = sending->words;
    event->hit.values[4] = sending->signals;
    event_count(event);
    event_sample(event, ctx, 0);
}

SEC("uprobe")
int message_queue(struct pt_regs *ctx)
{
    struct sending sending = {.address = PT_REGS_PARM4(ctx)};
    struct event event = {};
    __u64 last = PT_REGS_PARM5(ctx);

    if (!begin_sending(&sending, &event, bpf_get_attach_cookie(ctx), PT_REGS_PARM2(ctx)))
        return 0;
    if ((PT_REGS_PARM1(ctx) & TAG_IMMED1_MASK) == TAG_IMMED1_PID)
        sending.from = PT_REGS_PARM1(ctx);
    for (int i = 0; i < AT_ONCE && sending.address; i++) {
        message_look(&sending);
        if (sending.address == last) /* ErtsMessage.next is its first field */
            break;
        sending.address = user_u64(&event, sending.address);
        if (i == AT_ONCE - 1)
            event_tally(&event, WIRE_MSG_LEFT_OUT);
    }
    end_sending(&sending, &event, ctx);
    return 0;
}

SEC("uprobe")
int message_send(struct pt_regs *ctx)
{
    struct sending sending = {.address = PT_REGS_PARM4(ctx)};
    struct event event = {};

    if (!begin_sending(&sending, &event, bpf_get_attach_cookie(ctx), PT_REGS_PARM2(ctx)))
        return 0;
    sending.from = user_u64(&event, PT_REGS_PARM1(ctx) + sending.process_id);
    count_message(&sending, &event, words_of(&sending, &event, PT_REGS_PARM5(ctx)));
    end_sending(&sending, &event, ctx);
    return 0;
}

/* process_info() of another process, where it goes around the buffers:
 * erts_proc_sig_send_process_info_request(Process *asks, Eterm to, ...)
 * (erl_proc_sig_queue.c 25.2.3:2538). */
SEC("uprobe")
int message_ask(struct pt_regs *ctx)
{
    struct event event = {};

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    event_tally(&event, ERTS_SIG_Q_OP_PROCESS_INFO);
    event.hit.kind = WIRE_MSG_SENT;
    event.hit.size = 1;
    event.hit.peer = PT_REGS_PARM2(ctx);
    event.hit.values[4] = 1;
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}

/* ---- receiving ---- */

SEC("uprobe")
int message_receive(struct pt_regs *ctx)
{
    struct message_key key = {.pid = this_pid()};
    __u64 process = PT_REGS_PARM1(ctx), to;
    const struct message *message;
    struct event event = {};

    if (!event_begin(&event, bpf_get_attach_cookie(ctx)))
        return 0;
    key.address = user_u64(&event, process + event.target->process_msgq_save);
    key.address = user_u64(&event, key.address);
    to = user_u64(&event, process + event.target->process_id);
    if (event_failed(&event))
        return 0;
    message = bpf_map_lookup_elem(&messages, &key);
    event.hit.kind = WIRE_MSG_RECEIVED;
    event.hit.size = 1;
    event.hit.values[3] = 1;
    if (message && message->window == event.slot->window && message->to == to) {
        event.hit.duration = event.hit.values[2] = bpf_ktime_get_ns() - message->sent;
        event.hit.peer = message->from;
        event_histogram(&event, WIRE_MSG_DELAY, event.hit.duration);
    } else {
        event_tally(&event, WIRE_MSG_UNSEEN);
    }
    if (message)
        bpf_map_delete_elem(&messages, &key);
    event_count(&event);
    event_sample(&event, ctx, 0);
    return 0;
}
