%% SPDX-License-Identifier: Apache-2.0
%% A small program for the demo: readers parse orders, a registered ledger books them.
-module(demo_load).
-export([start/0, reader/0, ledger/1]).

start() ->
    register(ledger, spawn(?MODULE, ledger, [#{}])),
    [proc_lib:spawn(?MODULE, reader, []) || _ <- lists:seq(1, erlang:system_info(schedulers))],
    io:put_chars("ready\n").

reader() ->
    Orders = [parse(order(N)) || N <- lists:seq(1, 50)],
    ledger ! {book, self(), lists:sort(Orders)},
    receive
        {booked, _Total} -> ok
    end,
    reader().

order(N) ->
    iolist_to_binary([integer_to_list(N), $,, "item ", integer_to_list(N rem 7), $,, "19.50"]).

parse(Line) ->
    [Number, Item, Price] = binary:split(Line, <<",">>, [global]),
    {Item, binary_to_integer(Number), round(binary_to_float(Price) * 100)}.

ledger(Books) ->
    receive
        {book, From, Orders} ->
            Booked = lists:foldl(fun book/2, Books, Orders),
            From ! {booked, maps:fold(fun(_, Sum, Total) -> Sum + Total end, 0, Booked)},
            ledger(Booked)
    end.

book({Item, Number, Cents}, Books) ->
    maps:update_with(Item, fun(Sum) -> Sum + Number * Cents end, Number * Cents, Books).
