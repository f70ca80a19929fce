#!/usr/bin/env escript
%% SPDX-License-Identifier: Apache-2.0
%% Read an analysis file of fprof as Erlang programs do, check its sums, and print a line for each
%% function of each process: process, function, samples, time with callees and own time. Functions of
%% all processes together have the process "totals".
%%
%% usage: escript fprof_read.escript FILE

main([File]) ->
    {ok, [{analysis_options, Options}, [{totals, Count, _, Own}] | Terms]} = file:consult(File),
    [{callers, true}, {sort, acc}, {totals, InTotal}, {details, PerProcess}] = Options,
    PerProcess = not InTotal,
    Costs = case InTotal of
        true -> [function("totals", Function) || Function <- Terms];
        false -> processes(Terms)
    end,
    {Counts, Owns} = lists:unzip(Costs),
    Count = lists:sum(Counts),
    same(totals, Own, lists:sum(Owns)).

processes([]) ->
    [];
processes([[{Pid, Count, undefined, Own} | Start] | Terms]) ->
    [true = lists:member(Key, [spawned_by, initial_calls]) || {Key, _} <- Start],
    {Functions, Rest} = lists:splitwith(fun erlang:is_tuple/1, Terms),
    Costs = [function(Pid, Function) || Function <- Functions],
    Count = lists:sum([Counted || {Counted, _} <- Costs]),
    same(Pid, Own, lists:sum([Time || {_, Time} <- Costs])),
    [{Count, Own} | processes(Rest)].

function(Pid, {Callers, {Function, Count, Acc, Own}, Called}) ->
    Count = lists:sum([N || {_, N, _, _} <- Callers]),
    same(Function, Acc, lists:sum([Time || {_, _, Time, _} <- Callers])),
    same(Function, Own, lists:sum([Time || {_, _, _, Time} <- Callers])),
    Function =:= suspend orelse
        same(Function, Acc, Own + lists:sum([Time || {_, _, Time, _} <- Called])),
    io:format("~ts\t~ts\t~b\t~.6f\t~.6f~n", [Pid, name(Function), Count, Acc, Own]),
    {Count, Own}.

name({Module, Function, Arity}) ->
    io_lib:format("~ts:~ts/~b", [Module, Function, Arity]);
name(Pseudo) ->
    atom_to_list(Pseudo).

%% Sums of floats.
same(_, A, B) when abs(A - B) < 0.0001 -> ok.
