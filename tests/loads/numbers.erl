%% SPDX-License-Identifier: Apache-2.0
%% A node whose numbers are compared with its own: a process `backlog` whose queue nobody reads, 30
%% processes with a queue and without a name, and a worker that makes garbage. `told` takes: queue,
%% which sends 1,000 messages to `backlog`; spawn, which starts 500 processes; atoms, which makes 1,000
%% atoms; fill, which fills an ETS table. Each report has what erlang:system_info/1 and others say.
-module(numbers).
-export([start/0, rest/0, work/1]).

start() ->
    load:start(?MODULE, fun(_) ->
        register(backlog, spawn(?MODULE, rest, [])),
        Crowd = [proc_lib:spawn(?MODULE, rest, []) || _ <- lists:seq(1, 30)],
        [Pid ! N || Pid <- Crowd, N <- lists:seq(1, 20)],
        spawn(?MODULE, work, [[]]),
        ets:new(filled, [named_table, public]),
        register(told, spawn(fun() -> obey(0) end)),
        fun report/0
    end).

rest() ->
    receive never -> ok end.

work(_) ->
    receive after 1 -> ok end,
    work([integer_to_list(N) || N <- lists:seq(1, 2000)]).

obey(Done) ->
    persistent_term:put(done, Done),
    receive
        queue -> [backlog ! N || N <- lists:seq(1, 1000)];
        spawn -> [spawn(?MODULE, rest, []) || _ <- lists:seq(1, 500)];
        atoms -> lists:foreach(fun make_atom/1, lists:seq(1, 1000));
        fill -> [ets:insert(filled, {N, <<N:256>>}) || N <- lists:seq(1, 50000)]
    end,
    obey(Done + 1).

make_atom(N) -> list_to_atom("atom of numbers " ++ integer_to_list(N)).

report() ->
    {message_queue_len, Length} = process_info(whereis(backlog), message_queue_len),
    {Collections, Words, _} = erlang:statistics(garbage_collection),
    Facts = [process_count, process_limit, port_count, port_limit, atom_count, atom_limit, schedulers],
    maps:from_list(
        [{Fact, erlang:system_info(Fact)} || Fact <- Facts] ++
            [
                {done, persistent_term:get(done, 0)},
                {queue, Length},
                {collections, Collections},
                {reclaimed, Words * erlang:system_info(wordsize)},
                {reductions, element(1, erlang:statistics(exact_reductions))},
                {ets_tables, length(ets:all())},
                {ets_bytes, 8 * lists:sum([S || T <- ets:all(), S <- [ets:info(T, memory)], is_integer(S)])}
            ]
    ).
