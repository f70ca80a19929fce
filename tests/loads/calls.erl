%% SPDX-License-Identifier: Apache-2.0
%% Calls of BIFs and NIFs, of known number. Does nothing until it is told what:
%%
%%      bifs     10,000 calls of erlang:md5/1, half of them from each of two functions
%%      nifs     1,000 calls of spin_nif:spin/1
%%
%% The report has how many of these are done.
-module(calls).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Done) end)),
    fun() -> #{done => counters:get(Done, 1)} end.

serve(Done) ->
    receive
        bifs -> bifs(5000);
        nifs -> nifs(1000)
    end,
    counters:add(Done, 1, 1),
    serve(Done).

bifs(0) ->
    ok;
bifs(N) ->
    16 = byte_size(first(N)),
    16 = byte_size(second(N)),
    bifs(N - 1).

first(N) -> <<(erlang:md5(<<N:64>>))/binary>>.

second(N) -> <<(erlang:md5(binary:copy(<<N:64>>, 100)))/binary>>.

nifs(0) ->
    ok;
nifs(N) ->
    spin_nif:spin(10),
    nifs(N - 1).
