%% SPDX-License-Identifier: Apache-2.0
%% Known numbers of calls of BIFs and NIFs. Does nothing until told one of:
%%
%%      bifs         10,000 calls of erlang:md5/1, half of them from each of two functions, and 5,000
%%                   of binary:copy/2
%%      traced_bifs  the same, counted by the node
%%      heavy_bifs   1,000 calls of erlang:process_info/1
%%      nifs         1,000 calls of spin_nif:spin/1
%%      spawns       300 processes that end at once
%%
%% The report has the number of finished requests, and the calls of each function as the node
%% counted them.
-module(calls).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(1, []),
    Traced = ets:new(traced, [public]),
    register(told, spawn_link(fun() -> serve(Traced, Done) end)),
    fun() ->
        #{done => counters:get(Done, 1), traced => maps:from_list(ets:tab2list(Traced))}
    end.

serve(Traced, Done) ->
    receive
        bifs -> bifs(5000);
        traced_bifs -> ets:insert(Traced, counted(fun() -> bifs(5000) end));
        heavy_bifs -> heavy_bifs(1000);
        nifs -> nifs(1000);
        spawns -> spawns(300)
    end,
    counters:add(Done, 1, 1),
    serve(Traced, Done).

counted(Work) ->
    Functions = [{<<"erlang:md5/1">>, {erlang, md5, 1}},
                 {<<"binary:copy/2">>, {binary, copy, 2}}],
    [1 = erlang:trace_pattern(MFA, true, [call_count]) || {_, MFA} <- Functions],
    Work(),
    Counts = [{Name, element(2, erlang:trace_info(MFA, call_count))} || {Name, MFA} <- Functions],
    [1 = erlang:trace_pattern(MFA, false, [call_count]) || {_, MFA} <- Functions],
    Counts.

bifs(0) ->
    ok;
bifs(N) ->
    16 = byte_size(first(N)),
    16 = byte_size(second(N)),
    bifs(N - 1).

first(N) -> <<(erlang:md5(<<N:64>>))/binary>>.

second(N) -> <<(erlang:md5(binary:copy(<<N:64>>, 100)))/binary>>.

%% The VM calls such a BIF through Erlang code.
heavy_bifs(0) ->
    ok;
heavy_bifs(N) ->
    [_ | _] = process_info(self()),
    heavy_bifs(N - 1).

nifs(0) ->
    ok;
nifs(N) ->
    spin_nif:spin(10),
    nifs(N - 1).

spawns(0) ->
    ok;
spawns(N) ->
    {Pid, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end,
    spawns(N - 1).
