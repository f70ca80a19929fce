%% SPDX-License-Identifier: Apache-2.0
%% NIFs that burn CPU for a known time (spin_nif.c), wait, send a message, crash, and read the CPU
%% clock of the whole node.
-module(spin_nif).
-export([spin/1, dirty_spin/1, wait/1, send/2, cpu_ns/0, crash/0, dirty_crash/0]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Burn CPU for `Microseconds` on a normal scheduler.
spin(_Microseconds) ->
    erlang:nif_error(not_loaded).

%% The same on a dirty CPU scheduler.
dirty_spin(_Microseconds) ->
    erlang:nif_error(not_loaded).

%% Wait in the kernel for `Microseconds`, and keep the scheduler.
wait(_Microseconds) ->
    erlang:nif_error(not_loaded).

%% Return 1 if the message was sent.
send(_Pid, _Message) ->
    erlang:nif_error(not_loaded).

%% End the node with a core file.
crash() ->
    erlang:nif_error(not_loaded).

%% The same on a dirty IO scheduler.
dirty_crash() ->
    erlang:nif_error(not_loaded).

%% Return the CPU time of all threads of the node so far, in nanoseconds.
cpu_ns() ->
    erlang:nif_error(not_loaded).
