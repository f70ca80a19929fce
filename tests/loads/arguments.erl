%% SPDX-License-Identifier: Apache-2.0
%% Calls of functions with known arguments. Does nothing until told one of:
%%
%%      terms      `each` calls of one/1 with each term of terms(), in each of 2 processes
%%      triples    `each` calls of three/3 with each of triples(), in each of 2 processes
%%      values     `each` calls of value/1 with each of values(), in each of 2 processes
%%      many       calls of one/1 with 5,000 different integers
%%      slow       three calls of slow/2 that sleep, and one that does not
%%
%% Option: each. The report has the number of finished requests.
-module(arguments).
-export([start/0]).

-define(PROCESSES, 2).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Each = load:option(each, Options, 500),
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Each, Done) end)),
    fun() -> #{done => counters:get(Done, 1)} end.

serve(Each, Done) ->
    receive
        terms -> in_processes(fun() -> [one(Term) || _ <- lists:seq(1, Each), Term <- terms()] end);
        triples -> in_processes(fun() -> triples(Each) end);
        values ->
            Values = values(),
            in_processes(fun() -> [value(Term) || _ <- lists:seq(1, Each), Term <- Values] end);
        many -> [one(N) || N <- lists:seq(1, 5000)];
        slow -> slow_calls()
    end,
    counters:add(Done, 1, 1),
    serve(Each, Done).

in_processes(Work) ->
    Monitors = [spawn_monitor(Work) || _ <- lists:seq(1, ?PROCESSES)],
    [receive {'DOWN', Monitor, process, _, normal} -> ok end || {_, Monitor} <- Monitors].

one(Term) -> {erlang:phash2(Term)}.

terms() ->
    Hundred = binary:copy(<<"0123456789">>, 10),
    <<_:2/binary, Part:5/binary, _/binary>> = Hundred,
    Grown = <<(binary:copy(<<"ab">>, 60))/binary, "grown">>,
    [
        ok, 'an atom', [], 42, -7, 1 bsl 70, -(1 bsl 62), 1.5, "text", [1, {a, b}], [a | b], {},
        {ok, {deep, {deeper, {deepest}}}}, #{a => [x]},
        maps:from_list([{N, N} || N <- lists:seq(1, 40)]), <<>>, <<"bytes">>, <<1, 2, 3>>, <<5:3>>,
        Hundred, Part, <<Grown/binary, "!">>, lists:seq(1, 100),
        list_to_tuple(lists:seq(1, 20)), fun erlang:phash2/1, make_ref()
    ].

value(Term) -> {erlang:phash2(Term)}.

%% Maps, numbers that are objects, pids, and what is long.
values() ->
    Tree = numbered(40),
    [
        #{}, #{id => 1, name => <<"a">>}, #{id => 2, name => <<"b">>}, #{id => #{id => 1}},
        #{<<"id">> => 1, <<"user">> => #{id => 1}}, #{{k, 1} => a, "key" => b, 1.5 => c},
        #{(1 bsl 70) => a, self() => b, [] => c}, numbered(32), Tree, Tree#{id => 1},
        (numbered(300))#{{k, 1} => a, <<"id">> => 1}, numbered(5000), [#{id => 1} | #{id => 1}],
        1.5, -0.25, 1.0e300, 0.0, 1 bsl 63, (1 bsl 63) - 1, -(1 bsl 63), 1 bsl 500, self(),
        whereis(init), list_to_tuple(lists:seq(1, 20)), binary:copy(<<"0123456789">>, 20)
    ].

numbered(Count) -> maps:from_list([{N, {value, N}} || N <- lists:seq(1, Count)]).

triples(Each) ->
    Triples = [
        {{ok, 1}, 42, <<"x">>}, {{ok, two}, 42, <<"xyz">>}, {{error, 1}, 42, <<"x">>},
        {{ok, 1, 2}, 42, <<"x">>}, {ok, 43, [1]}, {[a, b], 43, []}, {[a | b], 44, "str"},
        {<<"x">>, 42.0, -5}
    ],
    [three(A, B, C) || _ <- lists:seq(1, Each), {A, B, C} <- Triples].

three(A, B, C) -> {erlang:phash2({A, B, C})}.

%% Callers are followed from their second call on.
slow_calls() ->
    [slow(Milliseconds, {job, Milliseconds}) || Milliseconds <- [0, 20, 30, 40]].

slow(Milliseconds, _Job) -> {timer:sleep(Milliseconds)}.
