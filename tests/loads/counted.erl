%% SPDX-License-Identifier: Apache-2.0
%% Known numbers of calls of Erlang functions. Does nothing until told one of:
%%
%%      calls      in each of 4 processes: `each` calls of local/1 from each of two lines, of remote/1
%%                 by its module's name, of tail/2 by itself, and of a fun
%%      traced     the same, counted by the node too
%%      spawns     processes that call spawned/1 by apply, and others that begin there
%%      loads      the first version of counted_code
%%      versions   calls of counted_code:called/1, whose code is replaced before each round
%%
%% Options: each (calls of each kind by each process). The report has the number of finished
%% requests, the calls of each function, and those that the node has counted.
-module(counted).
-export([start/0, remote/1, tail/2, spawned/1]).

-define(PROCESSES, 4).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Each = load:option(each, Options, 25000),
    Done = counters:new(1, []),
    Made = ets:new(made, [public]),
    Traced = ets:new(traced, [public]),
    register(told, spawn_link(fun() -> serve(Each, Made, Traced, Done) end)),
    fun() ->
        #{
            done => counters:get(Done, 1),
            calls => maps:from_list(ets:tab2list(Made)),
            traced => maps:from_list(ets:tab2list(Traced))
        }
    end.

serve(Each, Made, Traced, Done) ->
    receive
        calls -> ets:insert(Made, calls(Each));
        traced -> ets:insert(Traced, traced(fun() -> ets:insert(Made, calls(Each)) end));
        spawns -> ets:insert(Made, spawns(Each));
        loads -> load_version(code_of(1));
        versions -> ets:insert(Made, versions())
    end,
    counters:add(Done, 1, 1),
    serve(Each, Made, Traced, Done).

traced(Work) ->
    Functions = [
        {<<"counted:local/1">>, {?MODULE, local, 1}},
        {<<"counted:remote/1">>, {?MODULE, remote, 1}},
        {<<"counted:tail/2">>, {?MODULE, tail, 2}},
        {<<"counted:'-called/1-fun-0-'/2">>, {?MODULE, '-called/1-fun-0-', 2}}
    ],
    [1 = erlang:trace_pattern(MFA, true, [local, call_count]) || {_, MFA} <- Functions],
    Work(),
    Counts = [{Name, element(2, erlang:trace_info(MFA, call_count))} || {Name, MFA} <- Functions],
    [1 = erlang:trace_pattern(MFA, false, [local, call_count]) || {_, MFA} <- Functions],
    Counts.

%% ---- calls ----

calls(Each) ->
    Work = fun() -> work(Each) end,
    in_processes(lists:duplicate(?PROCESSES, Work)),
    [
        {<<"counted:local/1">>, 2 * ?PROCESSES * Each},
        {<<"counted:remote/1">>, ?PROCESSES * Each},
        {<<"counted:tail/2">>, ?PROCESSES * (Each + 1)},
        {<<"counted:'-called/1-fun-0-'/2">>, ?PROCESSES * Each}
    ].

in_processes(Works) ->
    Monitors = [spawn_monitor(Work) || Work <- Works],
    [receive {'DOWN', Monitor, process, _, normal} -> ok end || {_, Monitor} <- Monitors].

work(Each) ->
    first(Each),
    second(Each),
    remotes(Each),
    done = tail(Each, 0),
    called(Each).

first(0) -> ok;
first(N) -> true = local(N) > 0, first(N - 1).

second(0) -> ok;
second(N) -> true = local(N) > 0, second(N - 1).

local(N) -> N + erlang:phash2(N, 7) + 1.

remotes(0) -> ok;
remotes(N) -> true = ?MODULE:remote(N), remotes(N - 1).

remote(N) -> is_integer(erlang:phash2(N)).

tail(0, _) -> done;
tail(N, Sum) -> tail(N - 1, (Sum + N) band 16#ffff).

called(Each) -> lists:foldl(fun(N, Sum) -> (Sum + N) band 16#ffff end, 0, lists:seq(1, Each)).

%% ---- spawns ----

spawns(Each) ->
    Count = Each div 100,
    in_processes([fun() -> apply(?MODULE, spawned, [N]) end || N <- lists:seq(1, Count)]),
    [begin
         {_, Monitor} = spawn_monitor(?MODULE, spawned, [N]),
         receive {'DOWN', Monitor, process, _, normal} -> ok end
     end || N <- lists:seq(1, Count)],
    [{<<"counted:spawned/1">>, 2 * Count}].

spawned(N) -> N.

%% ---- versions ----

versions() ->
    Codes = [{V, code_of(V)} || V <- lists:seq(1, 5)],
    Counts = [version(V, Code) || {V, Code} <- Codes],
    [{<<"counted_code:called/1">>, lists:sum(Counts)}].

%% Load the version, give breakpoints time, and call it.
version(V, Code) ->
    load_version(Code),
    timer:sleep(300),
    Count = 1000 * V,
    Count = counted_code:calls(Count),
    Count.

load_version(Code) ->
    code:purge(counted_code),
    {module, counted_code} = code:load_binary(counted_code, "counted_code.erl", Code).

code_of(V) ->
    Source = [
        "-module(counted_code).\n-export([calls/1, called/1]).\n",
        [io_lib:format("-export([padding_~b/1]).\n", [K]) || K <- lists:seq(1, V * 3)],
        [io_lib:format("padding_~b(X) -> {X, ~b}.\n", [K, K]) || K <- lists:seq(1, V * 3)],
        "calls(N) -> calls(N, 0).\n"
        "calls(0, Sum) -> Sum;\n"
        "calls(N, Sum) -> calls(N - 1, Sum + called(N)).\n"
        "called(N) -> N div N.\n"
    ],
    load:compile(Source).
