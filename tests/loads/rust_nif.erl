%% SPDX-License-Identifier: Apache-2.0
%% A NIF of Rust that burns CPU (rust_nif.rs).
-module(rust_nif).
-export([burn/0]).
-on_load(init/0).

init() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

%% Burn CPU for some milliseconds on a normal scheduler.
burn() ->
    erlang:nif_error(not_loaded).
