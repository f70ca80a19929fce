%% SPDX-License-Identifier: Apache-2.0
%% An idle node with conditions that begin and end on request; triggers wait for them.
%%
%%      queue    5000 messages wait for process `patient`; drain: it takes them
%%      burn     one process per scheduler computes
%%      crowd    40 such processes per scheduler
%%      collect  a process does hardly anything but collect garbage
%%      hold     300 MB of binaries
%%      quiet    ends all of that
%%      tick     process `ticker` works for a third of the time from then on, to be sampled
%%
%% The report has the number of requests.
-module(alarms).
-export([start/0, patient/0, ticker/0, burn/1, collect/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(1, []),
    register(patient, spawn_link(?MODULE, patient, [])),
    register(told, spawn_link(fun() -> serve(Done, [], []) end)),
    fun() -> #{done => counters:get(Done, 1)} end.

serve(Done, Workers, Held) ->
    {Begun, Kept} =
        receive
            queue ->
                [patient ! {item, N} || N <- lists:seq(1, 5000)],
                {Workers, Held};
            drain ->
                patient ! drain,
                {Workers, Held};
            burn ->
                {start_workers(burn, erlang:system_info(schedulers_online)), Held};
            crowd ->
                {start_workers(burn, 40 * erlang:system_info(schedulers_online)), Held};
            collect ->
                {start_workers(collect, 1), Held};
            hold ->
                {Workers, [binary:copy(<<N>>, 1000000) || N <- lists:seq(1, 300)]};
            tick ->
                register(ticker, spawn_link(?MODULE, ticker, [])),
                {Workers, Held};
            quiet ->
                [exit(Pid, kill) || Pid <- Workers],
                {[], []}
        end,
    erlang:garbage_collect(),
    counters:add(Done, 1, 1),
    serve(Done, Begun, Kept).

start_workers(What, Count) ->
    [spawn(?MODULE, What, [0]) || _ <- lists:seq(1, Count)].

%% Receives `drain` only.
patient() ->
    receive drain -> drain() end,
    patient().

drain() ->
    receive
        {item, _} -> drain()
    after 0 -> ok
    end.

ticker() ->
    count(3000000, 0),
    receive after 15 -> ok end,
    ticker().

burn(N) ->
    burn(count(1000, N)).

count(0, Sum) -> Sum;
count(N, Sum) -> count(N - 1, Sum + N).

collect(_) ->
    collect_all([{N, integer_to_list(N)} || N <- lists:seq(1, 50000)]).

collect_all(Kept) ->
    true = erlang:garbage_collect(),
    collect_all(Kept).
