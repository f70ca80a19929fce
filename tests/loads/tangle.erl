%% SPDX-License-Identifier: Apache-2.0
%% Short-lived processes whose stacks all differ: each goes down a way of its own through eight
%% functions that call each other, and works at its end. A profiler that keeps every stack and every
%% process grows all of the time.
-module(tangle).
-export([start/0, work/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Done = counters:new(1, [write_concurrency]),
    [spawn_link(fun() -> spawn_on(Done) end) || _ <- lists:seq(1, erlang:system_info(schedulers))],
    fun() -> #{done => counters:get(Done, 1)} end.

spawn_on(Done) ->
    {_, Monitor} = spawn_monitor(?MODULE, work, [rand:uniform(1 bsl 58)]),
    receive
        {'DOWN', Monitor, process, _, _} -> ok
    end,
    counters:add(Done, 1, 1),
    spawn_on(Done).

work(Seed) ->
    way(300, Seed).

way(0, Seed) -> bottom(20000, Seed);
way(N, Seed) -> turn(N - 1, (Seed * 6364136223846793005 + 1442695040888963407) band (1 bsl 58 - 1)).

%% The next function depends on bits of the number. None of these calls is a tail call.
turn(N, Seed) ->
    1 + case (Seed bsr 50) band 7 of
            0 -> a(N, Seed);
            1 -> b(N, Seed);
            2 -> c(N, Seed);
            3 -> d(N, Seed);
            4 -> e(N, Seed);
            5 -> f(N, Seed);
            6 -> g(N, Seed);
            7 -> h(N, Seed)
        end.

a(N, Seed) -> 1 + way(N, Seed).
b(N, Seed) -> 2 + way(N, Seed).
c(N, Seed) -> 3 + way(N, Seed).
d(N, Seed) -> 4 + way(N, Seed).
e(N, Seed) -> 5 + way(N, Seed).
f(N, Seed) -> 6 + way(N, Seed).
g(N, Seed) -> 7 + way(N, Seed).
h(N, Seed) -> 8 + way(N, Seed).

bottom(0, Seed) -> Seed band 1;
bottom(N, Seed) -> bottom(N - 1, Seed bxor N).
