%% SPDX-License-Identifier: Apache-2.0
%% Processes with all kinds of parents, ancestors and applications; each burns CPU. The report has
%% what the node itself says of each of them, and of all processes.
-module(families).
-behaviour(application).
%% also a supervisor and a gen_server, which both have init/1
-export([start/0, start/2, stop/1, init/1, start_nested/0, burn/1]).
-export([handle_continue/2, handle_call/3, handle_cast/2]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    register(families_main, self()),
    ok = application:load({application, shop, [{mod, {?MODULE, []}}]}),
    ok = application:start(shop),
    Direct = child(shop_sup, direct),
    Nested = child(child(shop_sup, nested), below),
    Workers = [
        {direct, Direct},
        {nested, Nested},
        {spawned, gen_server:call(Direct, spawn, infinity)},
        {spawned_below, gen_server:call(Nested, spawn, infinity)},
        {moved, gen_server:call(Nested, {spawn, group_leader()}, infinity)},
        {orphan, orphan()},
        {outside, spawn(fun burn/0)},
        {proc_lib, proc_lib:spawn(fun burn/0)}
    ],
    [gen_server:cast(Server, burn) || Server <- [Direct, Nested]],
    fun() ->
        #{
            workers => [(describe(Pid))#{kind => Kind} || {Kind, Pid} <- Workers],
            processes => [describe(Pid) || Pid <- processes()]
        }
    end.

child(Supervisor, Id) ->
    {Id, Pid, _, _} = lists:keyfind(Id, 1, supervisor:which_children(Supervisor)),
    Pid.

%% Its parent has ended before the process is examined.
orphan() ->
    Self = self(),
    {_, Reference} = spawn_monitor(fun() -> Self ! {orphan, spawn(fun burn/0)} end),
    receive
        {'DOWN', Reference, _, _, _} -> ok
    end,
    receive
        {orphan, Pid} -> Pid
    end.

describe(Pid) ->
    #{
        pid => text(Pid),
        name => name(Pid),
        parent => parent(Pid),
        ancestors => ancestors(process_info(Pid, dictionary)),
        application => application(application:get_application(Pid))
    }.

%% process_info/2 returns the parent from 25 on.
parent(Pid) ->
    try process_info(Pid, parent) of
        {parent, Parent} when is_pid(Parent) -> text(Parent);
        _ -> null
    catch
        error:badarg -> null
    end.

name(Pid) ->
    case process_info(Pid, registered_name) of
        {registered_name, Name} -> Name;
        _ -> null
    end.

ancestors({dictionary, Dictionary}) ->
    [text(A) || A <- proplists:get_value('$ancestors', Dictionary, [])];
ancestors(undefined) ->
    [].

application({ok, Name}) -> Name;
application(undefined) -> null.

text(Term) ->
    unicode:characters_to_binary(io_lib:format("~p", [Term])).

%% ---- the application: shop_sup has a worker, and an unnamed supervisor with a worker ----

start(normal, []) ->
    supervisor:start_link({local, shop_sup}, ?MODULE, shop).

stop(_) ->
    ok.

init(shop) ->
    {ok, {#{}, [worker(direct), #{id => nested, start => {?MODULE, start_nested, []}}]}};
init(nested) ->
    {ok, {#{}, [worker(below)]}};
init(worker) ->
    {ok, state}.

start_nested() ->
    supervisor:start_link(?MODULE, nested).

worker(Id) ->
    #{id => Id, start => {gen_server, start_link, [?MODULE, worker, []]}, shutdown => brutal_kill}.

handle_call(spawn, _, State) ->
    {reply, spawn(fun burn/0), State};
handle_call({spawn, Leader}, _, State) ->
    Pid = spawn(fun burn/0),
    group_leader(Leader, Pid),
    {reply, Pid, State}.

handle_cast(burn, State) ->
    {noreply, State, {continue, burn}}.

handle_continue(burn, State) ->
    {noreply, {State, burn()}}.

burn() -> {burnt, ?MODULE:burn(0)}.

burn(-1) -> never;
burn(N) -> burn((N * 1103515245 + 12345) band 16#7fffffff).
