%% SPDX-License-Identifier: Apache-2.0
%% A module that is replaced by another version at a fixed interval. Each version burns CPU in
%% functions whose names contain its number, at addresses where other versions were before.
%%
%% Options: versions (their number, used in turn), every (ms). The report has the CPU time that the
%% node used in each version (start it with +sbwt none).
-module(reload).
-export([start/0, compiled/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Count = load:option(versions, Options, 20),
    Every = load:option(every, Options, 100) * 1000000,
    Versions = [{V, compiled(V)} || V <- lists:seq(1, Count)],
    Cpu = counters:new(Count, []),
    Loads = counters:new(1, []),
    Worker = spawn_link(fun() -> rounds(Versions, Every, Cpu, Loads) end),
    fun() ->
        #{
            pid => list_to_binary(pid_to_list(Worker)),
            loads => counters:get(Loads, 1),
            cpu_ns => maps:from_list([{name(V), counters:get(Cpu, V)} || {V, _} <- Versions])
        }
    end.

rounds(Versions, Every, Cpu, Loads) ->
    [run(V, Code, Every, Cpu, Loads) || {V, Code} <- Versions],
    rounds(Versions, Every, Cpu, Loads).

run(V, Code, Every, Cpu, Loads) ->
    code:purge(reloaded),
    {module, reloaded} = code:load_binary(reloaded, "reloaded.erl", Code),
    counters:add(Loads, 1, 1),
    Before = load:cpu_ns(),
    {done, _} = apply(reloaded, name(V), [erlang:monotonic_time(nanosecond) + Every]),
    counters:add(Cpu, V, load:cpu_ns() - Before).

name(V) ->
    list_to_atom("burn_" ++ integer_to_list(V)).

%% Return the code of a version. The number of functions before the busy one differs, so its address
%% does too.
compiled(V) ->
    Padding = [io_lib:format("padding_~b(X) -> {X, ~b}.~n", [K, K]) || K <- lists:seq(1, V * 3)],
    Burn = io_lib:format(
        "burn_~b(Until) -> {done, repeat_~b(Until)}.~n"
        "repeat_~b(Until) ->~n"
        "    X = spin_~b(20000, 1),~n"
        "    case erlang:monotonic_time(nanosecond) < Until of~n"
        "        true -> repeat_~b(Until);~n"
        "        false -> X~n"
        "    end.~n"
        "spin_~b(0, X) -> X;~n"
        "spin_~b(N, X) -> spin_~b(N - 1, (X * 1103515245 + N) band 16#7fffffff).~n",
        lists:duplicate(8, V)
    ),
    Source = ["-module(reloaded).\n-compile(export_all).\n", Padding, Burn],
    load:compile(Source).
