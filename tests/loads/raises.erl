%% SPDX-License-Identifier: Apache-2.0
%% One process that raises exceptions in different ways, and catches them: catch_NAME/1 calls
%% raise_NAME/1, which raises. The latter are of functions with and without a frame, by instructions,
%% BIFs and calls.
-module(raises).
-export([start/0, same/1]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    spawn_link(fun() -> repeat(0) end),
    fun() -> #{} end.

repeat(N) ->
    _ = [{catch_all(Name, 50), Name} || Name <- names()],
    repeat(N + 1).

names() ->
    [
        match, match_in_frame, clause, arithmetic, arithmetic_in_frame, light_bif, bif, throw, exit,
        head, element, binary, map, not_a_fun, arity
    ].

catch_all(match, N) -> catch_match(N);
catch_all(match_in_frame, N) -> catch_match_in_frame(N);
catch_all(clause, N) -> catch_clause(N);
catch_all(arithmetic, N) -> catch_arithmetic(N);
catch_all(arithmetic_in_frame, N) -> catch_arithmetic_in_frame(N);
catch_all(light_bif, N) -> catch_light_bif(N);
catch_all(bif, N) -> catch_bif(N);
catch_all(throw, N) -> catch_throw(N);
catch_all(exit, N) -> catch_exit(N);
catch_all(head, N) -> catch_head(N);
catch_all(element, N) -> catch_element(N);
catch_all(binary, N) -> catch_binary(N);
catch_all(map, N) -> catch_map(N);
catch_all(not_a_fun, N) -> catch_not_a_fun(N);
catch_all(arity, N) -> catch_arity(N).

-define(CATCH(Catch, Raise),
    Catch(0) ->
        ok;
    Catch(N) ->
        try
            Raise(N)
        catch
            _:_ -> ok
        end,
        Catch(N - 1)
).

?CATCH(catch_match, raise_match).
?CATCH(catch_match_in_frame, raise_match_in_frame).
?CATCH(catch_clause, raise_clause).
?CATCH(catch_arithmetic, raise_arithmetic).
?CATCH(catch_arithmetic_in_frame, raise_arithmetic_in_frame).
?CATCH(catch_light_bif, raise_light_bif).
?CATCH(catch_bif, raise_bif).
?CATCH(catch_throw, raise_throw).
?CATCH(catch_exit, raise_exit).
?CATCH(catch_head, raise_head).
?CATCH(catch_element, raise_element).
?CATCH(catch_binary, raise_binary).
?CATCH(catch_map, raise_map).
?CATCH(catch_not_a_fun, raise_not_a_fun).
?CATCH(catch_arity, raise_arity).

raise_match(N) ->
    {ok, Found} = N,
    Found.

raise_match_in_frame(N) ->
    First = ?MODULE:same(N),
    {ok, Found} = ?MODULE:same(First),
    {First, Found}.

raise_clause(none) ->
    ok.

raise_arithmetic(N) ->
    N + none.

raise_arithmetic_in_frame(N) ->
    Same = ?MODULE:same(N),
    {Same * none, Same}.

raise_light_bif(N) ->
    {binary_to_atom(N, utf8), N}.

raise_bif(N) ->
    {list_to_existing_atom([N, none]), N}.

raise_throw(N) ->
    throw(?MODULE:same(N)).

raise_exit(N) ->
    exit(?MODULE:same(N)).

raise_head(N) ->
    Same = ?MODULE:same(N),
    {hd(Same), Same}.

raise_element(N) ->
    Same = ?MODULE:same({N}),
    {element(N + 2, Same), Same}.

raise_binary(N) ->
    Same = ?MODULE:same(N),
    {<<Same/binary, 1>>, Same}.

raise_map(N) ->
    Same = ?MODULE:same(#{a => N}),
    {maps:get(b, Same), Same}.

raise_not_a_fun(N) ->
    Same = ?MODULE:same(N),
    {Same(1), Same}.

raise_arity(N) ->
    Fun = ?MODULE:same(fun(_) -> N end),
    {Fun(1, 2), N}.

same(Term) ->
    Term.
