%% SPDX-License-Identifier: Apache-2.0
%% A node that is partly idle: on each scheduler a process sorts, then sleeps, again and again.
%%
%% Options: sleep (ms, default 3; 0: it never sleeps), rounds (sorts before each sleep, default 1).
%% The report has `cpu_ns`, the CPU time of the node.
-module(halfidle).
-export([start/0, sorter/3]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Sleep = load:option(sleep, Options, 3),
    Rounds = load:option(rounds, Options, 1),
    List = [erlang:phash2(I) || I <- lists:seq(1, 2000)],
    [
        spawn_link(?MODULE, sorter, [List, Sleep, Rounds])
     || _ <- lists:seq(1, erlang:system_info(schedulers_online))
    ],
    fun() -> #{cpu_ns => load:cpu_ns()} end.

sorter(List, Sleep, Rounds) ->
    [lists:sort(lists:reverse(List)) || _ <- lists:seq(1, Rounds)],
    Sleep > 0 andalso timer:sleep(Sleep),
    sorter(List, Sleep, Rounds).
