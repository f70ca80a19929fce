%% SPDX-License-Identifier: Apache-2.0
%% Processes with every kind of identity; all burn CPU. The report has what the node itself says of
%% each: pid, registered name, label, initial call; and a function that is on its stack.
-module(identity).
-behaviour(gen_server).
-export([start/0, plain/1, labelled/1, through_proc_lib/1, burn/1]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2]).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Registered = spawn(?MODULE, plain, [registered]),
    register(identity_registered, Registered),
    Odd = spawn(?MODULE, plain, [odd]),
    register('an odd; name', Odd),
    {ok, Server} = gen_server:start(?MODULE, server, []),
    {ok, Named} = gen_server:start({local, identity_server}, ?MODULE, server, []),
    Workers = [
        {registered, plain, Registered},
        {odd, plain, Odd},
        {plain, plain, spawn(?MODULE, plain, [plain])},
        {function, in_fun, spawn(fun() -> in_fun() end)},
        {proc_lib, through_proc_lib, proc_lib:spawn(?MODULE, through_proc_lib, [1])},
        {gen_server, handle_continue, Server},
        {named_gen_server, handle_continue, Named}
        | [
            {Kind, labelled, spawn(?MODULE, labelled, [Label])}
         || {Kind, Label} <- [{atom, my_label}, {tuple, {pool, 3}}, {binary, <<"a text">>}],
            erlang:function_exported(proc_lib, set_label, 1)
        ]
    ],
    fun() ->
        #{
            schedulers => erlang:system_info(schedulers_online),
            workers => [describe(W) || W <- Workers]
        }
    end.

describe({Kind, Function, Pid}) ->
    #{
        kind => Kind,
        function => text("~s:~s/~b", [?MODULE, Function, arity(Function)]),
        pid => text("~p", [Pid]),
        name => registered_name(process_info(Pid, registered_name)),
        label => label(Pid),
        initial_call => initial_call(Pid)
    }.

arity(in_fun) -> 0;
arity(handle_continue) -> 2;
arity(_) -> 1.

registered_name({registered_name, Name}) -> Name;
registered_name([]) -> null.

label(Pid) ->
    case erlang:function_exported(proc_lib, get_label, 1) andalso proc_lib:get_label(Pid) of
        Label when Label =:= false; Label =:= undefined -> null;
        Label -> text("~0tp", [Label])
    end.

initial_call(Pid) ->
    {M, F, A} =
        case process_info(Pid, initial_call) of
            {initial_call, {proc_lib, init_p, _}} -> proc_lib:translate_initial_call(Pid);
            {initial_call, Call} -> Call
        end,
    text("~s:~s/~b", [M, F, A]).

text(Format, Arguments) ->
    unicode:characters_to_binary(io_lib:format(Format, Arguments)).

%% Each of these functions stays on the stack, because it uses the result of burn/1. burn/1 never
%% returns, but the compiler cannot know that of an exported function.
plain(Kind) -> {Kind, ?MODULE:burn(0)}.

labelled(Label) ->
    proc_lib:set_label(Label),
    {Label, ?MODULE:burn(0)}.

through_proc_lib(N) -> {N, ?MODULE:burn(0)}.

in_fun() -> {in_fun, ?MODULE:burn(0)}.

init(server) -> {ok, state, {continue, burn}}.

handle_continue(burn, State) -> {noreply, {State, ?MODULE:burn(0)}}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

burn(-1) -> never;
burn(N) -> burn((N * 1103515245 + 12345) band 16#7fffffff).
