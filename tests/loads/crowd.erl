%% SPDX-License-Identifier: Apache-2.0
%% Many processes in known states that hardly do anything, to test the view of processes that do not
%% run. The report has what the node itself says of them: the number of processes in each status,
%% and details of up to `described` processes (200).
%%
%% Options: processes (how many), depth (of the stacks of those that wait in a receive). The
%% processes are divided into:
%%
%%      servers    half of them are gen_servers that wait for a call
%%      waiting    in a receive, `depth` calls deep
%%      sleeping   in a receive with a timeout of an hour
%%      suspended  one in twenty
%%      hibernating  one in twenty
%%
%% and 16 more are runnable, on the last of several schedulers, where `occupant` has a higher
%% priority. Process `queued` has 1000 messages that it does not receive; `filling` has none at
%% first, and gets one more every 50 ms.
-module(crowd).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).
-export([wait/1, sleep/0, hibernate/0, woken/0, go_on/0, occupy/0, fill/1]).

-define(RUNNABLE, 16).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    erlang:system_flag(backtrace_depth, 200),
    Count = load:option(processes, Options, 1000),
    Depth = load:option(depth, Options, 20),
    Described = load:option(described, Options, 200),
    Numbers = lists:seq(1, Count),
    Crowd = [start(kind(N), Depth) || N <- Numbers],
    timer:sleep(200),
    [erlang:suspend_process(Pid) || {Pid, N} <- lists:zip(Crowd, Numbers), kind(N) =:= suspended],
    Runnable = runnable(erlang:system_info(schedulers_online)),
    Queued = spawn(?MODULE, sleep, []),
    register(queued, Queued),
    [Queued ! N || N <- lists:seq(1, 1000)],
    Filling = spawn(?MODULE, sleep, []),
    register(filling, Filling),
    spawn(?MODULE, fill, [Filling]),
    fun() ->
        All = Crowd ++ Runnable,
        #{
            crowd => length(All),
            statuses => count([element(2, process_info(Pid, status)) || Pid <- All]),
            described => [describe(Pid) || Pid <- spread(Described, Crowd)]
        }
    end.

kind(N) when N rem 2 =:= 0 -> server;
kind(N) when N rem 20 =:= 1 -> suspended;
kind(N) when N rem 20 =:= 3 -> hibernating;
kind(N) when N rem 20 < 8 -> sleeping;
kind(_) -> waiting.

start(server, _) ->
    {ok, Pid} = gen_server:start(?MODULE, [], []),
    Pid;
start(sleeping, _) ->
    spawn(?MODULE, sleep, []);
start(hibernating, _) ->
    spawn(?MODULE, hibernate, []);
start(_, Depth) ->
    spawn(?MODULE, wait, [Depth]).


runnable(1) ->
    [];
runnable(Last) ->
    Pids = [spawn_opt(?MODULE, go_on, [], [{scheduler, Last}]) || _ <- lists:seq(1, ?RUNNABLE)],
    register(occupant, spawn_opt(?MODULE, occupy, [], [{scheduler, Last}, {priority, high}])),
    Pids.

init(State) -> {ok, State}.
handle_call(Call, _From, State) -> {reply, Call, State}.
handle_cast(_, State) -> {noreply, State}.

wait(0) ->
    receive stop -> 0 end;
wait(N) ->
    1 + wait(N - 1).

sleep() ->
    receive stop -> ok after 3600000 -> ok end,
    sleep().

hibernate() ->
    erlang:hibernate(?MODULE, woken, []).

woken() ->
    receive stop -> ok end.

fill(Pid) ->
    receive stop -> ok after 50 -> Pid ! item end,
    fill(Pid).

go_on() ->
    erlang:yield(),
    go_on().

occupy() ->
    occupy().

count(Things) ->
    maps:from_list([{Thing, length([T || T <- Things, T =:= Thing])} || Thing <- lists:usort(Things)]).

%% Return `Count` pids, spread evenly over the list.
spread(Count, List) ->
    Step = max(1, length(List) div Count),
    [Pid || {Pid, N} <- lists:zip(List, lists:seq(1, length(List))), N rem (Step bor 1) =:= 0].

describe(Pid) ->
    Info = fun(Item) -> element(2, process_info(Pid, Item)) end,
    #{
        pid => text("~p", [Pid]),
        status => Info(status),
        stack => case Info(current_stacktrace) of
            [] -> [mfa(M, F, A) || {M, F, A} <- [Info(current_function)]]; %% it hibernates
            Stack -> [mfa(M, F, A) || {M, F, A, _} <- Stack]
        end,
        msgq => Info(message_queue_len),
        heap => Info(total_heap_size),
        stack_size => Info(stack_size)
    }.

mfa(M, F, A) -> text("~p:~p/~b", [M, F, A]).

text(Format, Arguments) ->
    unicode:characters_to_binary(io_lib:format(Format, Arguments)).
