%% SPDX-License-Identifier: Apache-2.0
%% A node with some processes, and 256 MB of zeros in which tests put lies (tests/tools/hostile.c).
-module(hostile).
-export([start/0, hold/1, wait/0]).

-define(BYTES, 268435456).

start() ->
    load:start(?MODULE, fun(_Options) ->
        register(holder, spawn(?MODULE, hold, [binary:copy(<<0>>, ?BYTES)])),
        [spawn(?MODULE, wait, []) || _ <- lists:seq(1, 100)],
        fun() -> #{} end
    end).

hold(Bytes) ->
    receive stop -> byte_size(Bytes) end.

wait() ->
    put(key, value),
    receive stop -> ok end.
