%% SPDX-License-Identifier: Apache-2.0
%% Known amounts of allocation and garbage collection. Does nothing until told one of:
%%
%%      allocate     the functions lists/1, tuples/1 and floats/1 allocate 6, 3 and 1 parts of
%%                   100 million words, in a pseudo-random order
%%      collect      slow collections, of a process with much live data
%%      binaries     4,000 off-heap binaries of 10 KB, each released at once
%%
%% The report has the number of finished requests, statistics(garbage_collection), and the
%% nanoseconds that all threads spent in collections, by microstate accounting.
-module(memory).
-export([start/0, lists/1, tuples/1, floats/1]).

-define(UNIT, 100). %% words

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    erlang:system_flag(microstate_accounting, true),
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Done) end)),
    fun() ->
        {Collections, Reclaimed, _} = erlang:statistics(garbage_collection),
        #{
            done => counters:get(Done, 1),
            gc => #{count => Collections, reclaimed => Reclaimed, ns => accounted()}
        }
    end.

accounted() ->
    Counts = [Gc || #{counters := #{gc := Gc}} <- erlang:statistics(microstate_accounting)],
    erlang:convert_time_unit(lists:sum(Counts), perf_counter, nanosecond).

serve(Done) ->
    receive
        What ->
            {Pid, Ref} = spawn_opt(fun() -> work(What) end,
                                   [monitor, {min_heap_size, 5000}]),
            receive {'DOWN', Ref, process, Pid, normal} -> ok end,
            counters:add(Done, 1, 1)
    end,
    serve(Done).

work(allocate) ->
    allocate(1000000);
work(collect) ->
    collect(25, lists:seq(1, 2000000));
work(binaries) ->
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

%% Each function allocates `Words` words, all in its own code.
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
