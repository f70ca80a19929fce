%% SPDX-License-Identifier: Apache-2.0
%% Processes that are scheduled out for known reasons and times. Does nothing until told one of the
%% following, each at most once. Processes stay until the node ends, because their samples may not
%% be named yet.
%%
%%      switch       pairs of processes play ping-pong
%%      wake         process `woken` gets a message every 10 ms, traced by the node, on a scheduler
%%                   that another process occupies for 5 ms at a time
%%      compete      three processes `hog_N` per scheduler run for a second
%%      suspend      process `suspended` runs, and is suspended now and then for 20 ms
%%      dirty        three processes `dirty_N` per dirty CPU scheduler call a NIF there
%%      garbage      process `waster` waits 20 ms at a time, with so much garbage that a dirty
%%                   scheduler collects it meanwhile
%%      occupy       process `occupant` calls a NIF that takes 60 ms, monitored by the node
%%
%% The report has the number of finished requests, the context switches of the node, and what the
%% node said of the last request: a count, and nanoseconds.
-module(scheduling).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(1, []),
    Said = ets:new(said, [public]),
    register(told, spawn_link(fun() -> serve(Done, Said) end)),
    fun() ->
        {Switches, 0} = erlang:statistics(context_switches),
        #{
            done => counters:get(Done, 1),
            switches => Switches,
            said => maps:from_list(ets:tab2list(Said))
        }
    end.

serve(Done, Said) ->
    receive
        What ->
            run(fun() -> ets:insert(Said, maps:to_list(work(What))) end),
            counters:add(Done, 1, 1)
    end,
    serve(Done, Said).

run(Fun) ->
    {Pid, Ref} = spawn_monitor(Fun),
    receive {'DOWN', Ref, process, Pid, normal} -> ok end.

%% Run each fun in a process of that name, and wait for all.
run_all(Named) ->
    Parent = self(),
    Run = fun(Name, Fun) ->
        register(Name, self()),
        Fun(),
        Parent ! {done, self()},
        receive after infinity -> ok end
    end,
    Pids = [spawn(fun() -> Run(Name, Fun) end) || {Name, Fun} <- Named],
    [receive {done, Pid} -> ok end || Pid <- Pids],
    ok.

names(Prefix, Count) ->
    [list_to_atom(Prefix ++ integer_to_list(N)) || N <- lists:seq(1, Count)].

now_ns() ->
    erlang:monotonic_time(nanosecond).

work(switch) ->
    run_all([{Name, fun() -> ping(spawn_link(fun pong/0), 5000) end} || Name <- names("ping_", 8)]),
    #{};
work(wake) ->
    spawn_opt(fun keep_occupied/0, [link, {scheduler, 1}]),
    Woken = spawn_opt(fun wait_for_message/0, [link, {scheduler, 1}]),
    register(woken, Woken),
    Tracer = spawn_link(fun() -> collect(Woken, []) end),
    erlang:suspend_process(Tracer), %% waking it would take time, between its clock and our probes
    erlang:trace(Woken, true, [running, monotonic_timestamp, {tracer, Tracer}]),
    erlang:system_profile(Tracer, [runnable_procs, monotonic_timestamp]),
    wake(Woken, 150),
    erlang:system_profile(undefined, []),
    erlang:trace(Woken, false, [running, monotonic_timestamp]),
    Delivered = erlang:trace_delivered(Woken),
    receive {trace_delivered, _, Delivered} -> ok end,
    Tracer ! {stop, self()},
    erlang:resume_process(Tracer),
    receive {said, Map} -> Map end;
work(compete) ->
    Names = names("hog_", 3 * erlang:system_info(schedulers_online)),
    Reductions = counters:new(1, []),
    End = now_ns() + 1000000000,
    Before = now_ns(),
    run_all([{Name, fun() -> hog(End, Reductions) end} || Name <- Names]),
    Schedulers = erlang:system_info(schedulers_online),
    #{
        runnable_ns => (length(Names) - Schedulers) * (now_ns() - Before),
        reductions => counters:get(Reductions, 1)
    };
work(suspend) ->
    Victim = spawn_link(fun spin/0),
    register(suspended, Victim),
    Ns = lists:sum([suspended_ns(Victim) || _ <- lists:seq(1, 15)]),
    #{suspended_ns => Ns};
work(dirty) ->
    Schedulers = erlang:system_info(dirty_cpu_schedulers_online),
    Names = names("dirty_", 3 * Schedulers),
    Before = now_ns(),
    run_all([{Name, fun() -> [spin_nif:dirty_spin(10000) || _ <- lists:seq(1, 10)] end}
             || Name <- Names]),
    #{
        calls => 10 * length(Names),
        runnable_ns => (length(Names) - Schedulers) * (now_ns() - Before)
    };
work(garbage) ->
    Table = ets:new(garbage, [public]),
    ets:insert(Table, {all, lists:seq(1, 300000)}),
    Waited = counters:new(1, []),
    run_all([{waster, fun() ->
        [counters:add(Waited, 1, wait_with_garbage(Table)) || _ <- lists:seq(1, 20)]
    end}]),
    ets:delete(Table),
    #{waited_ns => counters:get(Waited, 1)};
work(occupy) ->
    erlang:system_monitor(self(), [{long_schedule, 30}]),
    run_all([{occupant, fun() -> [occupy() || _ <- lists:seq(1, 5)] end}]),
    erlang:system_monitor(undefined),
    Times = long_schedules(),
    #{count => length(Times), ns => lists:sum(Times) * 1000000}.

ping(_, 0) ->
    ok;
ping(Pong, N) ->
    burn(100),
    Pong ! self(),
    receive pong -> ping(Pong, N - 1) end.

pong() ->
    burn(100),
    receive Ping -> Ping ! pong end,
    pong().

%% A scheduler checks its timers every 4000 reductions (ERTS_CHECK_TIME_REDS in erl_process.c:9803,
%% release 29.1.1): without these reductions, timers of other processes on it would be many seconds
%% late.
keep_occupied() ->
    spin_nif:spin(5000),
    erlang:bump_reductions(4000),
    erlang:yield(),
    keep_occupied().

wait_for_message() ->
    receive wake -> ok end,
    wait_for_message().

wake(_, 0) ->
    ok;
wake(Woken, N) ->
    receive after 10 -> ok end,
    Woken ! wake,
    wake(Woken, N - 1).

%% Collect the times when the process became active, and was scheduled in and out, by the node's
%% clock.
collect(Pid, Seen) ->
    receive
        {profile, Pid, active, _, Time} -> collect(Pid, [{Time, active} | Seen]);
        {trace_ts, Pid, InOrOut, _, Time} -> collect(Pid, [{Time, InOrOut} | Seen]);
        {stop, From} -> From ! {said, intervals(lists:sort(Seen), #{}, none, none)};
        _ -> collect(Pid, Seen)
    end.

intervals([{Time, out} | Rest], Sums, _, _) ->
    intervals(Rest, Sums, Time, none);
intervals([{Time, active} | Rest], Sums, Out, none) ->
    intervals(Rest, Sums, Out, Time);
intervals([{Time, in} | Rest], Sums, Out, Active) when is_integer(Out), is_integer(Active) ->
    Ns = fun(T) -> erlang:convert_time_unit(T, native, nanosecond) end,
    Delayed = add(delay_ns, Ns(Time - Active), add(wait_ns, Ns(Time - Out), Sums)),
    intervals(Rest, add(count, 1, Delayed), none, none);
intervals([_ | Rest], Sums, Out, Active) ->
    intervals(Rest, Sums, Out, Active);
intervals([], Sums, _, _) ->
    Sums.

add(Key, Value, Map) ->
    maps:update_with(Key, fun(Sum) -> Sum + Value end, Value, Map).

hog(End, Reductions) ->
    case now_ns() < End of
        true ->
            burn(1000),
            hog(End, Reductions);
        false ->
            {reductions, Count} = process_info(self(), reductions),
            counters:add(Reductions, 1, Count)
    end.

%% A reduction takes so long that the time of switching, which probes increase, does not matter.
burn(0) -> ok;
burn(N) ->
    erlang:phash2([{N, N}, {N, N}, {N, N}, {N, N}]),
    burn(N - 1).

spin() ->
    burn(1000),
    spin().

suspended_ns(Victim) ->
    true = erlang:suspend_process(Victim),
    Before = now_ns(),
    receive after 20 -> ok end,
    After = now_ns(),
    true = erlang:resume_process(Victim),
    receive after 5 -> ok end,
    After - Before.

wait_with_garbage(Table) ->
    [{all, [_ | _]}] = ets:lookup(Table, all),
    Before = now_ns(),
    receive after 20 -> ok end,
    now_ns() - Before.

occupy() ->
    spin_nif:spin(60000),
    receive after 10 -> ok end.

long_schedules() ->
    receive
        {monitor, _, long_schedule, Info} -> [proplists:get_value(timeout, Info) | long_schedules()]
    after 1000 -> []
    end.
