%% SPDX-License-Identifier: Apache-2.0
%% A NIF that makes another program of the node's OS process (become_nif.c).
-module(become_nif).
-export([become/0]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Burn CPU as another program, with the node's pid.
become() ->
    erlang:nif_error(not_loaded).
