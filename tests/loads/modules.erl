%% SPDX-License-Identifier: Apache-2.0
%% A node with as much code as a large system: copies of one compiled module, each with its own
%% names. One process calls functions in all of them.
%%
%% Options: count (modules), functions (in each). The report has how many modules are loaded.
-module(modules).
-export([start/0, call/1, load/2]).

%% Placeholder for the number of a module, in its name and in those of its functions.
-define(NUMBER, "zQ0000").

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Count = load:option(count, Options, 3000),
    Functions = load:option(functions, Options, 60),
    Modules = load(Count, Functions),
    spawn_link(?MODULE, call, [Modules]),
    fun() -> #{modules => length(code:all_loaded()), generated => Count} end.

%% Load `Count` modules (10,000 at most) of so many functions; return {Module, Function} of each.
load(Count, Functions) ->
    Code = compiled(Functions),
    [loaded(N, Code) || N <- lists:seq(0, Count - 1)].

%% A node without these modules has a busy process as well.
call([]) ->
    _ = lists:sort(lists:seq(1, 1000)),
    call([]);
call(Modules) ->
    [true = Module:Function(1) > 0 || {Module, Function} <- Modules],
    call(Modules).

loaded(N, Code) ->
    Number = lists:flatten(io_lib:format("zQ~4..0b", [N])),
    Renamed = binary:replace(Code, <<?NUMBER>>, list_to_binary(Number), [global]),
    [Module, Function] = [list_to_atom(Name ++ Number) || Name <- ["generated_", "first_"]],
    {module, Module} = code:load_binary(Module, atom_to_list(Module) ++ ".erl", Renamed),
    {Module, Function}.

compiled(Functions) ->
    Module = list_to_atom("generated_" ++ ?NUMBER),
    First = list_to_atom("first_" ++ ?NUMBER),
    Last = {var, 1, 'X'},
    Forms = [
        {attribute, 1, file, {atom_to_list(Module) ++ ".erl", 1}},
        {attribute, 1, module, Module},
        {attribute, 2, export, [{First, 1}]},
        function(First, name(1), 3),
        {function, 1, name(Functions), 1, [{clause, 1, [Last], [], [Last]}]}
        | [function(name(K), name(K + 1), K * 10) || K <- lists:seq(1, Functions - 1)]
    ],
    {ok, Module, Code} = compile:forms(Forms, []),
    Code.

name(K) ->
    list_to_atom("function_" ++ ?NUMBER ++ "_" ++ integer_to_list(K)).

%% Name(X) -> Next(X + Line) + abs(X) * X. Each call is on its own line.
function(Name, Next, Line) ->
    X = {var, Line, 'X'},
    Sum = {op, Line + 1, '+', X, {integer, Line, Line}},
    Call = {call, Line + 1, {atom, Line + 1, Next}, [Sum]},
    Abs = {call, Line + 2, {atom, Line + 2, abs}, [X]},
    Body = {op, Line + 2, '+', Call, {op, Line + 2, '*', Abs, X}},
    {function, Line, Name, 1, [{clause, Line, [X], [], [Body]}]}.
