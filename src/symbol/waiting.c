// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

/*
 * A name that ends in '/' is a function of any arity; a name that ends in ':' is a module. Names of
 * Elixir are written as frames show them.
 *
 * The lists were made from the code of OTP 25, 27 and 29, Elixir 1.14 to 1.19, RabbitMQ 3.10 to 4.3
 * and ejabberd 23 to 25. A receive that takes any message has no instruction loop_rec_end.
 */

/* Main loops: a process whose leaf is one of them has nothing to do. Most take any message. The
 * others take every request that their process knows. */
static const char *const main_loops[] = {
    /* behaviours */
    "gen_server:loop/",
    "gen_server:loop_hibernate/",
    "gen_server:loop_wakeup/",
    "gen_server:wake_hib/",
    "gen_statem:loop/",
    "gen_statem:loop_hibernate/",
    "gen_statem:loop_receive/",
    "gen_statem:loop_wakeup/",
    "gen_event:fetch_msg/",
    "gen_event:wake_hib/",
    "gen_fsm:loop/",
    "gen_fsm:wake_hib/",
    "gen_batch_server:loop_wait/",
    "gen_server2:process_next_msg/",
    "gen_server2:wake_hib/",
    "p1_fsm:collect_messages/",
    "p1_fsm:wake_hib/",
    "p1_server:collect_messages/",
    "p1_server:wake_hib/",
    "GenEvent.fetch_msg/",
    /* An acceptor has nothing to do until somebody connects. */
    "prim_inet:accept0/",
    "socket:accept_deadline/",
    /* A hibernating process continues at any message. */
    "erlang:hibernate/",
    /* erts and kernel */
    "application_master:loop_it/",
    "application_master:main_loop/",
    "code_server:loop/",
    "dist_util:con_loop/",
    "disk_log:loop/",
    "erl_boot_server:boot_loop/",
    "erl_prim_loader:loop/",
    "erts_code_purger:wait_for_request/",
    "erts_dirty_process_signal_handler:msg_loop/",
    "erts_literal_area_collector:msg_loop/",
    "erts_trace_cleaner:loop/",
    "file_io_server:server_loop/",
    "file_server:relay_loop/",
    "global:loop_the_locker/",
    "global:loop_the_registrar/",
    "global:resolver/",
    "global_group:global_group_check_dispatcher/",
    "group:server_loop/",
    "heart:loop/",
    "inet_gethost_native:main_loop/",
    "init:boot_loop/",
    "init:loop/",
    "logger_simple_h:loop/",
    "logger_std_h:file_ctrl_loop/",
    "net_kernel:ticker_loop/",
    "peer:io_server_loop/",
    "peer:loop_supervision/",
    "prim_file:helper_loop/",
    "prim_tty:reader_loop/",
    "prim_tty:writer_loop/",
    "rpc:cnode_call_group_leader_loop/",
    "rpc:nodes_observer_loop/",
    "slave:one_way_link/",
    "slave:wloop/",
    "socket_registry:loop/",
    "standard_error:server_loop/",
    "user:server_loop/",
    "user_drv:server/",
    "user_drv:server_loop/",
    "user_sup:relay1/",
    /* other applications of OTP */
    "cover:main_process_loop/",
    "cover:remote_process_loop/",
    "cpu_sup:measurement_server_loop/",
    "cpu_sup:port_server_loop/",
    "dbg:loop/",
    "dets:open_file_loop2/",
    "eldap:loop/",
    "epp:wait_request/",
    "httpd_sup:listen_loop/",
    "memsup:port_idle/",
    "mnesia_checkpoint:retainer_loop/",
    "mnesia_dumper:regulator_loop/",
    "mnesia_late_loader:loop/",
    "mnesia_locker:loop/",
    "mnesia_tm:doit_loop/",
    "snmpa_net_if:loop/",
    "snmpa_agent:worker_loop/",
    "timer:interval_loop/",
    "zip:server_loop/",
    /* Elixir */
    "IEx.Evaluator.loop/",
    "IEx.Server.shell_loop/",
    "IEx.Server.wait_common/",
    "IEx.Server.wait_eval/",
    "IEx.Server.wait_input/",
    "Task.Supervised.stream_monitor_loop/",
    /* libraries and servers */
    "cowboy_http2:loop/",
    "cowboy_http:loop/",
    "cowboy_loop:loop/",
    "cowboy_websocket:loop/",
    "cowboy_webtransport:loop/",
    "ejabberd_websocket:ws_loop/",
    "gun:loop/",
    "gun:ws_loop/",
    "rabbit_amqp1_0_writer:mainloop1/",
    "rabbit_heartbeat:heartbeater/",
    "rabbit_http_util:cmd_loop/",
    "rabbit_logger_exchange_h:loop/",
    "rabbit_logger_std_h:file_ctrl_loop/",
    "rabbit_net:recv/", /* of rabbit_reader, which takes any message with it */
    "rabbit_writer:mainloop1/",
    "ranch_conns_sup:loop/",
    "recon_map:ets_keeper/",
    "recon_rec:ets_keeper/",
};

/* Where a leaf waits inside a call: all receives of these modules but their main loops. */
static const char *const waits_inside[] = {
    "application_controller:",
    "application_master:",
    "code:",
    "code_server:",
    "cowboy_children:",
    "cowboy_req:",
    "cpu_sup:",
    "dets:",
    "disk_log:",
    "disksup:",
    "dist_util:",
    "dtls_gen_connection:",
    "dtls_socket:",
    "eimp_worker:do_call/",
    "eldap:",
    "epp:",
    "erl_ddll:",
    "erl_epmd:",
    "erl_prim_loader:request/",
    "erlang:",
    "erpc:",
    "erts_code_purger:",
    "erts_internal:",
    "ets:",
    "file:",
    "file_io_server:",
    "file_server:",
    "gen:",
    "gen_event:",
    "gen_fsm:",
    "gen_server2:",
    "gen_server:",
    "gen_statem:",
    "global:",
    "group:",
    "gun:await",
    "heart:",
    "httpc:",
    "inet_gethost_native:",
    "inet_res:",
    "inet_sctp:",
    "inet_tcp_dist:",
    "inet_tls_dist:",
    "init:",
    "instrument:",
    "io:",
    "logger_simple_h:",
    "logger_std_h:",
    "memsup:",
    "mnesia_",
    "net_adm:",
    "net_kernel:",
    "os:",
    "p1_fsm:",
    "p1_server:",
    "peer:",
    "prim_inet:",
    "prim_tty:call/",
    "proc_lib:",
    "pubkey_os_cacerts:",
    "qlc:",
    "ra_lib:",
    "ra_log:",
    "rabbit_amqqueue:wait_for_",
    "rabbit_misc:",
    "rabbit_variable_queue:wait_for_",
    "ram_file:",
    "ranch:",
    "ranch_conns_sup:",
    "rpc:",
    "shell:",
    "slave:",
    "socket:",
    "socket_registry:",
    "ssl_gen_statem:",
    "supervisor2:",
    "supervisor:",
    "timer:",
    "tls_gen_connection:",
    "user:",
    "user_drv:",
    "worker_pool_worker:run/",
    "zip:",
    "DynamicSupervisor.",
    "Enumerable.GenEvent.Stream.",
    "Kernel.CLI.exec_fun/",
    "Kernel.ErrorHandler.",
    "Kernel.ParallelCompiler.",
    "Logger.Backends.Console.await_io/",
    "Module.ParallelChecker.",
    "Process.sleep/",
    "System.do_port",
    "Task.Supervised.reply/",
    "Task.Supervised.stream_",
    "Task.await",
    "Task.enforce_exit/",
    "Task.shutdown",
    "Task.yield",
};

/* Callers of a function that ends: a process that waits below one of them is inside a callback of
 * its behaviour, or inside a call. */
static const char *const callers[] = {
    "application_master:start_it_old/",
    "application_master:start_supervisor/",
    "cowboy_handler:execute/",
    "cowboy_stream_h:execute/",
    "erpc:execute_call/",
    "gen:do_call/",
    "gen_batch_server:complete_batch/",
    "gen_batch_server:handle_continue/",
    "gen_batch_server:init_it/",
    "gen_event:do_terminate/",
    "gen_event:server_add_handler/",
    "gen_event:server_call_update/",
    "gen_event:server_update/",
    "gen_fsm:handle_msg/",
    "gen_fsm:init_it/",
    "gen_fsm:terminate/",
    "gen_server2:callback/",
    "gen_server2:handle_msg/",
    "gen_server2:init_it/",
    "gen_server2:terminate/",
    "gen_server:init_it/",
    "gen_server:try_dispatch/",
    "gen_server:try_handle_",
    "gen_server:try_terminate/",
    "gen_statem:init_it/",
    "gen_statem:loop_state_callback/",
    "gen_statem:terminate/",
    "mnesia_tm:commit_participant/",
    "mnesia_tm:execute_transaction/",
    "p1_fsm:handle_msg/",
    "p1_fsm:init_it/",
    "p1_fsm:terminate/",
    "p1_server:handle_msg/",
    "p1_server:init_it/",
    "p1_server:terminate/",
};

/* Most names differ at the first character. */
static bool begins_with(const char *symbol, const char *name)
{
    while (*name && *name == *symbol) {
        name++;
        symbol++;
    }
    return !*name;
}

static bool is_among(const char *const *names, size_t count, const char *symbol)
{
    for (size_t i = 0; i < count; i++)
        if (begins_with(symbol, names[i]))
            return true;
    return false;
}

#define IS_AMONG(names, symbol) is_among(names, sizeof(names) / sizeof((names)[0]), symbol)

/* A caller is more than a function that waits inside: it tells the status at any depth. */
enum waiting_class waiting_class_of(enum frame_kind kind, const char *symbol)
{
    if (kind != FRAME_ERLANG && kind != FRAME_BIF)
        return WAITING_NO_CALL;
    if (IS_AMONG(main_loops, symbol))
        return WAITING_MAIN_LOOP;
    if (IS_AMONG(callers, symbol))
        return WAITING_CALLER;
    return IS_AMONG(waits_inside, symbol) ? WAITING_INSIDE : WAITING_UNKNOWN;
}

static enum process_status status_of(const uint8_t *classes, size_t count)
{
    size_t i = 0;

    while (i < count && classes[i] == WAITING_NO_CALL)
        i++;
    if (i < count && classes[i] == WAITING_MAIN_LOOP)
        return STATUS_IDLE;
    if (i < count && classes[i] == WAITING_INSIDE)
        return STATUS_BLOCKED;
    while (i < count && classes[i] != WAITING_CALLER)
        i++;
    return i < count ? STATUS_BLOCKED : STATUS_WAITING;
}

enum process_status waiting_status(const uint8_t *classes, size_t count, bool has_messages)
{
    enum process_status status = status_of(classes, count);

    return status == STATUS_WAITING && has_messages ? STATUS_BLOCKED : status;
}
