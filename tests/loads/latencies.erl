%% SPDX-License-Identifier: Apache-2.0
%% Calls that take a known time. Does nothing until told one of:
%%
%%      once       one call of slept/1, from where those of `sleeps` come
%%      sleeps     1,000 calls of slept/1, in 10 processes that any scheduler continues
%%      recurses   20 calls of deep/1, which calls itself 4 times and sleeps at the end
%%      loops      20 calls of looped/1, which jumps to itself 50 times and sleeps each time
%%      short      a call of rounds/1, which jumps to itself 3 times
%%      throws     40 calls of thrown/1, half of which are passed by an exception
%%      exits      10 processes that end in exited/1, and 10 calls that return
%%      many       calls of spread/1 from six lines, which take 1 to 6 ms
%%      quick      1,000 calls of quick/1, which does nothing
%%      reload     loads this module again, so that the VM has two versions
%%      endless    a call of slept/1 that does not return
%%
%% The report has the number of finished requests, and the median time of the calls of `sleeps` as the
%% node has measured it, in ns.
-module(latencies).
-export([start/0]).

-define(PROCESSES, 10).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    Done = counters:new(1, []),
    Median = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Median, Done) end)),
    fun() -> #{done => counters:get(Done, 1), median_ns => counters:get(Median, 1)} end.

serve(Median, Done) ->
    receive
        once -> sleeps(1);
        sleeps -> counters:put(Median, 1, median(in_processes(fun() -> sleeps(100) end)));
        recurses -> repeat(20, fun() -> 5 = deep(4) end);
        loops -> repeat(20, fun() -> done = looped(50) end);
        short -> done = rounds(3);
        throws -> repeat(20, fun() -> {caught, returned} = throws() end);
        exits -> in_processes(fun() -> exits() end);
        many -> repeat(30, fun() -> many() end);
        quick -> repeat(1000, fun() -> 2 = quick(1) end);
        reload -> {module, ?MODULE} = code:load_file(?MODULE);
        endless -> spawn(fun() -> slept(infinity), ok end)
    end,
    counters:add(Done, 1, 1),
    serve(Median, Done).

repeat(Times, Work) ->
    [Work() || _ <- lists:seq(1, Times)].

%% Return the results of the processes that have one.
in_processes(Work) ->
    Parent = self(),
    Monitors = [spawn_monitor(fun() -> Parent ! {result, Work()} end)
                || _ <- lists:seq(1, ?PROCESSES)],
    [receive {'DOWN', Monitor, process, _, _} -> ok end || {_, Monitor} <- Monitors],
    lists:append(results()).

results() ->
    receive
        {result, Result} -> [Result | results()]
    after 0 -> []
    end.

median(Times) ->
    lists:nth((length(Times) + 1) div 2, lists:sort(Times)).

%% ---- calls ----

sleeps(Times) ->
    [begin
         Began = erlang:monotonic_time(nanosecond),
         ok = slept(10),
         erlang:monotonic_time(nanosecond) - Began
     end || _ <- lists:seq(1, Times)].

slept(Ms) ->
    receive
    after Ms -> ok
    end.

deep(0) ->
    ok = slept(5),
    1;
deep(N) ->
    1 + deep(N - 1).

looped(0) ->
    done;
looped(N) ->
    ok = slept(1),
    looped(N - 1).

%% The second call has the place of the first one on the stack.
throws() ->
    {thrown_by(true), thrown_by(false)}.

thrown_by(Throws) ->
    try thrown(Throws)
    catch
        throw:passed -> caught
    end.

thrown(Throws) ->
    ok = slept(2),
    case Throws of
        true -> throw(passed);
        false -> returned
    end.

exits() ->
    ok = exited(false),
    ok = exited(true),
    [].

exited(Ends) ->
    ok = slept(5),
    Ends andalso exit(normal),
    ok.

many() ->
    ok = spread(1),
    ok = spread(2),
    ok = spread(3),
    ok = spread(4),
    ok = spread(5),
    ok = spread(6).

spread(Ms) ->
    ok = slept(Ms),
    ok.

quick(N) -> N + 1.

rounds(0) -> done;
rounds(N) -> rounds(N - 1).
