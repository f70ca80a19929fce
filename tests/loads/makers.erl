%% SPDX-License-Identifier: Apache-2.0
%% Calls that allocate a known number of words. Does nothing until told one of:
%%
%%      flat       5,000 calls of flat/1, which allocates 9 words
%%      listed     1,000 calls of listed/1, which allocates 200 words with its callees
%%      kept       the same, and all results are kept until the end
%%      waited     20 calls of waited/1, which allocates 9 words and sleeps
%%      traced     tprof's number of words of flat/1
%%
%% The report has the number of finished requests, and what tprof has said: words of 1,000 calls.
-module(makers).
-export([start/0, flats/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Done = counters:new(1, []),
    Traced = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Traced, Done) end)),
    fun() -> #{done => counters:get(Done, 1), traced => counters:get(Traced, 1)} end.

serve(Traced, Done) ->
    receive
        flat -> flats(5000);
        listed -> repeat(1000, fun() -> 100 = length(listed(100)) end);
        kept -> 1000 = length([listed(100) || _ <- lists:seq(1, 1000)]);
        waited -> repeat(20, fun() -> {_, _, _} = waited(1) end);
        traced -> counters:put(Traced, 1, traced())
    end,
    counters:add(Done, 1, 1),
    serve(Traced, Done).

traced() ->
    {ok, {call_memory, Rows}} = tprof:profile(?MODULE, flats, [1000],
                                              #{type => call_memory, report => return}),
    [Words] = [lists:sum([W || {_, _, W} <- Of]) || {?MODULE, flat, 1, Of} <- Rows],
    Words.

repeat(0, _) -> ok;
repeat(Times, Work) ->
    Work(),
    repeat(Times - 1, Work).

flats(0) -> ok;
flats(Times) ->
    {_, [_], {_, _}} = flat(Times),
    flats(Times - 1).

%% ---- calls ----

%% A tuple of 3, a cell and a tuple of 2 take 4, 2 and 3 words.
flat(X) -> {X, [X], {X, X}}.

listed(1) -> [1];
listed(Length) -> [Length | rest(Length - 1)].

rest(0) -> [];
rest(Length) -> [Length | rest(Length - 1)].

waited(X) ->
    receive
    after 1 -> ok
    end,
    {X, [X], {X, X}}.
