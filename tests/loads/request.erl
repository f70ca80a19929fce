%% SPDX-License-Identifier: Apache-2.0
%% A load like a server's: clients parse requests, keep sessions in ETS, call gen_servers, build and
%% encode answers, without pause on every scheduler.
%%
%% Options: clients (for each scheduler), idle (processes that only wait). The report has the
%% finished requests and the CPU time of the node, both since its start: profiling must not lower
%% their quotient over a window.
-module(request).
-behaviour(gen_server).
-export([start/0, client/3, idle/0, serve_one/0]).
-export([init/1, handle_call/3, handle_cast/2]).

-define(SESSIONS, 2000).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Clients = load:option(clients, Options, 2) * erlang:system_info(schedulers_online),
    Done = counters:new(1, [write_concurrency]),
    Pools = start_servers(),
    [proc_lib:spawn_link(?MODULE, client, [N, Pools, Done]) || N <- lists:seq(1, Clients)],
    [proc_lib:spawn(?MODULE, idle, []) || _ <- lists:seq(1, load:option(idle, Options, 0))],
    fun() ->
        #{
            requests => counters:get(Done, 1),
            cpu_ns => load:cpu_ns(),
            time_ns => erlang:monotonic_time(nanosecond)
        }
    end.

start_servers() ->
    ets:new(request_sessions, [named_table, public, {read_concurrency, true}]),
    process_flag(trap_exit, true),
    {ok, _} = gen_server:start_link({local, request_store}, ?MODULE, store, []),
    [element(2, gen_server:start_link(?MODULE, {pool, N}, [])) || N <- lists:seq(1, 4)].

%% For another load: start the servers, and return a fun that serves the request with a number.
serve_one() ->
    Pools = list_to_tuple(start_servers()),
    fun(N) -> serve_request(N, Pools) end.

%% Labels exist from OTP 27 on.
set_label(Label) ->
    case erlang:function_exported(proc_lib, set_label, 1) of
        true -> proc_lib:set_label(Label);
        false -> ok
    end.

idle() ->
    receive stop -> ok end.

client(N, Pools, Done) ->
    set_label({request_client, N}),
    serve(N * 7919, list_to_tuple(Pools), Done).

serve(N, Pools, Done) ->
    serve_request(N, Pools),
    counters:add(Done, 1, 1),
    serve(N + 1, Pools, Done).

serve_request(N, Pools) ->
    Answer = answer(parse(raw_request(N)), N, Pools),
    true = byte_size(Answer) > 0.

raw_request(N) ->
    Id = integer_to_binary(N rem ?SESSIONS),
    iolist_to_binary([
        <<"GET /users/">>, Id, <<"/items?page=3&size=20&sort=name HTTP/1.1\r\n">>,
        <<"host: example.org\r\naccept: application/json\r\n">>,
        <<"cookie: session=">>, Id, <<"; theme=dark\r\nuser-agent: load/1.0\r\n\r\n">>
    ]).

parse(Raw) ->
    [Head | Lines] = binary:split(Raw, <<"\r\n">>, [global, trim_all]),
    [Method, Target, _Version] = binary:split(Head, <<" ">>, [global]),
    [Path, Query] = binary:split(Target, <<"?">>),
    #{
        method => Method,
        path => tl(binary:split(Path, <<"/">>, [global])),
        query => pairs(Query, <<"&">>, <<"=">>),
        headers => maps:from_list([header(Line, <<>>) || Line <- Lines])
    }.

pairs(Text, Between, Within) ->
    maps:from_list([
        list_to_tuple(binary:split(Pair, Within))
     || Pair <- binary:split(Text, Between, [global])
    ]).

header(<<": ", Value/binary>>, Name) -> {Name, Value};
header(<<C, Rest/binary>>, Name) when C >= $A, C =< $Z -> header(Rest, <<Name/binary, (C + 32)>>);
header(<<C, Rest/binary>>, Name) -> header(Rest, <<Name/binary, C>>).

answer(#{path := Path, query := Query, headers := #{<<"cookie">> := Cookie}}, N, Pools) ->
    #{<<"session">> := Session} = pairs(Cookie, <<"; ">>, <<"=">>),
    Visits = visits(binary_to_integer(Session)),
    Pool = element(N rem tuple_size(Pools) + 1, Pools),
    Items = gen_server:call(Pool, {items, binary_to_integer(maps:get(<<"size">>, Query))}),
    Total = store(N, Visits),
    Sorted = lists:sort(fun(#{name := A}, #{name := B}) -> A =< B end, Items),
    encode(#{path => Path, visits => Visits, total => Total, items => Sorted}).

%% The store is called only now and then, because one process serves all.
store(N, Visits) when N rem 8 =:= 0 -> gen_server:call(request_store, {add, N rem 100, Visits});
store(_, _) -> 0.

visits(Session) ->
    case ets:lookup(request_sessions, Session) of
        [{_, Visits, History}] ->
            Kept = lists:sublist([Visits | History], 10),
            ets:insert(request_sessions, {Session, Visits + 1, Kept}),
            Visits;
        [] ->
            ets:insert(request_sessions, {Session, 1, []}),
            0
    end.

encode(Term) ->
    iolist_to_binary(encode_value(Term)).

encode_value(Map) when is_map(Map) ->
    Members = [[encode_value(K), $:, encode_value(V)] || {K, V} <- maps:to_list(Map)],
    [${, lists:join($,, Members), $}];
encode_value(List) when is_list(List) -> [$[, lists:join($,, [encode_value(E) || E <- List]), $]];
encode_value(N) when is_integer(N) -> integer_to_binary(N);
encode_value(Atom) when is_atom(Atom) -> [$", atom_to_binary(Atom), $"];
encode_value(Text) when is_binary(Text) -> [$", Text, $"].

init(store) ->
    {ok, #{}};
init({pool, _} = Label) ->
    set_label(Label),
    {ok, 0}.

handle_call({add, Key, Visits}, _From, Totals) ->
    New = maps:update_with(Key, fun(V) -> V + Visits end, Visits, Totals),
    {reply, maps:get(Key, New), New};
handle_call({items, Count}, _From, N) ->
    Items = [#{id => K, name => item_name(N + K), price => K * 100} || K <- lists:seq(1, Count)],
    {reply, Items, N + 1}.

handle_cast(_, State) ->
    {noreply, State}.

item_name(N) ->
    <<"item ", (integer_to_binary(erlang:phash2(N, 1000)))/binary>>.
