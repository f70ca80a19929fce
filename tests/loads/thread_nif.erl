%% SPDX-License-Identifier: Apache-2.0
%% A NIF that starts native threads, which work for a moment and end (thread_nif.c).
-module(thread_nif).
-export([run/1]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Run `Count` threads (64 at most) to their end; return how many there were.
run(_Count) ->
    erlang:nif_error(not_loaded).
