%% SPDX-License-Identifier: Apache-2.0
%% NIFs with a 5-byte nop in their code (nop_nif.c).
-module(nop_nif).
-export([straight/1, looped/1, leaf/1]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Return the argument; the nop is the first instruction.
straight(_Term) ->
    erlang:nif_error(not_loaded).

%% The same, with a loop after the nop.
looped(_Term) ->
    erlang:nif_error(not_loaded).

%% Return how many words below the stack pointer have changed after the nop.
leaf(_Value) ->
    erlang:nif_error(not_loaded).
