%% SPDX-License-Identifier: Apache-2.0
%% Processes that wait, each in another way. Their names begin with what they are:
%%
%%      idle_     wait for any message in their main loop, or hibernate
%%      blocked_  wait inside a call
%%      waiting_  in a loop of their own: nothing tells what they wait for
-module(rests).
-export([start/0, own/0, own_with_messages/0, call/0, sleep/0, accept/0, read/0, remote/0, os/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, handle_event/2, callback_mode/0,
    handle_event/4]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    {ok, _} = gen_server:start({local, idle_server}, ?MODULE, server, []),
    {ok, _} = gen_server:start({local, idle_server_that_hibernates}, ?MODULE, hibernate, []),
    {ok, _} = gen_statem:start({local, idle_state_machine}, ?MODULE, statem, []),
    {ok, _} = gen_statem:start({local, idle_state_machine_that_hibernates}, ?MODULE,
        statem_that_hibernates, []),
    {ok, _} = gen_event:start({local, idle_event_manager}),
    {ok, _} = supervisor:start_link({local, idle_supervisor}, ?MODULE, supervisor),
    register(idle_hibernating, spawn(erlang, hibernate, [?MODULE, own, []])),
    {ok, _} = gen_server:start({local, blocked_in_callback}, ?MODULE, server, []),
    blocked_in_callback ! wait,
    {ok, _} = gen_statem:start({local, blocked_in_state}, ?MODULE, statem, []),
    blocked_in_state ! wait,
    [register(Name, spawn(?MODULE, Function, [])) || {Name, Function} <- [
        {blocked_in_call, call}, {blocked_asleep, sleep}, {idle_acceptor, accept},
        {blocked_in_read, read}, {blocked_in_remote_call, remote}, {blocked_in_command, os},
        {blocked_with_messages, own_with_messages}, {waiting_in_own_loop, own}]],
    timer:sleep(500),
    fun() -> #{} end.

own() ->
    receive
        {go, on} -> own()
    end.

own_with_messages() ->
    self() ! other,
    own().

call() ->
    gen_server:call(blocked_in_callback, hello, infinity).

sleep() ->
    timer:sleep(infinity).

accept() ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    gen_tcp:accept(Listen).

read() ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listen),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
    gen_tcp:recv(Socket, 1).

remote() ->
    erpc:call(node(), timer, sleep, [infinity]).

os() ->
    os:cmd("sleep 1000").

init(statem) -> {ok, state, []};
init(statem_that_hibernates) -> {ok, state, [], hibernate};
init(supervisor) -> {ok, {#{}, []}};
init(hibernate) -> {ok, [], hibernate};
init(_) -> {ok, []}.

callback_mode() ->
    handle_event_function.

handle_call(_, _, State) -> {noreply, State}.
handle_cast(_, State) -> {noreply, State}.
handle_event(_, State) -> {ok, State}.

handle_info(wait, State) ->
    own(),
    {noreply, State}.

handle_event(info, wait, _, _) ->
    own(),
    keep_state_and_data.
