%% SPDX-License-Identifier: Apache-2.0
%% Processes that do the same work again and again, and call functions a known number of times in
%% each turn: often/1 three times as often from many/1 as from few/1, rare/1 once, and callrate_all:fN/1
%% N times, for N from 1 to 40.
%%
%% Options: processes, burst (calls of often/1 in a turn), work (steps of other work in a turn), all
%% (0: no calls of callrate_all). The report has the turns so far, the calls of each function, and
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
    Turns = counters:new(1, [write_concurrency]),
    load_all(),
    [
        spawn_link(fun() -> turns(Burst, Work, All, Turns) end)
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

turns(Burst, Work, All, Turns) ->
    many(Burst div 4 * 3),
    few(Burst div 4),
    true = rare(Work) > 0,
    All =:= 0 orelse callrate_all:all(),
    counters:add(Turns, 1, 1),
    turns(Burst, Work, All, Turns).

many(0) -> ok;
many(N) -> true = often(N) > 0, many(N - 1).

few(0) -> ok;
few(N) -> true = often(N) > 0, few(N - 1).

often(N) -> N + erlang:phash2(N, 7) + 1.

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
