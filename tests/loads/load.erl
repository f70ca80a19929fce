%% SPDX-License-Identifier: Apache-2.0
%% Common code of all loads: options, output lines, and the end.
%%
%% A load is started by `erl -noshell -s LOAD start -extra key=value...`. It prints one JSON object
%% a line: `{"event":"ready",...}` when it runs, then `{"event":"report",...}` for each line
%% `report` on its standard input, and a last report when it ends: at `stop`, at the end of standard
%% input, or after option `seconds`. `tell WHAT` sends the atom WHAT to the process that a load has
%% registered as `told`. Option `user` is the user that the node runs as once the work has begun.
-module(load).
-export([start/2, option/3, cpu_ns/0, compile/1]).

%% Run `Main(Options)`, which starts the work in processes of its own and returns a function that
%% makes a report (a map).
start(Name, Main) ->
    spawn(fun() -> run(Name, Main) end),
    ok.

run(Name, Main) ->
    ok = io:setopts([{encoding, unicode}]),
    {module, spin_nif} = code:ensure_loaded(spin_nif),
    Options = options(),
    Report = fun(Event, Make) -> say((Make())#{event => Event, load => Name}) end,
    Make = Main(Options),
    become(option(user, Options, 0)),
    Report(ready, fun node_facts/0),
    case option(seconds, Options, 0) of
        0 -> ok;
        Seconds -> timer:apply_after(Seconds * 1000, erlang, apply, [fun finish/2, [Report, Make]])
    end,
    obey(Report, Make).

obey(Report, Make) ->
    case io:get_line("") of
        "report\n" ->
            Report(report, Make),
            obey(Report, Make);
        "tell " ++ What ->
            told ! list_to_existing_atom(string:trim(What)),
            obey(Report, Make);
        _StopOrEnd ->
            finish(Report, Make)
    end.

become(0) -> ok;
become(User) -> ok = hostile_nif:become(User).

%% Facts that tests compare with beamflame's view from outside.
node_facts() ->
    #{
        otp => list_to_binary(erlang:system_info(otp_release)),
        erts => list_to_binary(erlang:system_info(version)),
        flavor => erlang:system_info(emu_flavor),
        dynamic_trace => erlang:system_info(dynamic_trace),
        schedulers => erlang:system_info(schedulers),
        dirty_cpu_schedulers => erlang:system_info(dirty_cpu_schedulers),
        dirty_io_schedulers => erlang:system_info(dirty_io_schedulers),
        processes => erlang:system_info(process_count),
        node => node()
    }.

finish(Report, Make) ->
    Report(report, Make),
    erlang:halt(0).

say(Map) ->
    io:put_chars([load_json:encode(Map), $\n]).

options() ->
    lists:foldl(
        fun(Argument, Options) ->
            [Key, Value] = string:split(Argument, "="),
            Options#{list_to_atom(Key) => Value}
        end,
        #{},
        init:get_plain_arguments()
    ).

%% Return an option, with the type of its default: integer, atom, or list of atoms (`a,b`).
option(Key, Options, Default) ->
    case Options of
        #{Key := Text} when is_integer(Default) -> list_to_integer(Text);
        #{Key := Text} when is_atom(Default) -> list_to_atom(Text);
        #{Key := Text} when is_list(Default) -> [list_to_atom(W) || W <- string:lexemes(Text, ",")];
        #{} -> Default
    end.

%% Return the CPU time of the whole node so far, in nanoseconds.
cpu_ns() ->
    spin_nif:cpu_ns().

%% Return the code of a module with this source text.
compile(Source) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Source)),
    {ok, _, Code} = compile:forms(forms(Tokens, [], []), []),
    Code.

forms([{dot, _} = Dot | Tokens], Form, Forms) ->
    {ok, Parsed} = erl_parse:parse_form(lists:reverse([Dot | Form])),
    forms(Tokens, [], [Parsed | Forms]);
forms([Token | Tokens], Form, Forms) ->
    forms(Tokens, [Token | Form], Forms);
forms([], [], Forms) ->
    lists:reverse(Forms).
