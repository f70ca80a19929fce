%% SPDX-License-Identifier: Apache-2.0
%% Processes that do the same work again and again, and call functions a known number of times in
%% each turn: often/1 three times as often from many/1 as from few/1, or with maps from mapped/1; rare/1
%% once, and callrate_all:fN/1 N times, for N from 1 to 40.
%%
%% Options: processes, burst (calls of often/1 in a turn), work (steps of other work in a turn), all
%% (0: no calls of callrate_all), argument (of often/1: integer or map). The report has the turns so far, the calls of each function, and
%% the CPU time of the node.
-module(callrate).
-export([start/0]).

-define(FUNCTIONS, 40).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Burst = load:option(burst, Options, 80),
    Work = load:option(work, Options, 50000),
    All = load:option(all, Options, 0),
    Calls = calls(load:option(argument, Options, integer), Burst div 4 * 4),
    Turns = counters:new(1, [write_concurrency]),
    load_all(),
    [
        spawn_link(fun() -> turns(Calls, Work, All, Turns) end)
     || _ <- lists:seq(1, load:option(processes, Options, 2))
    ],
    fun() ->
        Done = counters:get(Turns, 1),
        #{
            turns => Done,
            calls => maps:from_list([
                {<<"callrate:often/1">>, Done * (Burst div 4) * 4},
                {<<"callrate:rare/1">>, Done}
                | [{name(N), Done * All * N} || N <- lists:seq(1, ?FUNCTIONS)]
            ]),
            cpu_ns => load:cpu_ns()
        }
    end.

name(N) -> iolist_to_binary(io_lib:format("callrate_all:f~b/1", [N])).

calls(integer, Burst) -> fun() -> many(Burst div 4 * 3), few(Burst div 4) end;
calls(map, Burst) -> fun() -> mapped(Burst) end.

turns(Calls, Work, All, Turns) ->
    Calls(),
    true = rare(Work) > 0,
    All =:= 0 orelse callrate_all:all(),
    counters:add(Turns, 1, 1),
    turns(Calls, Work, All, Turns).

many(0) -> ok;
many(N) -> true = often(N) > 0, many(N - 1).

few(0) -> ok;
few(N) -> true = often(N) > 0, few(N - 1).

mapped(0) -> ok;
mapped(N) -> true = often(#{id => N, kind => item}) > 0, mapped(N - 1).

often(Argument) -> erlang:phash2(Argument, 7) + 1.

rare(Work) -> steps(Work, 1).

steps(0, Sum) -> Sum + 1;
steps(N, Sum) -> steps(N - 1, (Sum * 7 + N) band 16#ffff).

%% ---- callrate_all ----

load_all() ->
    Source = [
        "-module(callrate_all).\n-export([all/0]).\n",
        ["all() ->", [io_lib:format(" times(fun f~b/1, ~b),", [N, N]) || N <- lists:seq(1, ?FUNCTIONS)]],
        " ok.\n"
        "times(_, 0) -> ok;\n"
        "times(F, N) -> true = F(N) > 0, times(F, N - 1).\n",
        [io_lib:format("f~b(N) -> N + ~b.\n", [N, N]) || N <- lists:seq(1, ?FUNCTIONS)]
    ],
    {module, callrate_all} =
        code:load_binary(callrate_all, "callrate_all.erl", load:compile(Source)).
