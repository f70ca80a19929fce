%% SPDX-License-Identifier: Apache-2.0
%% NIFs with a nop of five bytes in their code (nop_nif.c).
-module(nop_nif).
-export([straight/1, looped/1, leaf/1]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Its argument; the nop is the first instruction.
straight(_Term) ->
    erlang:nif_error(not_loaded).

%% The same; behind the nop a loop begins.
looped(_Term) ->
    erlang:nif_error(not_loaded).

%% How many words below the stack pointer were changed while it passed the nop.
leaf(_Value) ->
    erlang:nif_error(not_loaded).
