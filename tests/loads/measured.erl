%% SPDX-License-Identifier: Apache-2.0
%% Processes at rest, each with another kind of data. The report has what process_info says of each.
%% Items that make the process run are requested last, after its reductions.
-module(measured).
-export([start/0, hold/1, ten/10]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Kinds = [
        idle, heap_queue, off_heap_queue, fragments, fragment_binaries, binaries, appended,
        related, dictionary, tables, old_heap, collected, hibernated, suspended, marked, asked
    ],
    Others = [spawn(fun idle/0) || _ <- lists:seq(1, 40)],
    Processes = [{Kind, begin_one(Kind, Others)} || Kind <- Kinds],
    Saved = spawn(fun() ->
        process_flag(save_calls, 10),
        idle()
    end),
    receive
    after 500 -> ok
    end,
    fun() ->
        #{
            saved => text(Saved),
            processes => [describe(Kind, Pid) || {Kind, Pid} <- Processes]
        }
    end.

idle() ->
    receive
        stop -> ok
    end.

%% Start a process of this kind, and set up its surroundings.
begin_one(Kind, Others) ->
    Pid = spawn_opt(?MODULE, hold, [{Kind, Others}], options(Kind)),
    receive
    after 20 -> ok
    end,
    after_start(Kind, Pid, Others),
    Pid.

%% A large heap prevents the collection that would move fragments into it.
options(Kind) when Kind =:= fragments; Kind =:= fragment_binaries ->
    [{min_heap_size, 100000}, {message_queue_data, off_heap}];
options(off_heap_queue) ->
    [{message_queue_data, off_heap}];
options(_) ->
    [].

after_start(Kind, Pid, _) when Kind =:= heap_queue; Kind =:= off_heap_queue ->
    [Pid ! message(I) || I <- lists:seq(1, 3000)];
after_start(Kind, Pid, _) when Kind =:= fragments ->
    [Pid ! {take, lists:seq(1, 100 * I)} || I <- lists:seq(1, 3)];
after_start(fragment_binaries, Pid, _) ->
    Binary = binary:copy(<<"x">>, 5000),
    [Pid ! {take, [Binary, binary:copy(<<I>>, 1000 + I)]} || I <- lists:seq(1, 3)];
after_start(related, Pid, Others) ->
    [monitor_from(Other, Pid) || Other <- lists:sublist(Others, 17)];
after_start(suspended, Pid, _) ->
    erlang:suspend_process(Pid);
after_start(_, _, _) ->
    ok.

message(I) when I rem 3 =:= 0 -> I;
message(I) when I rem 3 =:= 1 -> {message, I, lists:seq(1, I rem 50)};
message(I) -> {binary, <<I:32, 0:2000>>, lists:duplicate(I rem 7, a)}.

%% Start a process that monitors `Pid` and waits.
monitor_from(_Other, Pid) ->
    spawn(fun() ->
        erlang:monitor(process, Pid),
        idle()
    end).

hold({idle, _}) ->
    idle();
hold({Kind, _}) when Kind =:= heap_queue; Kind =:= off_heap_queue ->
    idle();
hold({Kind, _}) when Kind =:= fragments; Kind =:= fragment_binaries ->
    Taken = [receive {take, What} -> What end || _ <- lists:seq(1, 3)],
    idle(),
    Taken;
hold({binaries, _}) ->
    Whole = binary:copy(<<"0123456789">>, 10000),
    Parts = [binary:part(Whole, I * 100, 99) || I <- lists:seq(0, 99)],
    Others = [binary:copy(<<I>>, 100 * I) || I <- lists:seq(1, 20)],
    idle(),
    {Parts, Others};
hold({appended, _}) ->
    Text = lists:foldl(fun(I, Acc) -> <<Acc/binary, I:64>> end, <<>>, lists:seq(1, 5000)),
    idle(),
    Text;
hold({related, Others}) ->
    [link(Other) || Other <- lists:sublist(Others, 31)],
    [erlang:monitor(process, Other) || Other <- lists:sublist(Others, 11, 23)],
    register(measured_related, spawn(fun idle/0)),
    [erlang:monitor(process, Name) || Name <- [measured_related, kernel_sup, init]],
    [erlang:alias() || _ <- lists:seq(1, 3)],
    erlang:monitor(process, hd(Others), [{alias, demonitor}]),
    erlang:monitor(process, hd(Others), [{tag, {a, "tag"}}]),
    idle();
hold({dictionary, _}) ->
    [put({key, I}, lists:seq(1, I)) || I <- lists:seq(1, 300)],
    idle();
hold({tables, _}) ->
    [ets:new(table, [public]) || _ <- lists:seq(1, 3)],
    idle();
hold({old_heap, _}) ->
    Kept = build(20, []),
    idle(),
    Kept;
hold({collected, _}) ->
    Kept = [lists:seq(1, 1000) || _ <- lists:seq(1, 20)],
    erlang:garbage_collect(),
    idle(),
    Kept;
hold({hibernated, _}) ->
    put(kept, lists:seq(1, 1000)),
    erlang:hibernate(?MODULE, hold, [{idle, []}]);
hold({suspended, _}) ->
    ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
hold({marked, [Other | _]}) ->
    %% A receive that starts at a marker; the marker is in the queue after these messages.
    [self() ! {ignored, I} || I <- lists:seq(1, 50)],
    Reference = erlang:monitor(process, Other),
    self() ! {ignored, 0},
    receive
        {'DOWN', Reference, _, _, _} -> ok
    end;
hold({asked, [Other | _]}) ->
    [self() ! {ignored, I} || I <- lists:seq(1, 50)],
    gen_server:call(Other, nothing, infinity).

build(0, Kept) -> Kept;
build(N, Kept) -> build(N - 1, [lists:seq(1, 2000) | Kept]).

%% More arguments than a process has room for while it is scheduled out.
ten(A, B, C, D, E, F, G, H, I, J) ->
    ten(B, C, D, E, F, G, H, I, J, A).

describe(Kind, Pid) ->
    {reductions, Reductions} = process_info(Pid, reductions),
    {message_queue_len, Length} = process_info(Pid, message_queue_len),
    [
        {memory, Memory},
        {total_heap_size, Heap},
        {stack_size, Stack},
        {binary, Binaries},
        {garbage_collection, Collection},
        {garbage_collection_info, Info}
    ] = process_info(Pid, [
        memory,
        total_heap_size,
        stack_size,
        binary,
        garbage_collection,
        garbage_collection_info
    ]),
    #{
        kind => Kind,
        pid => text(Pid),
        reductions => Reductions,
        msgq => Length,
        mbuf => value(mbuf_size, Info),
        heap => Heap,
        stack => Stack,
        young => value(heap_block_size, Info),
        old => value(old_heap_block_size, Info),
        bin_vheap => value(bin_vheap_size, Info),
        bin_old_vheap => value(bin_old_vheap_size, Info),
        minor_gcs => value(minor_gcs, Collection),
        memory => Memory,
        binaries => lists:sum([Size || {_, Size} <- lists:usort([{B, S} || {B, S, _} <- Binaries])])
    }.

value(Key, List) ->
    {Key, Value} = lists:keyfind(Key, 1, List),
    Value.

text(Pid) ->
    list_to_binary(pid_to_list(Pid)).
