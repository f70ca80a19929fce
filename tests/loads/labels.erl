%% SPDX-License-Identifier: Apache-2.0
%% Processes whose dictionaries have their names, as real software writes them, and a disk log. The
%% report has the pid of each.
-module(labels).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Queue = {resource, <<"/">>, queue, <<"orders">>},
    Channel = {<<"10.0.0.5:4711 -> 10.0.0.1:5672">>, 3},
    Large = [{{filler, N}, N} || N <- lists:seq(1, 2000)],
    Kinds = [
        {queue, [{process_name, {rabbit_amqqueue_process, Queue}}]},
        {channel, [{process_name, {rabbit_channel, Channel}}]},
        {other, [{process_name, "of other software"}]},
        {shop, [{shop, {open, <<"north">>}}, {'$process_label', till}]},
        {till, [{'Elixir.Till.Id', 7}, {shop, closed}]},
        {labelled, [{'$process_label', {till, 7}}, {process_name, {rabbit_reader, <<"peer">>}}]},
        {request, [
            {'$logger_metadata$', #{application => shop, request_id => <<"F8x">>}},
            {big, maps:from_list([{key, 1} | [{N, N} || N <- lists:seq(1, 40)]])}
        ]},
        {text, [{<<"t4">>, 7}, {"t5", #{<<"id">> => 8, id => 9}}]},
        {grown, fun() -> put('$process_label', grown()) end},
        {large, Large ++ [{process_name, {rabbit_reader, <<"peer">>}}]}
    ],
    Others = [{Kind, spawn_with(Dictionary)} || {Kind, Dictionary} <- Kinds],
    register(the_channel, spawn_with([{process_name, {rabbit_channel, Channel}}])),
    File = "/tmp/beamflame-labels-" ++ os:getpid(),
    {ok, orders} = disk_log:open([{name, orders}, {file, File}]),
    ok = file:delete(File),
    {links, Links} = process_info(self(), links),
    [Log] = [P || P <- Links, is_pid(P), has_log(process_info(P, dictionary))],
    All = [{registered, whereis(the_channel)}, {log, Log} | Others],
    Pids = maps:from_list([{Kind, list_to_binary(pid_to_list(P))} || {Kind, P} <- All]),
    fun() -> #{pids => Pids} end.

has_log({dictionary, Dictionary}) -> lists:keymember(log, 1, Dictionary);
has_log(undefined) -> false.

%% A part of a binary that has moved since, because it was appended to.
grown() ->
    Part = append(<<>>, 8),
    true = byte_size(append(Part, 100000)) > 1000000,
    Part.

append(Binary, 0) -> Binary;
append(Binary, N) -> append(<<Binary/binary, "0123456789">>, N - 1).

spawn_with(Dictionary) ->
    Parent = self(),
    Pid = spawn(fun() ->
        if
            is_function(Dictionary) -> Dictionary();
            true -> [put(Key, Value) || {Key, Value} <- Dictionary]
        end,
        Parent ! {ready, self()},
        receive never -> ok end
    end),
    receive {ready, Pid} -> Pid end.
