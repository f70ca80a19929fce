%% SPDX-License-Identifier: Apache-2.0
%% Stacks with words that look like return addresses but are not.
%%
%% Process `fresh` makes a deep call, which leaves its return addresses below the stack. Then it
%% calls functions that allocate stack slots there for many registers, and take some time to fill
%% them, because they read the values from maps. Process `compiler` compiles a module again and
%% again, with the constructs of real code: catches, receives, funs and BIFs.
%%
%% The report has the rounds of both.
-module(callers).
-export([start/0, fresh/1, compile/2]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(2, []),
    register(fresh, spawn_link(?MODULE, fresh, [Done])),
    register(compiler, spawn_link(?MODULE, compile, [Done, source()])),
    fun() -> #{fresh => counters:get(Done, 1), compiled => counters:get(Done, 2)} end.

%% ---- stack slots that are not filled yet ----

fresh(Done) ->
    Small = maps:from_list([{{key, N}, N} || N <- lists:seq(1, 12)]),
    Large = maps:from_list([{{key, N}, N} || N <- lists:seq(1, 64)]),
    fresh(Done, Small, Large).

fresh(Done, Small, Large) ->
    [rounds(Map, 100) || Map <- [Small, Large]],
    counters:add(Done, 1, 1),
    fresh(Done, Small, Large).

rounds(_, 0) ->
    ok;
rounds(Map, N) ->
    _ = deep(12) + 1,
    _ = twelve(Map) + 1,
    _ = deep(12) + 1,
    _ = through_fun(fun twelve/1, Map) + 1,
    rounds(Map, N - 1).

deep(0) -> 0;
deep(N) -> 1 + deeper(N - 1).

deeper(0) -> 0;
deeper(N) -> 1 + deep(N - 1).

through_fun(Fun, Map) -> 1 + Fun(Map).

twelve(#{
    {key, 1} := A, {key, 2} := B, {key, 3} := C, {key, 4} := D, {key, 5} := E, {key, 6} := F,
    {key, 7} := G, {key, 8} := H, {key, 9} := I, {key, 10} := J, {key, 11} := K, {key, 12} := L
}) ->
    Sum = one(A) + one(L),
    Sum + sum([A, B, C, D, E, F, G, H, I, J, K, L]).

one(N) -> N + length(erlang:integer_to_list(N)).

sum([]) -> 0;
sum([N | Rest]) -> N + sum(Rest).

%% ---- the compiler ----

compile(Done, Source) ->
    {ok, Tokens, _} = erl_scan:string(Source),
    {ok, _, Code} = compile:forms(forms(Tokens, []), [binary, return_errors]),
    true = byte_size(Code) > 0,
    counters:add(Done, 2, 1),
    compile(Done, Source).

forms([], []) ->
    [];
forms([{dot, _} = Dot | Rest], Form) ->
    {ok, Parsed} = erl_parse:parse_form(lists:reverse([Dot | Form])),
    [Parsed | forms(Rest, [])];
forms([Token | Rest], Form) ->
    forms(Rest, [Token | Form]).

source() ->
    lists:flatten([
        "-module(made).\n-export([f1/2]).\n",
        [function(N) || N <- lists:seq(1, 20)],
        "f21(A, B) -> {A, B}.\n"
    ]).

function(N) ->
    io_lib:format(
        "f~b(A, B) when is_list(A) ->\n"
        "    try [{X, Y} || X <- A, Y <- B, X > Y] of\n"
        "        [{C, _} | _] when C > ~b -> f~b(B, [C | A]);\n"
        "        Other -> receive {Other, D} -> D after 10 -> lists:map(fun(X) -> {X, A} end, B) end\n"
        "    catch\n"
        "        error:Reason -> {Reason, f~b(tl(A), #{a => B})}\n"
        "    end;\n"
        "f~b(<<A:16, Rest/binary>>, B) ->\n"
        "    case Rest of\n"
        "        <<>> -> A + B * ~b;\n"
        "        _ -> [f~b(Rest, B + 1)]\n"
        "    end.\n",
        [N, N, N + 1, N + 1, N, N, N + 1]
    ).
