%% SPDX-License-Identifier: Apache-2.0
%% Processes that work for a moment and end, one after the other on every scheduler: a profiler that
%% keeps data of ended processes grows all of the time.
-module(shortlived).
-export([start/0, work/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Done = counters:new(1, [write_concurrency]),
    [spawn_link(fun() -> spawn_on(Done) end) || _ <- lists:seq(1, erlang:system_info(schedulers))],
    fun() -> #{done => counters:get(Done, 1)} end.

spawn_on(Done) ->
    {_, Monitor} = spawn_monitor(?MODULE, work, [2000]),
    receive
        {'DOWN', Monitor, process, _, _} -> ok
    end,
    counters:add(Done, 1, 1),
    spawn_on(Done).

work(N) ->
    lists:sum(lists:reverse(lists:seq(1, N))).
