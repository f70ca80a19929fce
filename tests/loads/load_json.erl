%% SPDX-License-Identifier: Apache-2.0
%% Encode the output of the loads as JSON; OTP has an encoder only from 27 on.
-module(load_json).
-export([encode/1]).

%% Maps become objects, lists arrays, binaries and atoms strings (except true, false and null).
encode(Map) when is_map(Map) ->
    Members = [[encode_key(K), $:, encode(V)] || {K, V} <- lists:sort(maps:to_list(Map))],
    [${, lists:join($,, Members), $}];
encode(List) when is_list(List) ->
    [$[, lists:join($,, [encode(E) || E <- List]), $]];
encode(Integer) when is_integer(Integer) ->
    integer_to_list(Integer);
encode(Float) when is_float(Float) ->
    float_to_list(Float, [{decimals, 6}]);
encode(Atom) when Atom =:= true; Atom =:= false; Atom =:= null ->
    atom_to_list(Atom);
encode(Atom) when is_atom(Atom) ->
    encode(atom_to_binary(Atom));
encode(Text) when is_binary(Text) ->
    [$", [escape(C) || <<C/utf8>> <= Text], $"].

encode_key(Key) when is_integer(Key) -> encode(integer_to_binary(Key));
encode_key(Key) -> encode(Key).

escape($") -> <<"\\\"">>;
escape($\\) -> <<"\\\\">>;
escape(C) when C < 32 -> io_lib:format("\\u~4.16.0b", [C]);
escape(C) -> <<C/utf8>>.
