%% SPDX-License-Identifier: Apache-2.0
%% Allocation and garbage collections of known amount. Does nothing until it is told what:
%%
%%      allocate     the functions lists/1, tuples/1 and floats/1 allocate 6, 3 and 1 parts of
%%                   10 million words, in an order that follows from nothing else
%%      collect      collections that take long: of a process with much live data, traced by the node
%%      binaries     4,000 off-heap binaries of 10 KB, each dropped at once
%%
%% The report has how many of these are done, statistics(garbage_collection), and what the trace
%% said: collections and their nanoseconds, in all.
-module(memory).
-export([start/0, lists/1, tuples/1, floats/1]).

-define(UNIT, 100). %% words

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(3, []), %% pieces of work, traced collections, their ns
    register(told, spawn_link(fun() -> serve(Done) end)),
    fun() ->
        {Collections, Reclaimed, _} = erlang:statistics(garbage_collection),
        #{
            done => counters:get(Done, 1),
            gc => #{count => Collections, reclaimed => Reclaimed},
            traced => #{count => counters:get(Done, 2), ns => counters:get(Done, 3)}
        }
    end.

serve(Done) ->
    receive
        What ->
            {Pid, Ref} = spawn_opt(fun() -> work(What, Done) end,
                                   [monitor, {min_heap_size, 5000}]),
            receive {'DOWN', Ref, process, Pid, normal} -> ok end,
            counters:add(Done, 1, 1)
    end,
    serve(Done).

work(allocate, _) ->
    allocate(100000);
work(collect, Done) ->
    Tracer = spawn_link(fun() -> trace(Done, #{}) end),
    erlang:trace(self(), true, [garbage_collection, monotonic_timestamp, {tracer, Tracer}]),
    collect(25, lists:seq(1, 2000000)),
    erlang:trace(self(), false, [garbage_collection, monotonic_timestamp]),
    Delivered = erlang:trace_delivered(self()),
    receive {trace_delivered, _, Delivered} -> ok end,
    Tracer ! {stop, self()},
    receive stopped -> ok end;
work(binaries, _) ->
    drop_binaries(4000).

allocate(0) ->
    ok;
allocate(N) ->
    case erlang:phash2(N, 10) of
        At when At < 6 -> lists(?UNIT);
        At when At < 9 -> tuples(?UNIT);
        _ -> floats(?UNIT)
    end,
    allocate(N - 1).

%% Each allocates Words words, all in its own code.
lists(Words) -> list(Words div 2).

list(0) -> [];
list(N) -> [N | list(N - 1)].

tuples(Words) when Words =< 0 -> ok;
tuples(Words) ->
    {Words, a, b, c, d, e, f, g, h} = make_tuple(Words),
    tuples(Words - 10).

make_tuple(Words) ->
    {Words, a, b, c, d, e, f, g, h}.

floats(Words) -> add(Words div 2, 0.5).

add(0, Sum) -> Sum;
add(N, Sum) -> add(N - 1, next(Sum)).

next(Sum) when is_float(Sum) -> Sum + 1.0.

collect(0, Live) ->
    length(Live);
collect(N, Live) ->
    erlang:garbage_collect(),
    collect(N - 1, Live).

drop_binaries(0) ->
    ok;
drop_binaries(N) ->
    10000 = byte_size(binary:copy(<<N:64>>, 1250)),
    drop_binaries(N - 1).

trace(Done, Started) ->
    receive
        {trace_ts, Pid, Start, _, Time} when Start =:= gc_minor_start; Start =:= gc_major_start ->
            trace(Done, Started#{Pid => Time});
        {trace_ts, Pid, End, _, Time} when End =:= gc_minor_end; End =:= gc_major_end ->
            counters:add(Done, 2, 1),
            Ns = erlang:convert_time_unit(Time - maps:get(Pid, Started), native, nanosecond),
            counters:add(Done, 3, Ns),
            trace(Done, Started);
        {stop, From} ->
            From ! stopped
    end.
