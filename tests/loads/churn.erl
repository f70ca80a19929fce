%% SPDX-License-Identifier: Apache-2.0
%% A node in which nothing stays: a module is loaded and purged again and again, processes and
%% native threads start and end. A profiler that keeps data of what is gone grows all of the time.
%%
%% Options: modules (loaded besides, which stay), versions (of the module that is replaced), pause
%% (ms, of each kind of work, after each round of it). The report counts loads, processes and
%% threads so far.
-module(churn).
-export([start/0, work/1]).

-define(LOADS, 1).
-define(PROCESSES, 2).
-define(THREADS, 3).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Pause = load:option(pause, Options, 2),
    _ = modules:load(load:option(modules, Options, 100), 3),
    Versions = [reload:compiled(V) || V <- lists:seq(1, load:option(versions, Options, 20))],
    Done = counters:new(3, [write_concurrency]),
    [
        spawn_link(fun() -> repeat(Round, Pause) end)
     || Round <- [
            fun() -> [reload(Code, Done) || Code <- Versions] end,
            fun() -> [process(Done) || _ <- lists:seq(1, 20)] end,
            fun() -> counters:add(Done, ?THREADS, thread_nif:run(4)) end
        ]
    ],
    fun() ->
        #{
            loads => counters:get(Done, ?LOADS),
            processes => counters:get(Done, ?PROCESSES),
            threads => counters:get(Done, ?THREADS)
        }
    end.

repeat(Round, Pause) ->
    Round(),
    timer:sleep(Pause),
    repeat(Round, Pause).

reload(Code, Done) ->
    code:purge(reloaded),
    {module, reloaded} = code:load_binary(reloaded, "reloaded.erl", Code),
    _ = reloaded:module_info(md5),
    counters:add(Done, ?LOADS, 1).

process(Done) ->
    {_, Monitor} = spawn_monitor(?MODULE, work, [500]),
    receive
        {'DOWN', Monitor, process, _, _} -> counters:add(Done, ?PROCESSES, 1)
    end.

work(N) ->
    lists:sum(lists:reverse(lists:seq(1, N))).
