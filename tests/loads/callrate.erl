%% SPDX-License-Identifier: Apache-2.0
%% Processes that do the same work again and again, and call functions a known number of times in
%% each turn: often/1 three times as often from many/1 as from few/1, and rare/1 once.
%%
%% Options: processes, burst (calls of often/1 in a turn), work (steps of other work in a turn). The
%% report has the turns so far, the calls of each function, and the CPU time of the node.
-module(callrate).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Burst = load:option(burst, Options, 80),
    Work = load:option(work, Options, 50000),
    Turns = counters:new(1, [write_concurrency]),
    [
        spawn_link(fun() -> turns(Burst, Work, Turns) end)
     || _ <- lists:seq(1, load:option(processes, Options, 2))
    ],
    fun() ->
        Done = counters:get(Turns, 1),
        #{
            turns => Done,
            calls => #{
                <<"callrate:often/1">> => Done * (Burst div 4) * 4,
                <<"callrate:rare/1">> => Done
            },
            cpu_ns => load:cpu_ns()
        }
    end.

turns(Burst, Work, Turns) ->
    many(Burst div 4 * 3),
    few(Burst div 4),
    true = rare(Work) > 0,
    counters:add(Turns, 1, 1),
    turns(Burst, Work, Turns).

many(0) -> ok;
many(N) -> true = often(N) > 0, many(N - 1).

few(0) -> ok;
few(N) -> true = often(N) > 0, few(N - 1).

often(N) -> N + erlang:phash2(N, 7) + 1.

rare(Work) -> steps(Work, 1).

steps(0, Sum) -> Sum + 1;
steps(N, Sum) -> steps(N - 1, (Sum * 7 + N) band 16#ffff).
