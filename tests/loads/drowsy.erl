%% SPDX-License-Identifier: Apache-2.0
%% A node that rests, but for a process `turner` that wakes now and then, and waits in another
%% function afterwards: 300 ms of each second in one, 700 ms in the other.
-module(drowsy).
-export([start/0]).

start() ->
    load:start(?MODULE, fun(_) ->
        register(turner, spawn(fun() -> short(now_ms()) end)),
        fun() -> #{} end
    end).

short(Due) ->
    receive after wait(Due + 300) -> ok end,
    long(Due + 300).

long(Due) ->
    receive after wait(Due + 700) -> ok end,
    short(Due + 700).

%% Waits end on time however late the last one ended.
wait(Due) -> max(0, Due - now_ms()).

now_ms() -> erlang:monotonic_time(millisecond).
