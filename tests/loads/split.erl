%% SPDX-License-Identifier: Apache-2.0
%% Parts of known size, each in one process or many processes of its own. The parts run in turn, so
%% the CPU time of the node during a turn is the CPU time of that part. Start the node with +sbwt
%% none +sbwtdcpu none +sbwtdio none.
%%
%% Option: turn (ms). The report has the CPU time of each part, and the shares of the functions a, b
%% and c in part `pure`, by construction.
-module(split).
-export([start/0, serve/1, a/2, b/2, c/2, short_lived/1]).

start() ->
    load:start(?MODULE, fun main/1).

parts() ->
    [
        {pure, fun pure_turn/1},
        {bifs, phase_part(bifs)},
        {gc, phase_part(garbage)},
        {nif, phase_part(nif)},
        {dirty_nif, phase_part(dirty_nif)},
        {deep, phase_part(deep_recursion)},
        {short_lived, fun spawner_turn/1}
    ].

phase_part(Name) ->
    fun(Until) -> {done, phases:repeat(fun() -> phases:work(Name) end, Until)} end.

main(Options) ->
    Turn = load:option(turn, Options, 20) * 1000000,
    Count = length(parts()),
    Cpu = counters:new(Count, []),
    spawn_link(fun() ->
        Workers = [spawn_link(?MODULE, serve, [Work]) || {_, Work} <- parts()],
        turns(lists:zip(lists:seq(1, Count), Workers), Turn, Cpu)
    end),
    fun() ->
        Spent = [counters:get(Cpu, Ix) || Ix <- lists:seq(1, Count)],
        #{
            cpu_ns => maps:from_list(lists:zip([Name || {Name, _} <- parts()], Spent)),
            pure => #{a => 0.5, b => 0.3, c => 0.2}
        }
    end.

turns(Workers, Turn, Cpu) ->
    [turn(Ix, Worker, Turn, Cpu) || {Ix, Worker} <- Workers],
    turns(Workers, Turn, Cpu).

turn(Ix, Worker, Turn, Cpu) ->
    Cpu0 = load:cpu_ns(),
    Worker ! {turn, self(), erlang:monotonic_time(nanosecond) + Turn},
    receive {over, Worker} -> ok end,
    counters:add(Cpu, Ix, load:cpu_ns() - Cpu0).

serve(Work) ->
    receive
        {turn, From, Until} ->
            {done, _} = Work(Until),
            From ! {over, self()}
    end,
    serve(Work).

%% a, b and c do the same work, in the ratio 5 : 3 : 2.
pure_turn(Until) ->
    {done, phases:repeat(fun() -> {a(50000, 1), b(30000, 1), c(20000, 1)} end, Until)}.

a(0, X) -> X;
a(N, X) -> a(N - 1, (X * 1103515245 + N) band 16#7fffffff).

b(0, X) -> X;
b(N, X) -> b(N - 1, (X * 1103515245 + N) band 16#7fffffff).

c(0, X) -> X;
c(N, X) -> c(N - 1, (X * 1103515245 + N) band 16#7fffffff).

%% Run one process after the other, each for about a tenth of a millisecond.
spawner_turn(Until) ->
    {done, phases:repeat(fun() -> await(spawn_monitor(?MODULE, short_lived, [10000])) end, Until)}.

await({Pid, Monitor}) ->
    receive {'DOWN', Monitor, process, Pid, {done, _}} -> ok end.

short_lived(N) ->
    exit({done, d(N, 1)}).

d(0, X) -> X;
d(N, X) -> d(N - 1, (X * 1103515245 + N) band 16#7fffffff).
