%% SPDX-License-Identifier: Apache-2.0
%% A node with some processes, and 256 MB of zeros in which tests put lies (tests/tools/hostile.c).
%% Options: pages=N holds back N pages of memory, file=PATH maps that file (then `tell lock` holds the
%% lock of the memory map, tests/tools/stalling_files.c). After `tell spin`, a process is in a NIF for
%% spin=SECONDS.
-module(hostile).
-export([start/0, hold/1, lock/0, wait/0]).

-define(BYTES, 268435456).

start() ->
    load:start(?MODULE, fun(Options) ->
        hold_back(load:option(pages, Options, 0)),
        map_file(load:option(file, Options, none)),
        spin(load:option(spin, Options, 0)),
        register(holder, spawn(?MODULE, hold, [binary:copy(<<0>>, ?BYTES)])),
        [spawn(?MODULE, wait, []) || _ <- lists:seq(1, 100)],
        fun() -> #{} end
    end).

hold_back(0) -> ok;
hold_back(Pages) -> ok = hostile_nif:hold_back(Pages).

map_file(none) -> ok;
map_file(Path) ->
    ok = hostile_nif:map_file(atom_to_list(Path)),
    register(told, spawn(?MODULE, lock, [])).

spin(0) -> ok;
spin(Seconds) ->
    register(told, spawn(fun() -> receive spin -> spin_nif:spin(Seconds * 1000000) end end)).

lock() ->
    receive lock -> hostile_nif:lock_memory() end.

hold(Bytes) ->
    receive stop -> byte_size(Bytes) end.

wait() ->
    put(key, value),
    receive stop -> ok end.
