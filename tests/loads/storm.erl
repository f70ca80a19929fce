%% SPDX-License-Identifier: Apache-2.0
%% As many events a second as the node can make, and little else.
%%
%% Option what: `messages` (default), pairs of processes that send one message to and fro, so that
%% each message is also a context switch; `collections`, processes that fill small heaps; or
%% `calls`, of lists:member/2, with almost no work. With option rest=MS each process rests for that
%% time after some hundred rounds. The report has the rounds done as `requests`, and `cpu_ns`, like
%% load `request`.
-module(storm).
-export([start/0, player/3, collector/4, caller/4]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Schedulers = erlang:system_info(schedulers_online),
    Rounds = counters:new(1, [write_concurrency]),
    Rest = load:option(rest, Options, 0),
    start_storm(load:option(what, Options, messages), Schedulers, Rounds, Rest),
    fun() ->
        #{
            requests => counters:get(Rounds, 1),
            cpu_ns => load:cpu_ns(),
            time_ns => erlang:monotonic_time(nanosecond),
            context_switches => element(1, erlang:statistics(context_switches)),
            collections => element(1, erlang:statistics(garbage_collection))
        }
    end.

start_storm(messages, Schedulers, Rounds, Rest) ->
    [
        begin
            Other = spawn_link(?MODULE, player, [0, Rounds, Rest]),
            First = spawn_link(?MODULE, player, [0, Rounds, Rest]),
            First ! {ball, Other}
        end
     || _ <- lists:seq(1, Schedulers)
    ];
start_storm(collections, Schedulers, Rounds, Rest) ->
    [spawn_link(?MODULE, collector, [0, [], Rounds, Rest]) || _ <- lists:seq(1, Schedulers)];
start_storm(calls, Schedulers, Rounds, Rest) ->
    [spawn_link(?MODULE, caller, [0, [none], Rounds, Rest]) || _ <- lists:seq(1, Schedulers)].

%% Counting has a small cost, so only each hundredth round is counted.
player(100, Rounds, Rest) ->
    count(100, Rounds, Rest),
    player(0, Rounds, Rest);
player(N, Rounds, Rest) ->
    receive
        {ball, From} ->
            From ! {ball, self()},
            player(N + 1, Rounds, Rest)
    end.

collector(1000, _, Rounds, Rest) ->
    count(1000, Rounds, Rest),
    collector(0, [], Rounds, Rest);
collector(N, Kept, Rounds, Rest) ->
    collector(N + 1, keep(N, Kept), Rounds, Rest).

caller(1000, List, Rounds, Rest) ->
    count(1000, Rounds, Rest),
    caller(0, List, Rounds, Rest);
caller(N, List, Rounds, Rest) ->
    false = lists:member(N, List),
    caller(N + 1, List, Rounds, Rest).

count(Number, Rounds, Rest) ->
    counters:add(Rounds, 1, Number),
    Rest > 0 andalso timer:sleep(Rest).

keep(N, Kept) when length(Kept) < 20 -> [{N, make(N)} | Kept];
keep(N, _) -> [{N, make(N)}].

make(N) ->
    [{X, N, 0.5 + X} || X <- [1, 2, 3, 4, 5, 6, 7, 8]].
