%% SPDX-License-Identifier: Apache-2.0
%% A process `told`, a few calls deep, that ends the node with a core file when told `crash`. Option
%% `how` is `abort` (erlang:halt/1), `nif` or `dirty_nif` (a NIF that reads from a null pointer).
-module(crash).
-export([start/0, descend/2]).

-define(DEPTH, 5).

start() ->
    load:start(?MODULE, fun(Options) ->
        Told = spawn(?MODULE, descend, [load:option(how, Options, abort), ?DEPTH]),
        register(told, Told),
        fun() -> #{told => list_to_binary(pid_to_list(Told))} end
    end).

descend(How, 0) ->
    receive crash -> crash(How) end;
descend(How, Depth) ->
    [descend(How, Depth - 1)].

crash(abort) -> [erlang:halt(abort)];
crash(nif) -> [spin_nif:crash()];
crash(dirty_nif) -> [spin_nif:dirty_crash()].
