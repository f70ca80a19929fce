%% SPDX-License-Identifier: Apache-2.0
%% A process that works on ETS tables. Each table has a function of its own on the stack.
%%
%% `process=sharer` does the same work on four tables of the same content, by 4:3:2:1: `north` and
%% `south` have names, `east` and `west` are known only by their identifiers.
%%
%% `process=mixer` calls most functions that take a table, on `large`, which has a name, and on
%% `ordered`, which has none. Some take several turns. It also makes tables `brief` that last for a
%% moment, and calls functions that take tables or their names and do not work on the tables.
%%
%% The report has the rounds.
-module(busytables).
-export([start/0, sharer/1, mixer/1]).

-define(ROWS, 300).
-define(MANY, 20000).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Done = counters:new(1, []),
    Name = load:option(process, Options, sharer),
    register(Name, spawn_link(?MODULE, Name, [Done])),
    fun() -> #{rounds => counters:get(Done, 1)} end.

%% ---- known shares ----

sharer(Done) ->
    north = ets:new(north, [named_table]),
    south = ets:new(south, [named_table, public]),
    Tables = {north, south, ets:new(east, [private]), ets:new(west, [public])},
    [ets:insert(T, {N, N rem 7, <<"row">>}) || T <- tuple_to_list(Tables), N <- lists:seq(1, ?ROWS)],
    share(Done, Tables).

share(Done, {North, South, East, West} = Tables) ->
    on_north(North, 4),
    on_south(South, 3),
    on_east(East, 2),
    on_west(West, 1),
    counters:add(Done, 1, 1),
    share(Done, Tables).

on_north(T, N) -> work(T, N), ok.
on_south(T, N) -> work(T, N), ok.
on_east(T, N) -> work(T, N), ok.
on_west(T, N) -> work(T, N), ok.

%% Most of the time is in the function that looks at all rows: to find a table by its name takes
%% longer than by its identifier.
work(_, 0) ->
    ok;
work(T, N) ->
    [_ | _] = ets:select(T, [{{'$1', '$2', '_'}, [{'>', '$2', 5}], ['$1']}]),
    [[{_, 3, _}] = ets:lookup(T, Key) || Key <- lists:seq(3, 70, 7)],
    [ets:insert(T, {Key, Key rem 7, <<"row">>}) || Key <- lists:seq(1, 10)],
    work(T, N - 1).

%% ---- most functions ----

mixer(Done) ->
    large = ets:new(large, [named_table, public]),
    Ordered = ets:new(ordered, [ordered_set, public]),
    [ets:insert(T, [{N, N, N} || N <- lists:seq(1, ?MANY)]) || T <- [large, Ordered]],
    mix(Done, large, Ordered).

mix(Done, Large, Ordered) ->
    on_large(Large),
    on_ordered(Ordered),
    on_brief(20),
    on_none(Large, Ordered, 3000),
    counters:add(Done, 1, 1),
    mix(Done, Large, Ordered).

on_large(T) -> all(T), ok.
on_ordered(T) -> all(T), ok.

all(T) ->
    rows(T, 500),
    continued(T),
    traversed(T),
    ets:insert(T, [{N, N, N} || N <- lists:seq(?MANY, ?MANY + 10000)]),
    10001 = ets:select_delete(T, [{{'$1', '_', '_'}, [{'>=', '$1', ?MANY}], [true]}]),
    true = ets:insert_new(T, {?MANY, ?MANY, ?MANY}),
    ok.

rows(_, 0) ->
    ok;
rows(T, N) ->
    true = ets:member(T, N),
    N = ets:lookup_element(T, N, 2),
    true = ets:update_element(T, N, {2, N}),
    _ = ets:update_counter(T, N, {3, 1}),
    [Row] = ets:take(T, N),
    true = ets:insert(T, Row),
    _ = ets:next(T, N),
    _ = ets:first(T),
    _ = ets:info(T, size),
    rows(T, N - 1).

%% Functions that are interrupted, and those that continue them.
continued(T) ->
    ?MANY = ets:select_count(T, [{'_', [], [true]}]),
    ?MANY = length(ets:tab2list(T)),
    ?MANY = length(ets:match(T, {'$1', '_', '_'})),
    ?MANY = chunks(ets:select(T, [{'_', [], ['$_']}], 100), 0),
    0 = ets:select_replace(T, [{{'$1', none, '_'}, [], ['$_']}]),
    ok.

chunks('$end_of_table', Count) -> Count;
chunks({Rows, Continuation}, Count) -> chunks(ets:select(Continuation), Count + length(Rows)).

traversed(T) ->
    true = ets:foldl(fun({N, _, _}, Sum) -> N + Sum end, 0, T) > 0.

on_brief(0) ->
    ok;
on_brief(N) ->
    T = ets:new(brief, []),
    ets:insert(T, [{Key} || Key <- lists:seq(1, 100)]),
    ets:delete(T),
    on_brief(N - 1).

%% Functions that take a table, or its name, and do not work on it.
on_none(_, _, 0) ->
    ok;
on_none(Name, T, N) ->
    _ = erlang:phash2(T),
    _ = ets:whereis(Name),
    _ = term_to_binary({T, Name}),
    _ = atom_to_list(Name),
    _ = ets:is_compiled_ms(T),
    _ = ets:match_spec_compile([{{'$1', Name}, [], ['$1']}]),
    on_none(Name, T, N - 1),
    ok.
