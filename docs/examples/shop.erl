%% SPDX-License-Identifier: Apache-2.0
%% A node on which one process floods another: docs/events.md, "A message storm".
%%
%%      erlc shop.erl && erl -noinput -s shop
%%
%% Processes `web` buy: they ask servers `stock` and `prices`, and tell `audit_log`. `importer` now
%% and then imports a file of new prices, and tells `audit_log` of each.
-module(shop).
-behaviour(gen_server).
-export([start/0, web/1]).
-export([init/1, handle_call/3, handle_cast/2]).

start() ->
    [{ok, _} = gen_server:start({local, Name}, ?MODULE, Name, []) || Name <- [stock, prices, audit_log]],
    [spawn(?MODULE, web, [N]) || N <- lists:seq(1, 10)],
    spawn(fun() -> register(importer, self()), import() end).

web(N) ->
    receive after 15 + N -> ok end,
    {ok, Price} = gen_server:call(prices, {get, N}),
    ok = gen_server:call(stock, {take, N}),
    gen_server:cast(audit_log, {sold, N, Price, erlang:timestamp()}),
    web(N).

import() ->
    receive after 1000 -> ok end,
    [import_row(Row) || Row <- lists:seq(1, 15000)],
    import().

import_row(Row) ->
    gen_server:cast(prices, {set, Row, Row * 100}),
    gen_server:cast(audit_log, {imported, Row, Row * 100, "new price"}),
    Row.

init(Name) ->
    {ok, {Name, #{}}}.

handle_call({get, Key}, _, {prices, Prices} = State) ->
    {reply, {ok, maps:get(Key, Prices, 100)}, State};
handle_call({take, Key}, _, {stock, Stock}) ->
    {reply, ok, {stock, Stock#{Key => maps:get(Key, Stock, 1000) - 1}}}.

handle_cast({set, Key, Price}, {prices, Prices}) ->
    {noreply, {prices, Prices#{Key => Price}}};
handle_cast(Entry, {audit_log, _} = State) ->
    _ = iolist_to_binary(io_lib:format("~p: ~p~n", [erlang:localtime(), Entry])),
    {noreply, State}.
