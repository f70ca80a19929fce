%% SPDX-License-Identifier: Apache-2.0
%% Functions that allocate in typical ways, each a known part of all words. Does nothing until told
%% one of:
%%
%%      allocate     200,000 rounds of calls of all of them
%%      profile      4,000 rounds, by the node's own profiler of allocation (tprof, from OTP 27 on)
%%
%% Each round calls the functions in another order; otherwise the heap would always be full in the
%% same functions. The report has the number of finished requests, and after `profile` the words of
%% each function.
-module(allocators).
-export([start/0]).

%% Each stride reaches all 25 kinds of calls.
-define(STRIDES, {1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24}).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Words = ets:new(words, [public]),
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Words, Done) end)),
    fun() -> #{done => counters:get(Done, 1), words => maps:from_list(ets:tab2list(Words))} end.

serve(Words, Done) ->
    receive
        allocate ->
            {Pid, Ref} = spawn_monitor(fun() -> work(200000) end),
            receive {'DOWN', Ref, process, Pid, normal} -> ok end;
        profile ->
            ets:insert(Words, profile(fun() -> work(4000) end))
    end,
    counters:add(Done, 1, 1),
    serve(Words, Done).

profile(Work) ->
    {_, {call_memory, Functions}} = tprof:profile(Work, #{type => call_memory, report => return}),
    [{name(MFA), lists:sum([Words || {_, _, Words} <- Counts])} || {M, F, A, Counts} <- Functions,
     MFA <- [{M, F, A}]].

name({M, F, A}) ->
    iolist_to_binary(io_lib:format("~p:~p/~b", [M, F, A])).

%% A process with some state, like a server.
work(Rounds) ->
    State = #{
        table => maps:from_list([{N, {N, [N]}} || N <- lists:seq(1, 1000)]),
        list => lists:seq(1, 52),
        text => binary:copy(<<"some text that is cut ">>, 100),
        external => term_to_binary([{N, N} || N <- lists:seq(1, 115)])
    },
    rounds(Rounds, State).

rounds(0, State) ->
    map_size(State);
rounds(N, State) ->
    calls(25, erlang:phash2(N, 25), element(1 + erlang:phash2({stride, N}, 20), ?STRIDES), State),
    rounds(N - 1, State).

calls(0, _, _, _) ->
    ok;
calls(N, Kind, Stride, State) ->
    call(Kind, State),
    calls(N - 1, (Kind + Stride) rem 25, Stride, State).

call(0, _) -> numbers(88);
call(1, #{list := List}) -> pairs(List);
call(2, _) -> gather(168, []);
call(3, _) -> tuples(40);
call(4, _) -> update(15, {a, b, c, d, e, f, g, h});
call(5, _) -> small_maps(24);
call(6, _) -> map_updates(34, #{a => 1, b => 2, c => 3, d => 4});
call(7, #{table := Table}) -> insert(11, Table);
call(8, _) -> binaries(58);
call(9, #{text := Text}) -> split(Text);
call(10, _) -> floats(56, 0.5);
call(11, _) -> bignums(8, 1 bsl 700);
call(12, #{list := List}) -> closures(List, self());
call(13, #{list := List}) -> lists:map(fun(N) -> wrap(N) end, List);
call(14, #{list := List}) -> lists:foldl(fun sum_and_count/2, {0, 0}, List);
call(15, #{list := List}) -> lists:nthtail(12, List) ++ List;
call(16, _) -> texts(1000000, 31);
call(17, _) -> decimals(1000000, 20);
call(18, _) -> tree(5);
call(19, #{list := List}) -> lists:sort(fun descending/2, List);
call(20, _) -> encode(16);
call(21, #{external := External}) -> binary_to_term(External);
call(22, #{list := List}) -> lists:zip(List, List);
call(23, _) -> frames(60, a, b, c, d);
call(24, _) -> checksum(2000, 1).

numbers(0) -> [];
numbers(N) -> [N | numbers(N - 1)].

pairs(List) -> [{N, N, N} || N <- List].

gather(0, List) -> List;
gather(N, List) -> gather(N - 1, [N | List]).

tuples(0) -> ok;
tuples(N) ->
    {N, _, _, _, _, _, _, _, _} = make_tuple(N),
    tuples(N - 1).

make_tuple(N) -> {N, a, b, c, d, e, f, g, h}.

update(0, Tuple) -> Tuple;
update(N, Tuple) -> update(N - 1, setelement(N rem 8 + 1, Tuple, N)).

small_maps(0) -> ok;
small_maps(N) ->
    #{id := N} = make_map(N),
    small_maps(N - 1).

make_map(N) -> #{id => N, name => name, next => N + 1}.

map_updates(0, Map) -> Map;
map_updates(N, Map) -> map_updates(N - 1, Map#{c := N}).

insert(0, Map) -> Map;
insert(N, Map) -> insert(N - 1, Map#{{key, N} => N}).

binaries(0) -> ok;
binaries(N) ->
    24 = byte_size(make_binary(N)),
    binaries(N - 1).

make_binary(N) -> <<N:64, N:128>>.

split(<<Part:20/binary, Rest/binary>>) -> [Part | split(Rest)];
split(<<_/binary>>) -> [].

floats(0, Sum) -> Sum;
floats(N, Sum) -> floats(N - 1, next_float(Sum)).

next_float(Sum) when is_float(Sum) -> Sum * 0.75 + 1.0.

bignums(0, Sum) -> Sum;
bignums(N, Sum) -> bignums(N - 1, Sum + (1 bsl 650)).

closures(List, Pid) -> [fun() -> {N, Pid} end || N <- List].

wrap(N) -> [N, N].

sum_and_count(N, {Sum, Count}) -> {Sum + N, Count + 1}.

texts(_, 0) -> [];
texts(Number, N) -> [integer_to_list(Number + N) | texts(Number, N - 1)].

decimals(_, 0) -> [];
decimals(Number, N) -> [integer_to_binary(Number + N) | decimals(Number, N - 1)].

tree(0) -> leaf;
tree(N) -> {N, tree(N - 1), tree(N - 1)}.

descending(A, B) -> A >= B.

encode(N) -> [${, lists:join($,, [member(K) || K <- lists:seq(1, N)]), $}].

member(K) -> [$", <<"key">>, $", $:, $[, K, $]].

%% Each call has more on the stack than it allocates, and allocates when it returns.
frames(0, _, _, _, _) -> [];
frames(N, A, B, C, D) ->
    Rest = frames(N - 1, B, C, D, A),
    [{N, A, B} | [{C, D} | Rest]].

%% Takes time and allocates nothing.
checksum(0, Sum) -> Sum;
checksum(N, Sum) -> checksum(N - 1, (Sum * 31 + N) band 16#ffffff).
