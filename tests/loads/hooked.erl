%% SPDX-License-Identifier: Apache-2.0
%% Triggers the hooks of probes a known number of times for each report. With one scheduler, each
%% message wakes its receiver, and each wait schedules a process out.
-module(hooked).
-export([start/0, pong/0, wait/0, idle/0]).

start() ->
    load:start(hooked, fun(_Options) -> fun work/0 end).

work() ->
    {_, Monitor} = spawn_opt(fun worker/0, [monitor, {min_heap_size, 1000000}]),
    receive
        {'DOWN', Monitor, process, _, {done, Counts}} -> #{counts => Counts}
    end.

worker() ->
    exit({done, maps:map(fun(Name, Count) -> do(Name, Count), Count end, counts())}).

counts() ->
    #{
        round_trips => 2000,
        spawns => 500,
        collections => 300,
        hibernations => 200,
        signals => 400,
        lookups => 1000,
        conversions => 700,
        nifs => 150,
        dirty_nifs => 60,
        dirty_bifs => 40
    }.

do(round_trips, Count) ->
    Pong = spawn_opt(?MODULE, pong, [], [link, {min_heap_size, 1000000}]),
    repeat(Count, fun() ->
        Pong ! {ping, self()},
        receive
            {pong, Pong} -> ok
        end
    end),
    stop(Pong);
do(spawns, Count) ->
    repeat(Count, fun() -> spawn(?MODULE, idle, []) end),
    timer:sleep(100);
do(collections, Count) ->
    {_, Monitor} = spawn_monitor(fun() -> repeat(Count, fun erlang:garbage_collect/0) end),
    receive
        {'DOWN', Monitor, process, _, normal} -> ok
    end;
do(hibernations, Count) ->
    Sleeper = spawn_link(fun() -> erlang:hibernate(?MODULE, wait, []) end),
    timer:sleep(50),
    %% With one scheduler, the process has not gone back to sleep when it answers; the yield lets
    %% it.
    repeat(Count - 1, fun() ->
        Sleeper ! {wake, self()},
        receive
            awake -> erlang:yield()
        end
    end),
    stop(Sleeper);
do(signals, Count) ->
    Pong = spawn_link(?MODULE, pong, []),
    %% With one scheduler, a yield lets the other process handle its signals.
    repeat(Count div 2, fun() ->
        Monitor = erlang:monitor(process, Pong),
        erlang:yield(),
        erlang:demonitor(Monitor),
        erlang:yield()
    end),
    stop(Pong);
do(lookups, Count) ->
    Table = ets:new(?MODULE, []),
    true = ets:insert(Table, {a, b}),
    repeat(Count, fun() -> [{a, b}] = ets:lookup(Table, a) end),
    ets:delete(Table);
do(conversions, Count) ->
    repeat(Count, fun() -> <<131, _/binary>> = term_to_binary({a, b}) end);
do(nifs, Count) ->
    repeat(Count, fun() -> spin_nif:spin(1) end);
do(dirty_nifs, Count) ->
    repeat(Count, fun() -> spin_nif:dirty_spin(1) end);
do(dirty_bifs, Count) ->
    repeat(Count, fun() -> erts_debug:dirty_cpu(wait, 0) end).

repeat(0, _Fun) ->
    ok;
repeat(Count, Fun) ->
    Fun(),
    repeat(Count - 1, Fun).

stop(Process) ->
    Process ! {stop, self()},
    receive
        stopped -> ok
    end.

pong() ->
    receive
        {ping, From} ->
            From ! {pong, self()},
            pong();
        {stop, From} ->
            From ! stopped
    end.

wait() ->
    receive
        {wake, From} ->
            From ! awake,
            erlang:hibernate(?MODULE, wait, []);
        {stop, From} ->
            From ! stopped
    end.

idle() ->
    ok.
