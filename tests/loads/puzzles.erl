%% SPDX-License-Identifier: Apache-2.0
%% Nodes with one culprit among innocents, for questions that a user answers with the page. A comment
%% marks the line of the answer. Option what:
%%
%%      leak     process `sessions` keeps all that it makes; 20 processes `cart_N` make as much, and
%%               keep the newest
%%      deploy   processes `renderer_N` render pages; with option version=new, pages have 40 times as
%%               many prices
%%      late     process `server` is to answer `client` every 10 ms. On its scheduler `reporter` runs
%%               for 30 ms at a time. `indexer` does so more often, but on another scheduler. Needs
%%               three schedulers.
-module(puzzles).
-export([start/0]).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    begin_work(load:option(what, Options, leak), load:option(version, Options, old)),
    fun() -> #{} end.

begin_work(leak, _) ->
    [start(name(cart_, N), fun() -> cart([], N) end, []) || N <- lists:seq(1, 20)],
    start(sessions, fun() -> sessions([], 1) end, []);
begin_work(deploy, Version) ->
    [start(name(renderer_, N), fun() -> renderer(Version) end, []) || N <- lists:seq(1, 4)];
begin_work(late, _) ->
    start(server, fun server/0, [{scheduler, 1}]),
    start(poller, fun poller/0, [{scheduler, 1}]),
    start(reporter, fun reporter/0, [{scheduler, 1}]),
    start(indexer, fun indexer/0, [{scheduler, 2}]),
    start(client, fun client/0, [{scheduler, 3}]).

start(Name, Loop, Options) ->
    register(Name, spawn_opt(Loop, Options)).

name(Prefix, N) ->
    list_to_atom(atom_to_list(Prefix) ++ integer_to_list(N)).

%% ---- leak ----

cart(Newest, N) ->
    receive after 1 -> ok end,
    cart(lists:sublist([entry(N) | Newest], 50), N + 1).

sessions(Kept, N) ->
    receive after 1 -> ok end,
    log(N),
    Session = entry(N), %% leak
    sessions([Session | Kept], N + 1).

entry(N) ->
    {N, lists:seq(N, N + 500)}.

log(N) ->
    length(integer_to_list(N)).

%% ---- deploy ----

renderer(Version) ->
    receive after 5 -> ok end,
    _ = render(Version),
    renderer(Version).

render(Version) ->
    Head = items(300, []),
    Prices = prices(Version), %% deploy
    length(Head) + length(Prices).

prices(old) -> items(100, []);
prices(new) -> items(4000, []).

items(0, Made) -> Made;
items(N, Made) -> items(N - 1, [{N, integer_to_binary(N)} | Made]).

%% ---- late ----

client() ->
    receive after 10 -> ok end,
    server ! {request, self()},
    receive answer -> ok end,
    client().

server() ->
    receive {request, Client} -> Client ! answer end,
    server().

poller() ->
    receive after 3 -> ok end,
    spin_nif:spin(100),
    poller().

reporter() ->
    receive after 60 -> ok end,
    report(30000),
    reporter().

report(Microseconds) ->
    Spent = spin_nif:spin(Microseconds), %% late
    {report, Spent}.

indexer() ->
    receive after 20 -> ok end,
    spin_nif:spin(30000),
    indexer().
