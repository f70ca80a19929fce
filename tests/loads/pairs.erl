%% SPDX-License-Identifier: Apache-2.0
%% Pairs of processes that send at known rates, and processes that send hardly ever. Does nothing
%% until told `run`: then it sends for some seconds.
%%
%%      from_1 ... from_4 -> to_1 ... to_4    steadily, 500, 1000, 2000, 4000 messages a second
%%      from_5 ... from_8 -> to_5 ... to_8    as many, but only in each third 200 ms
%%      rare_N -> to_rare                     3 messages each
%%
%% `busy` sends nothing, and uses CPU time for half of the time.
%%
%% The report has the number of messages of each pair so far, by "sender -> receiver".
-module(pairs).
-export([start/0]).

-define(SECONDS, 4).
-define(RARE, 40).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Counts = counters:new(9, []),
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Counts, Done) end)),
    fun() -> #{done => counters:get(Done, 1), results => results(Counts)} end.

results(Counts) ->
    Sums = [{edge(N, N), counters:get(Counts, N)} || N <- lists:seq(1, 8)],
    maps:from_list([{<<"rare">>, counters:get(Counts, 9)} | Sums]).

edge(From, To) ->
    iolist_to_binary(io_lib:format("from_~w -> to_~w", [From, To])).

serve(Counts, Done) ->
    receive
        run ->
            Workers = [rare(Counts), named(busy, fun busy/0) | [pair(N, Counts) || N <- lists:seq(1, 8)]],
            [receive {'DOWN', Ref, _, _, _} -> ok end || Ref <- Workers],
            counters:add(Done, 1, 1)
    end,
    serve(Counts, Done).

%% Run `Work` in a process of this name. Return its monitor.
named(Name, Work) ->
    {_, Ref} = spawn_monitor(fun() -> register(Name, self()), Work() end),
    Ref.

%% Work for half of the time: the budget is a share of the node's CPU time.
busy() ->
    busy(now_ms() + ?SECONDS * 1000).

busy(End) ->
    spin_nif:spin(2000),
    receive after 2 -> ok end,
    case now_ms() < End of
        true -> busy(End);
        false -> ok
    end.

name(Prefix, N) ->
    list_to_atom(Prefix ++ integer_to_list(N)).

pair(N, Counts) ->
    Batch = 1 bsl ((N - 1) rem 4),
    named(name("from_", N), fun() ->
        To = spawn_link(fun() -> register(name("to_", N), self()), take() end),
        send(To, N, Batch, Counts, now_ms() + ?SECONDS * 1000),
        unlink(To),
        To ! stop
    end).

take() ->
    receive
        stop -> ok;
        _ -> take()
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).

%% Send a batch every 2 ms until `End`.
send(To, N, Batch, Counts, End) ->
    Now = now_ms(),
    case N =< 4 orelse (End - Now) div 200 rem 3 =:= N rem 3 of
        true ->
            [To ! {N, I} || I <- lists:seq(1, Batch)],
            counters:add(Counts, N, Batch);
        false ->
            ok
    end,
    receive after 2 -> ok end,
    case Now < End of
        true -> send(To, N, Batch, Counts, End);
        false -> ok
    end.

rare(Counts) ->
    named(rare, fun() ->
        To = spawn_link(fun() -> register(to_rare, self()), take() end),
        [seldom(N, To, Counts) || N <- lists:seq(1, ?RARE)],
        timer:sleep(?SECONDS * 1000),
        unlink(To),
        To ! stop
    end).

seldom(N, To, Counts) ->
    spawn_link(fun() ->
        register(name("rare_", N), self()),
        [begin
             timer:sleep(rand:uniform(1000)),
             To ! I,
             counters:add(Counts, 9, 1)
         end || I <- lists:seq(1, 3)]
    end).
