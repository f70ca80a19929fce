%% SPDX-License-Identifier: Apache-2.0
%% A node whose `heartbeat` is late: docs/events.md, "A process that is late".
%%
%%      erlc rates.erl && erl -noinput -s rates
%%
%% Process `heartbeat` is to do a little work each 10 ms. Processes `quote_N` compute prices with
%% exchange rates, which one entry of an ETS table holds all of.
-module(rates).
-export([start/0]).

start() ->
    spawn(fun() ->
        ets:new(rates, [named_table, {read_concurrency, true}]),
        Rates = [{Id, {Id, Id / 7, []}} || Id <- lists:seq(1, 400000)],
        ets:insert(rates, {all, maps:from_list(Rates)}),
        [spawn(fun() -> register(name(N), self()), quotes(N) end) || N <- lists:seq(1, 4)],
        register(heartbeat, self()),
        heartbeat()
    end).

name(N) ->
    list_to_atom("quote_" ++ integer_to_list(N)).

heartbeat() ->
    receive after 10 -> ok end,
    lists:sum(lists:seq(1, 1000)),
    heartbeat().

quotes(N) ->
    receive after 20 -> ok end,
    price(N, 100),
    quotes(N + 4).

%% ets:lookup/2 copies what it finds: here the rates of all, of which one is needed.
price(Id, Amount) ->
    [{all, Rates}] = ets:lookup(rates, all),
    {_, Rate, _} = maps:get(Id rem 400000 + 1, Rates),
    Rate * Amount.
