%% SPDX-License-Identifier: Apache-2.0
%% A process whose time is divided among 24 functions in a known way. costly_all:fN/2 calls itself
%% units(N) times in a turn, each time with the same work, then calls the next function and returns
%% behind it. So all of them are in most stacks, and only one is at the leaf. 100 steps of work in a
%% call make the cost of tracing a call small.
%%
%% Does nothing until told one of:
%%
%%      traced     200 turns in a process that eprof traces
%%      turns      turns without an end
%%
%% The report has the share of each function in the work, and its own time by eprof, in us.
-module(costly).
-export([start/0]).

-define(FUNCTIONS, 24).
-define(STEPS, 100).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    load_all(),
    Done = counters:new(1, []),
    Traced = ets:new(traced, [public]),
    register(told, spawn_link(fun() -> serve(Traced, Done) end)),
    Units = [{name(N), units(N)} || N <- lists:seq(1, ?FUNCTIONS)],
    Total = lists:sum([Of || {_, Of} <- Units]),
    fun() ->
        #{
            done => counters:get(Done, 1),
            shares => maps:from_list([{Name, Of / Total} || {Name, Of} <- Units]),
            traced => maps:from_list(ets:tab2list(Traced))
        }
    end.

turns() ->
    costly_all:all(),
    turns().

serve(Traced, Done) ->
    receive
        turns -> spawn_link(fun turns/0);
        traced -> ets:insert(Traced, traced())
    end,
    counters:add(Done, 1, 1),
    serve(Traced, Done).

%% eprof writes to the file, because its server inherits the group leader.
traced() ->
    File = "/tmp/costly." ++ os:getpid(),
    Leader = group_leader(),
    {ok, Device} = file:open(File, [write]),
    group_leader(Device, self()),
    {ok, _} = eprof:profile([], fun() -> [costly_all:all() || _ <- lists:seq(1, 200)] end,
                            {costly_all, '_', '_'}),
    eprof:analyze(total),
    stopped = eprof:stop(),
    group_leader(Leader, self()),
    ok = file:close(Device),
    {ok, Text} = file:read_file(File),
    ok = file:delete(File),
    {match, Found} = re:run(Text, "^(costly_all:f\\d+/2) +\\d+ +[\\d.]+ +(\\d+) ",
                            [global, multiline, {capture, all_but_first, binary}]),
    [{Name, binary_to_integer(Time)} || [Name, Time] <- Found].

name(N) -> iolist_to_binary(io_lib:format("costly_all:f~b/2", [N])).

%% Each function does 0.9 of the work of another. Neighbours in the stack are not neighbours in that.
units(N) -> round(1000 * math:pow(0.9, N * 7 rem ?FUNCTIONS)).

%% ---- costly_all ----

load_all() ->
    Source = [
        "-module(costly_all).\n-export([all/0]).\n",
        io_lib:format("all() -> f1(~b, 1).\n", [units(1)]),
        [function(N) || N <- lists:seq(1, ?FUNCTIONS)]
    ],
    {module, costly_all} = code:load_binary(costly_all, "costly_all.erl", load:compile(Source)).

function(N) ->
    [
        io_lib:format("f~b(0, X) -> ~s bxor 1;\n", [N, next(N)]),
        io_lib:format("f~b(N, X) -> f~b(N - 1, ~s).\n", [N, N, steps(?STEPS)])
    ].

next(?FUNCTIONS) -> "X";
next(N) -> io_lib:format("f~b(~b, X)", [N + 1, units(N + 1)]).

steps(0) -> "X";
steps(Steps) -> ["((", steps(Steps - 1), " * 1103 + N) band 16#ffffff)"].
