%% SPDX-License-Identifier: Apache-2.0
%% As many events a second as the node can make, and little else.
%%
%% Option what: `messages` (default), pairs of processes that send one message to and fro, so that
%% each is also a switch of processes; or `collections`, processes that fill small heaps.
%% The report has the rounds done as `requests`, and `cpu_ns`, as load request has.
-module(storm).
-export([start/0, player/2, collector/3]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Schedulers = erlang:system_info(schedulers_online),
    Rounds = counters:new(1, [write_concurrency]),
    start_storm(load:option(what, Options, messages), Schedulers, Rounds),
    fun() ->
        #{
            requests => counters:get(Rounds, 1),
            cpu_ns => load:cpu_ns(),
            time_ns => erlang:monotonic_time(nanosecond),
            context_switches => element(1, erlang:statistics(context_switches)),
            collections => element(1, erlang:statistics(garbage_collection))
        }
    end.

start_storm(messages, Schedulers, Rounds) ->
    [
        begin
            Other = spawn_link(?MODULE, player, [undefined, Rounds]),
            First = spawn_link(?MODULE, player, [Other, Rounds]),
            First ! {ball, Other}
        end
     || _ <- lists:seq(1, Schedulers)
    ];
start_storm(collections, Schedulers, Rounds) ->
    [spawn_link(?MODULE, collector, [0, [], Rounds]) || _ <- lists:seq(1, Schedulers)].

player(_, Rounds) ->
    play(0, Rounds).

%% Counting costs little, but not nothing: each hundredth is enough.
play(100, Rounds) ->
    counters:add(Rounds, 1, 100),
    play(0, Rounds);
play(N, Rounds) ->
    receive
        {ball, From} ->
            From ! {ball, self()},
            play(N + 1, Rounds)
    end.

collector(1000, _, Rounds) ->
    counters:add(Rounds, 1, 1000),
    collector(0, [], Rounds);
collector(N, Kept, Rounds) ->
    collector(N + 1, keep(N, Kept), Rounds).

keep(N, Kept) when length(Kept) < 20 -> [{N, make(N)} | Kept];
keep(N, _) -> [{N, make(N)}].

make(N) ->
    [{X, N, 0.5 + X} || X <- [1, 2, 3, 4, 5, 6, 7, 8]].
