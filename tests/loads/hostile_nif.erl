%% SPDX-License-Identifier: Apache-2.0
%% What a hostile user does to the own OS process (hostile_nif.c).
-module(hostile_nif).
-export([hold_back/1, map_file/1, lock_memory/0, become/1]).
-on_load(load/0).

load() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Map so many pages that nothing ever fills: who reads them waits.
hold_back(_Pages) -> erlang:nif_error(not_loaded).

map_file(_Path) -> erlang:nif_error(not_loaded).

lock_memory() -> erlang:nif_error(not_loaded).

%% Run as this user from now on.
become(_User) -> erlang:nif_error(not_loaded).
