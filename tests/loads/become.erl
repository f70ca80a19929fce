%% SPDX-License-Identifier: Apache-2.0
%% An idle node, with a process `told` that makes another program of the node's OS process when told
%% `become`.
-module(become).
-export([start/0, told/0]).

start() ->
    load:start(?MODULE, fun(_Options) ->
        {module, become_nif} = code:ensure_loaded(become_nif),
        register(told, spawn(?MODULE, told, [])),
        fun() -> #{} end
    end).

told() ->
    receive become -> become_nif:become() end.
