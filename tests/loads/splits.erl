%% SPDX-License-Identifier: Apache-2.0
%% Calls whose time is made of known parts. Does nothing until told one of:
%%
%%      computes   20 calls of computed/1, which computes for 20 ms by the clock, in 10 turns
%%      counts     20 calls of counted/1, which computes until it is done
%%      waits      50 calls of waited/1, which waits for 10 ms
%%      queues     10 calls of computed/1, while two other processes compute
%%      collects   20 calls of collected/2, which collects much live data 3 times
%%      tidies     20 calls of collected/2, which collects little live data 300 times
%%      suspends   20 calls of halted/2, in which another process suspends this one for 10 ms
%%      dirty      20 calls of dirty/1, which computes for 5 ms on a dirty scheduler
%%      recurses   10 calls of deep/1, which calls itself twice, computes for 2 ms and waits for 5 ms
%%      mixed      20 calls of mixed/1, which computes for 5 ms and waits for 10 ms
%%
%% The report has the number of finished requests, and of the last one the CPU time of the VM and
%% the time that collections took by the clock, in ns.
-module(splits).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Values = counters:new(3, []),
    register(told, spawn_link(fun() -> serve(Values) end)),
    fun() ->
        #{done => counters:get(Values, 1), cpu_ns => counters:get(Values, 2),
          collected_ns => counters:get(Values, 3)}
    end.

serve(Values) ->
    Work = receive Told -> Told end,
    counters:put(Values, 3, 0),
    Before = load:cpu_ns(),
    work(Work, Values),
    counters:put(Values, 2, load:cpu_ns() - Before),
    counters:add(Values, 1, 1),
    serve(Values).

work(computes, _) -> repeat(20, fun() -> ok = computed(10) end);
work(counts, _) -> repeat(20, fun() -> ok = counted(2000000) end);
work(waits, _) -> repeat(50, fun() -> ok = waited(10) end);
work(queues, _) -> with_neighbours(fun() -> repeat(10, fun() -> ok = computed(10) end) end);
work(collects, Values) -> collects(Values, 300000, 3);
work(tidies, Values) -> collects(Values, 1000, 300);
work(suspends, _) -> repeat(20, fun() -> suspends() end);
work(dirty, _) -> repeat(20, fun() -> ok = dirty(5000) end);
work(recurses, _) -> repeat(10, fun() -> ok = deep(2) end);
work(mixed, _) -> repeat(20, fun() -> ok = mixed(10) end).

repeat(Times, Work) ->
    [Work() || _ <- lists:seq(1, Times)],
    ok.

with_neighbours(Work) ->
    Neighbours = [spawn_link(fun() -> neighbour() end) || _ <- lists:seq(1, 2)],
    Work(),
    [begin unlink(Pid), exit(Pid, kill) end || Pid <- Neighbours].

neighbour() ->
    spin_nif:spin(1000),
    erlang:yield(),
    neighbour().

collects(Values, Size, Times) ->
    Live = lists:seq(1, Size),
    repeat(20, fun() -> ok = collected(Values, Times) end),
    Size = length(Live).

suspends() ->
    Pid = self(),
    Resumed = counters:new(1, []),
    {Helper, Monitor} = spawn_monitor(fun() ->
        receive suspend -> ok end,
        true = erlang:suspend_process(Pid),
        receive after 10 -> ok end,
        counters:put(Resumed, 1, 1),
        true = erlang:resume_process(Pid)
    end),
    ok = halted(Helper, Resumed),
    receive {'DOWN', Monitor, process, Helper, normal} -> ok end.

%% ---- calls ----

computed(Turns) ->
    compute(Turns),
    ok.

compute(0) ->
    ok;
compute(Turns) ->
    spin_nif:spin(2000),
    erlang:yield(),
    compute(Turns - 1).

counted(Times) ->
    true = count(Times, 1) > 0,
    ok.

count(0, Sum) -> Sum;
count(Times, Sum) -> count(Times - 1, (Sum * 31 + Times) band 16#ffffff).

halted(Helper, Resumed) ->
    Helper ! suspend,
    until(Resumed),
    ok.

until(Flag) ->
    spin_nif:spin(100),
    erlang:yield(),
    case counters:get(Flag, 1) of
        0 -> until(Flag);
        1 -> ok
    end.

waited(Ms) ->
    receive
    after Ms -> ok
    end.

collected(Values, Times) ->
    repeat(Times, fun() ->
        Began = erlang:monotonic_time(nanosecond),
        true = erlang:garbage_collect(),
        counters:add(Values, 3, erlang:monotonic_time(nanosecond) - Began)
    end).

dirty(Us) ->
    spin_nif:dirty_spin(Us),
    ok.

deep(0) ->
    mixed_up(2, 5);
deep(N) ->
    ok = deep(N - 1),
    mixed_up(2, 5).

mixed(Ms) ->
    ok = mixed_up(5, Ms),
    ok.

mixed_up(ComputeMs, WaitMs) ->
    spin_nif:spin(1000 * ComputeMs),
    receive
    after WaitMs -> ok
    end.
