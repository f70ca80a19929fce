%% SPDX-License-Identifier: Apache-2.0
%% When told `work`, processes each use or accumulate one resource: reductions, messages in the
%% queue, binaries by sub-binaries, heap. The report has the number of finished requests, and the
%% reductions of the newest processes.
-module(growth).
-export([start/0, spin/2, slow/1, leak/2, build/2, drop/1]).

-define(KINDS, [growth_reductions, growth_messages, growth_binaries, growth_heap]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Done) end)),
    fun() ->
        #{
            done => counters:get(Done, 1),
            reductions => maps:from_list([{Kind, reductions(whereis(Kind))} || Kind <- ?KINDS])
        }
    end.

reductions(undefined) ->
    0;
reductions(Pid) ->
    {reductions, Reductions} = process_info(Pid, reductions),
    Reductions.

serve(Done) ->
    receive
        work ->
            [work(Kind) || Kind <- ?KINDS],
            counters:add(Done, 1, 1)
    end,
    serve(Done).

%% Run one process after the other; each waits when it is done, and does not end.
work(Kind) ->
    Self = self(),
    Pid = spawn(fun() -> work(Kind, Self) end),
    feed(Kind, Pid),
    receive
        {done, Pid} -> ok
    end.

work(Kind, Parent) ->
    register(Kind, self()),
    Kept = use(Kind),
    Parent ! {done, self()},
    receive
        stop -> Kept
    end.

%% Send more messages than the process can handle meanwhile.
feed(growth_messages, Pid) ->
    [Pid ! {item, I} || I <- lists:seq(1, 2000)];
feed(_, _) ->
    ok.

use(growth_reductions) ->
    spin(200000, 0);
use(growth_messages) ->
    slow(2000);
use(growth_binaries) ->
    leak(1500, []);
use(growth_heap) ->
    drop(build(3000000, [])).

spin(0, Sum) ->
    Sum;
spin(N, Sum) ->
    spin(N - 1, count(2000, Sum) + length(integer_to_list(N))).

count(0, Sum) -> Sum;
count(N, Sum) -> count(N - 1, Sum + N).

slow(0) ->
    ok;
slow(N) ->
    receive
        {item, I} -> count(50000, I)
    end,
    slow(N - 1).

%% Keep a sub-binary of each binary, and with it the whole binary (up to 64 bytes would be copied).
leak(0, Kept) ->
    Kept;
leak(N, Kept) ->
    Binary = binary:copy(<<N:64>>, 2500),
    count(50000, 0),
    leak(N - 1, [binary:part(Binary, 8, 100) | Kept]).

build(0, List) -> List;
build(N, List) -> build(N - 1, [{N, N} | List]).

%% Release the heap, then stay busy so long that a metric which is read once a second is read
%% several times.
drop(_) ->
    erlang:garbage_collect(),
    Until = erlang:monotonic_time(nanosecond) + 5000000000,
    phases:repeat(fun() -> count(50000, 0) end, Until),
    dropped.
