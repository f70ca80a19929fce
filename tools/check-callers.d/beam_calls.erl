%% SPDX-License-Identifier: Apache-2.0
%% Print the calls of functions, from their compiled code. tools/check-callers runs this on the
%% node's own release. Reads names of modules, one a line, until an empty line. Prints lines of:
%%
%%      module NAME                 its code was found
%%      function NAME/ARITY         the lines that follow are about this function of the module
%%      call NAME:NAME/ARITY        a call that returns to the function
%%      last NAME:NAME/ARITY        a tail call
%%      any                         a call of a fun, or of a function known only at run time
%%
%% Names are as beamflame prints them.
-module(beam_calls).
-export([main/0]).

main() ->
    ok = io:setopts([{encoding, unicode}]),
    modules(io:get_line("")).

modules(Line) ->
    case is_list(Line) andalso string:trim(Line) of
        Name when is_list(Name), Name =/= "" ->
            module(list_to_atom(Name)),
            modules(io:get_line(""));
        _ ->
            io:put_chars("end\n"),
            halt(0)
    end.

module(Module) ->
    try beam_disasm:file(beam(Module)) of
        {beam_file, Module, _, _, _, Functions} ->
            io:format("module ~ts~n", [Module]),
            [function(Module, F) || F <- Functions];
        _ ->
            ok
    catch
        _:_ -> ok
    end.

%% Modules of the runtime system are preloaded: their files are not in the code path.
beam(Module) ->
    case code:get_object_code(Module) of
        {Module, Binary, _} ->
            Binary;
        error ->
            File = atom_to_list(Module) ++ ".beam",
            [Path | _] = filelib:wildcard(filename:join([code:lib_dir(), "erts*", "ebin", File])),
            Path
    end.

function(Module, {function, Name, Arity, _, Code}) ->
    io:format("function ~ts~n", [mfa(Module, Name, Arity)]),
    [io:put_chars([C, $\n]) || C <- lists:usort(lists:append([calls(I) || I <- Code]))].

calls({call, _, MFA}) -> one("call ", MFA);
calls({call_ext, _, {extfunc, erlang, apply, _}}) -> ["any"];
calls({call_ext, _, MFA}) -> one("call ", MFA);
calls({call_only, _, MFA}) -> one("last ", MFA);
calls({call_last, _, MFA, _}) -> one("last ", MFA);
calls({call_ext_only, _, {extfunc, erlang, apply, _}}) -> ["any"];
calls({call_ext_only, _, MFA}) -> one("last ", MFA);
calls({call_ext_last, _, {extfunc, erlang, apply, _}, _}) -> ["any"];
calls({call_ext_last, _, MFA, _}) -> one("last ", MFA);
calls({call_fun, _}) -> ["any"];
calls({call_fun2, _, _, _}) -> ["any"];
calls({apply, _}) -> ["any"];
calls({apply_last, _, _}) -> ["any"];
calls({bif, Name, _, Arguments, _}) -> one("call ", {erlang, Name, length(Arguments)});
calls({gc_bif, Name, _, _, Arguments, _}) -> one("call ", {erlang, Name, length(Arguments)});
calls(send) -> one("call ", {erlang, send, 2}) ++ one("call ", {erlang, '!', 2});
calls(raw_raise) -> one("call ", {erlang, raise, 3});
calls(_) -> [].

one(Kind, {extfunc, Module, Name, Arity}) -> one(Kind, {Module, Name, Arity});
one(Kind, {Module, Name, Arity}) -> [[Kind, mfa(Module, Name, Arity)]];
one(_, _) -> ["any"].

mfa(Module, Name, Arity) ->
    case atom_to_list(Module) of
        "Elixir." ++ Alias -> io_lib:format("~ts.~ts/~b", [Alias, Name, Arity]);
        _ -> io_lib:format("~tw:~tw/~b", [Module, Name, Arity])
    end.
