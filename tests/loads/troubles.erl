%% SPDX-License-Identifier: Apache-2.0
%% Typical problems of nodes, each in a process with a name. Option what:
%%
%%      buildup      process `slow` gets messages faster than it handles them
%%      leak         process `hoarder` keeps a few bytes of each large binary that it gets
%%      bottleneck   40 processes `caller_N` call one gen_server, `busy_server`, that takes 1 ms each
%%
%% In each case, 20 more processes do the same without the problem.
-module(troubles).
-behaviour(gen_server).
-export([start/0, slow/0, quick/0, hoarder/1, copier/1, caller/2]).
-export([init/1, handle_call/3, handle_cast/2]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    begin_work(load:option(what, Options, buildup)),
    fun() -> #{} end.

begin_work(buildup) ->
    Slow = spawn(?MODULE, slow, []),
    register(slow, Slow),
    Quick = [spawn(?MODULE, quick, []) || _ <- lists:seq(1, 20)],
    spawn(fun() -> send([Slow | Quick]) end);
begin_work(leak) ->
    register(hoarder, spawn(?MODULE, hoarder, [[]])),
    [spawn(?MODULE, copier, [[]]) || _ <- lists:seq(1, 20)];
begin_work(bottleneck) ->
    {ok, Busy} = gen_server:start({local, busy_server}, ?MODULE, 1000, []),
    {ok, Idle} = gen_server:start({local, idle_server}, ?MODULE, 10, []),
    [start_caller("caller_", N, Busy, 0) || N <- lists:seq(1, 40)],
    [start_caller("patient_", N, Idle, 100) || N <- lists:seq(1, 20)].

send(To) ->
    [Pid ! {work, N} || Pid <- To, N <- lists:seq(1, 5)],
    receive after 5 -> ok end,
    send(To).

slow() ->
    receive {work, _} -> work(3000) end,
    slow().

%% Burn CPU as a slow NIF does, and bump reductions, so that other processes are scheduled and
%% timers checked.
work(Microseconds) ->
    spin_nif:spin(Microseconds),
    erlang:bump_reductions(4000).

quick() ->
    receive {work, _} -> ok end,
    quick().

hoarder(Kept) ->
    <<First:100/binary, _/binary>> = large_binary(),
    receive after 10 -> ok end,
    hoarder([First | Kept]).

copier(Kept) ->
    <<First:100/binary, _/binary>> = large_binary(),
    Copy = binary:copy(First),
    receive after 10 -> ok end,
    copier(lists:sublist([Copy | Kept], 50)).

large_binary() ->
    binary:copy(<<"0123456789">>, 10000).

start_caller(Prefix, N, Server, Pause) ->
    register(list_to_atom(Prefix ++ integer_to_list(N)), spawn(?MODULE, caller, [Server, Pause])).

caller(Server, Pause) ->
    done = gen_server:call(Server, work, infinity),
    receive after Pause -> ok end,
    caller(Server, Pause).

init(Microseconds) -> {ok, Microseconds}.

handle_call(work, _From, Microseconds) ->
    work(Microseconds),
    {reply, done, Microseconds}.

handle_cast(_, State) -> {noreply, State}.
