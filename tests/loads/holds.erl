%% SPDX-License-Identifier: Apache-2.0
%% Memory of each kind that is held until the node ends: large and small binaries, heaps, an ETS
%% table, atoms. 19 of 20 objects of the table were deleted, so its carriers are nearly empty, and
%% go to the pool.
%%
%% Options: megabytes (of each kind). The report has what the node says of its allocators, its
%% memory and its tables.
-module(holds).
-export([start/0, hold/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Megabytes = load:option(megabytes, Options, 20),
    Self = self(),
    spawn(fun() -> keep(Megabytes, Self) end),
    receive kept -> ok end,
    timer:sleep(300),
    fun() ->
        #{
            allocators => maps:from_list(lists:flatmap(fun allocator/1, allocators())),
            memory => maps:from_list(erlang:memory()),
            tables => #{
                atoms => [erlang:system_info(I) || I <- [atom_count, atom_limit]],
                processes => [erlang:system_info(I) || I <- [process_count, process_limit]],
                ports => [erlang:system_info(I) || I <- [port_count, port_limit]]
            }
        }
    end.

%% Make all that is held, and hibernate: no heap has garbage that a later collection would remove.
keep(Megabytes, Parent) ->
    Large = [binary:copy(<<"0123456789abcdef">>, 65536) || _ <- lists:seq(1, Megabytes)],
    Small = [binary:copy(<<"x">>, 1000) || _ <- lists:seq(1, 1000 * Megabytes)],
    Atoms = [list_to_atom("held_" ++ integer_to_list(N)) || N <- lists:seq(1, 5000)],
    Table = fill(1000 * Megabytes),
    [spawn(erlang, hibernate, [?MODULE, hold, [lists:seq(1, 60000)]])
     || _ <- lists:seq(1, Megabytes)],
    Parent ! kept,
    erlang:hibernate(?MODULE, hold, [{Large, Small, Atoms, Table}]).

hold(Held) ->
    receive stop -> Held end.

fill(Count) ->
    Table = ets:new(held, [public]),
    Object = list_to_tuple(lists:seq(1, 125)),
    [ets:insert(Table, {N, Object}) || N <- lists:seq(1, Count)],
    [ets:delete(Table, N) || N <- lists:seq(1, Count), N rem 20 > 0],
    Table.

allocators() ->
    [A || A <- erlang:system_info(alloc_util_allocators), A =/= test_alloc].

%% The sums over all instances; nothing for a disabled allocator.
allocator(Name) ->
    case erlang:system_info({allocator_sizes, Name}) of
        false ->
            [];
        Instances ->
            Values = lists:append([Info || {instance, _, Info} <- Instances]),
            [{Name, #{
                instances => length(Instances),
                multi => carriers(mbcs, Values),
                single => carriers(sbcs, Values),
                pooled => carriers(mbcs_pool, Values),
                blocks => lists:sum([blocks(Kind, Values) || Kind <- [mbcs, sbcs, mbcs_pool]])
            }}]
    end.

carriers(Kind, Values) ->
    lists:sum([element(2, lists:keyfind(carriers_size, 1, Sizes))
               || {K, Sizes} <- Values, K =:= Kind]).

blocks(Kind, Values) ->
    lists:sum([element(2, lists:keyfind(size, 1, Sizes))
               || {K, Info} <- Values, K =:= Kind, {blocks, Types} <- Info, {_, Sizes} <- Types]).
