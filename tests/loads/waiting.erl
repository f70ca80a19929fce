%% SPDX-License-Identifier: Apache-2.0
%% A process `keeper` that occupies its scheduler while it waits in the kernel, in a NIF that should
%% run on a dirty scheduler: a second at a time, with a short rest between.
-module(waiting).
-export([start/0, keep/0]).

start() ->
    load:start(?MODULE, fun(_) -> register(keeper, spawn(?MODULE, keep, [])), fun() -> #{} end end).

keep() ->
    spin_nif:wait(1000000),
    receive after 20 -> ok end,
    keep().
