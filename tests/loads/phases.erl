%% SPDX-License-Identifier: Apache-2.0
%% One process that runs phases in turn, each for its own slice of time, and measures the time it
%% spent in each: the truth that a profile must show.
%%
%% Options: slice (ms), phases (names, all by default). The report has, for each phase, its elapsed
%% time, and the CPU time that the whole node used meanwhile (the truth on a machine with other busy
%% programs; start the node with +sbwt none).
%%
%% The function phase_NAME is on the stack while its phase runs: it uses the result of its callee,
%% so the call is not a tail call. Other modules may use the work (work/1).
-module(phases).
-export([start/0, names/0, work/1, repeat/2]).

-define(DEEP, 50000).

start() ->
    load:start(?MODULE, fun main/1).

names() ->
    [
        arithmetic, body_recursion, bignums, bifs, garbage, ets, matching, maps, bit_syntax, nif,
        dirty_nif, selective_receive, compare, deep_recursion
    ].

main(Options) ->
    Slice = load:option(slice, Options, 25) * 1000000,
    Names = load:option(phases, Options, names()),
    Indexed = lists:zip(lists:seq(1, length(Names)), Names),
    Time = counters:new(length(Names), []),
    Cpu = counters:new(length(Names), []),
    Worker = spawn_link(fun() ->
        prepare(),
        rounds([{Ix, phase(Name)} || {Ix, Name} <- Indexed], Slice, Time, Cpu)
    end),
    fun() ->
        #{
            pid => list_to_binary(pid_to_list(Worker)),
            time_ns => maps:from_list([{N, counters:get(Time, Ix)} || {Ix, N} <- Indexed]),
            cpu_ns => maps:from_list([{N, counters:get(Cpu, Ix)} || {Ix, N} <- Indexed])
        }
    end.

rounds(Phases, Slice, Time, Cpu) ->
    [measure(Ix, Phase, Slice, Time, Cpu) || {Ix, Phase} <- Phases],
    rounds(Phases, Slice, Time, Cpu).

measure(Ix, Phase, Slice, Time, Cpu) ->
    Cpu0 = load:cpu_ns(),
    Time0 = now_ns(),
    {done, _} = Phase(Time0 + Slice),
    Time1 = now_ns(),
    counters:add(Cpu, Ix, load:cpu_ns() - Cpu0),
    counters:add(Time, Ix, Time1 - Time0).

now_ns() ->
    erlang:monotonic_time(nanosecond).

%% Make the tables and terms of the work, once in the process that runs it.
prepare() ->
    Table = ets:new(phases, [set]),
    [ets:insert(Table, {K, K, <<"value">>}) || K <- lists:seq(1, 1000)],
    put(table, Table),
    put(map, maps:from_list([{K, K} || K <- lists:seq(1, 1000)])),
    put(tree, {tree(10), tree(10)}),
    put(bytes, << <<K:32>> || K <- lists:seq(1, 1000) >>).

tree(0) -> [<<"leaf">>, 1.5, leaf];
tree(N) -> {tree(N - 1), tree(N - 1)}.

phase(arithmetic) -> fun phase_arithmetic/1;
phase(body_recursion) -> fun phase_body_recursion/1;
phase(bignums) -> fun phase_bignums/1;
phase(bifs) -> fun phase_bifs/1;
phase(garbage) -> fun phase_garbage/1;
phase(ets) -> fun phase_ets/1;
phase(matching) -> fun phase_matching/1;
phase(maps) -> fun phase_maps/1;
phase(bit_syntax) -> fun phase_bit_syntax/1;
phase(nif) -> fun phase_nif/1;
phase(dirty_nif) -> fun phase_dirty_nif/1;
phase(selective_receive) -> fun phase_selective_receive/1;
phase(compare) -> fun phase_compare/1;
phase(deep_recursion) -> fun phase_deep_recursion/1.

phase_arithmetic(Until) -> {done, repeat(fun() -> arithmetic(20000, 1) end, Until)}.
phase_body_recursion(Until) -> {done, repeat(fun() -> double(lists:seq(1, 2000)) end, Until)}.
phase_bignums(Until) -> {done, repeat(fun() -> factorial(150) rem 1000007 end, Until)}.
phase_bifs(Until) -> {done, repeat(fun() -> bifs(50) end, Until)}.
phase_garbage(Until) -> {done, repeat(fun() -> garbage(20, []) end, Until)}.
phase_ets(Until) -> {done, repeat(fun() -> ets_work(get(table), 300) end, Until)}.
phase_matching(Until) -> {done, repeat(fun() -> matching(get(table), 5) end, Until)}.
phase_maps(Until) -> {done, repeat(fun() -> maps_work(get(map), 300) end, Until)}.
phase_bit_syntax(Until) -> {done, repeat(fun() -> sum_words(get(bytes), 0) end, Until)}.
phase_nif(Until) -> {done, repeat(fun() -> spin_nif:spin(50) end, Until)}.
phase_dirty_nif(Until) -> {done, repeat(fun() -> spin_nif:dirty_spin(2000) end, Until)}.
phase_selective_receive(Until) -> {done, repeat(fun() -> selective_receive(300) end, Until)}.
phase_compare(Until) -> {done, repeat(fun() -> compare(get(tree), 5) end, Until)}.
phase_deep_recursion(Until) -> {done, repeat(fun() -> deep(?DEEP) end, Until)}.

%% Do one unit of a phase's work in a process that has its own tables.
work(Name) ->
    case get(table) of
        undefined -> prepare();
        _ -> ok
    end,
    (phase(Name))(now_ns()).

%% Call Work again and again until the time is over; return the number of calls.
repeat(Work, Until) ->
    repeat(Work, Until, 0).

repeat(Work, Until, N) ->
    Work(),
    case now_ns() < Until of
        true -> repeat(Work, Until, N + 1);
        false -> N + 1
    end.

arithmetic(0, X) -> X;
arithmetic(N, X) -> arithmetic(N - 1, (X * 1103515245 + N) band 16#7fffffff).

double([H | T]) -> [H * 2 | double(T)];
double([]) -> [].

factorial(0) -> 1;
factorial(N) -> N * factorial(N - 1).

bifs(0) ->
    ok;
bifs(N) ->
    Term = {N, [a, b, {c, N}], <<"binary">>, #{key => N}},
    Term = binary_to_term(term_to_binary(Term)),
    N = list_to_integer(integer_to_list(N)),
    {N, _} = lists:keyfind(N, 1, [{K, x} || K <- lists:seq(1, N)]),
    [_ | _] = binary:split(<<"GET /index.html HTTP/1.1">>, <<" ">>, [global]),
    bifs(N - 1).

%% Lists that live for a while and then become garbage.
garbage(0, Kept) -> length(Kept);
garbage(N, Kept) -> garbage(N - 1, [[{K, <<K:64>>} || K <- lists:seq(1, 100)] | Kept]).

ets_work(_Table, 0) ->
    ok;
ets_work(Table, N) ->
    [{N, _, _}] = ets:lookup(Table, N),
    true = ets:insert(Table, {N, N + 1, <<"value">>}),
    ets:update_counter(Table, N, {2, 1}),
    ets_work(Table, N - 1).

%% Match specifications run as a process of the VM's own.
matching(_Table, 0) ->
    ok;
matching(Table, N) ->
    1000 = ets:select_count(Table, [{{'$1', '$2', '_'}, [{'>', '$2', {'-', '$1', 1}}], [true]}]),
    matching(Table, N - 1).

maps_work(Map, 0) ->
    maps:fold(fun(_, V, Sum) -> V + Sum end, 0, Map);
maps_work(Map, N) ->
    #{N := V} = Map,
    maps_work(Map#{N => V + 1, {new, N} => V}, N - 1).

sum_words(<<A:7, B:9, C:16, Rest/binary>>, Sum) -> sum_words(Rest, Sum + A + B + C);
sum_words(<<>>, Sum) -> Sum.

%% Each receive scans all messages before the one it waits for.
selective_receive(N) ->
    [self() ! {filler, K} || K <- lists:seq(1, N)],
    [begin self() ! {wanted, K}, receive {wanted, K} -> ok end end || K <- lists:seq(1, 20)],
    [receive {filler, K} -> ok end || K <- lists:seq(1, N)].

compare(_Trees, 0) -> ok;
compare({A, B} = Trees, N) when A =:= B -> compare(Trees, N - 1).

deep(0) -> 0;
deep(N) -> 1 + deep(N - 1).
