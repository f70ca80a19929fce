%% SPDX-License-Identifier: Apache-2.0
%% All microstates of schedulers: Erlang code, BIFs, NIFs, minor and major garbage collections,
%% ports, polling, timers, messages between schedulers, auxiliary work (for deleted ETS tables),
%% work for dirty schedulers, and idle time between. The report has the VM's own microstate
%% accounting of each thread since the start, in nanoseconds.
%%
%% Options: parts (names; by default all but `collections`, which makes little else than large
%% collections, hardly slowed by tracing); trace (on or off): the report then also has the time of
%% minor and major collections, from the garbage collection trace of the parts.
-module(states).
-export([start/0, awake/1]).

start() ->
    load:start(?MODULE, fun main/1).

names() ->
    [
        erlang, garbage, major, hibernate, socket, program, timers, messages, ets, tables, nif,
        dirty_nif
    ].

main(Options) ->
    erlang:system_flag(microstate_accounting, true),
    Parts = [spawn_link(fun() -> part(Name) end) || Name <- load:option(parts, Options, names())],
    Collections = counters:new(2, []),
    case load:option(trace, Options, off) of
        on -> trace(Parts, Collections);
        off -> ok
    end,
    fun() ->
        #{
            threads => [thread(T) || T <- erlang:statistics(microstate_accounting)],
            collections => #{minor => counters:get(Collections, 1), major => counters:get(Collections, 2)}
        }
    end.

%% The tracer has a heap that it does not fill, so it makes no collections.
trace(Parts, Collections) ->
    Heap = [link, {min_heap_size, 4000000}],
    Tracer = spawn_opt(fun() -> collections(#{}, Collections) end, Heap),
    Flags = [garbage_collection, monotonic_timestamp, {tracer, Tracer}],
    [erlang:trace(Part, true, Flags) || Part <- Parts].

%% Sum up the time from the start to the end of each collection.
collections(Started, Collections) ->
    receive
        {trace_ts, Pid, Event, _Info, Time} when Event =:= gc_minor_start; Event =:= gc_major_start ->
            collections(Started#{Pid => Time}, Collections);
        {trace_ts, Pid, Event, _Info, Time} ->
            Taken = erlang:convert_time_unit(Time - map_get(Pid, Started), native, nanosecond),
            counters:add(Collections, case Event of gc_minor_end -> 1; gc_major_end -> 2 end, Taken),
            collections(Started, Collections)
    end.

thread(#{type := Type, id := Id, counters := Counters}) ->
    Nanoseconds = fun(_State, Count) ->
        erlang:convert_time_unit(Count, perf_counter, nanosecond)
    end,
    #{type => Type, id => Id, counters => maps:map(Nanoseconds, Counters)}.

%% Work for a while, then rest.
rounds(Work, Milliseconds, Rest) ->
    Until = erlang:monotonic_time(millisecond) + Milliseconds,
    phases:repeat(Work, Until * 1000000),
    timer:sleep(Rest),
    rounds(Work, Milliseconds, Rest).

part(erlang) ->
    rounds(fun() -> phases:work(arithmetic) end, 3, 37);
part(garbage) ->
    rounds(fun() -> [{K, <<K:64>>} || K <- lists:seq(1, 2000)] end, 4, 36);
part(collections) ->
    rounds(fun() -> kept(7000) end, 30, 10);
part(major) ->
    Kept = [{K, integer_to_list(K)} || K <- lists:seq(1, 50000)],
    rounds(fun() -> true = erlang:garbage_collect(), hd(Kept) end, 4, 56);
part(hibernate) ->
    Kept = [{K, integer_to_list(K)} || K <- lists:seq(1, 20000)],
    hibernations(Kept);
part(ets) ->
    Table = ets:new(?MODULE, [set, public]),
    [ets:insert(Table, {K, K, <<"value">>}) || K <- lists:seq(1, 1000)],
    rounds(fun() -> [ets:lookup(Table, K) || K <- lists:seq(1, 200)] end, 3, 47);
part(nif) ->
    rounds(fun() -> phases:work(nif) end, 2, 58);
part(dirty_nif) ->
    rounds(fun() -> phases:work(dirty_nif) end, 5, 95);
part(timers) ->
    timers(300);
part(messages) ->
    Receiver = spawn_opt(fun receive_all/0, [link, {scheduler, 2}]),
    process_flag(scheduler, 1),
    rounds(fun() -> [Receiver ! {K, lists:duplicate(20, K)} || K <- lists:seq(1, 50)] end, 2, 28);
part(tables) ->
    rounds(fun() -> [ets:delete(ets:new(?MODULE, [])) || _ <- lists:seq(1, 20)] end, 8, 22);
part(socket) ->
    {ok, Listener} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listener),
    spawn_link(fun() ->
        {ok, Socket} = gen_tcp:accept(Listener),
        echo(Socket)
    end),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    Text = binary:copy(<<"x">>, 2000),
    rounds(
        fun() ->
            ok = gen_tcp:send(Socket, Text),
            {ok, Text} = gen_tcp:recv(Socket, 2000)
        end,
        15, 25
    );
part(program) ->
    Port = open_port({spawn, "cat"}, [binary, stream]),
    rounds(
        fun() ->
            true = port_command(Port, <<"line\n">>),
            receive {Port, {data, _}} -> ok end
        end,
        2, 48
    ).

%% Build a list of which all is live, also on the stack, when it is collected. Minor collections
%% happen while it grows.
kept(0) ->
    true = erlang:garbage_collect(),
    [];
kept(N) ->
    Element = {N, <<N:64>>},
    [Element | kept(N - 1)].

hibernations(Kept) ->
    erlang:send_after(15, self(), wake_up),
    erlang:hibernate(?MODULE, awake, [Kept]).

awake(Kept) ->
    receive wake_up -> hibernations(Kept) end.

timers(0) ->
    receive never -> ok end;
timers(N) ->
    spawn_link(fun() -> ticks(N rem 10 + 5) end),
    timers(N - 1).

ticks(Milliseconds) ->
    erlang:send_after(Milliseconds, self(), tick),
    receive tick -> ticks(Milliseconds) end.

receive_all() ->
    receive _ -> receive_all() end.

echo(Socket) ->
    {ok, Data} = gen_tcp:recv(Socket, 0),
    ok = gen_tcp:send(Socket, Data),
    echo(Socket).
