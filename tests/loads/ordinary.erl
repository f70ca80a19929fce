%% SPDX-License-Identifier: Apache-2.0
%% Loads like those of ordinary nodes: they leave CPUs idle, and are not steady. Option what:
%%
%%      paced        requests at a steady rate
%%      pauses       requests, with pauses of up to a second
%%      bursts       requests that come many at once
%%      pipeline     lists that pass through four processes
%%      batch        a job of some hundred milliseconds each second or two, on a large heap
%%      timers       500 processes that do a little each tenth of a second
%%      publish      one process sends to 200 others
%%      mixed        paced, batch and timers
%%
%% The report has the counts of the node every 20 ms since the last report, as lists: system time in
%% ns, context switches, collections, words reclaimed, and messages that the load has sent.
-module(ordinary).
-export([start/0, client/3, stage/3, job/2, ticker/2, publisher/3, subscriber/1, log/2]).

-define(LOG_MS, 20).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Sent = counters:new(1, [write_concurrency]),
    begin_work(load:option(what, Options, mixed), Sent),
    Log = spawn(?MODULE, log, [Sent, []]),
    fun() ->
        Log ! {take, self()},
        receive
            {log, Entries} -> #{log => Entries}
        end
    end.

%% Only the messages of the load are counted: a timeout needs none, and the report a few.
log(Sent, Entries) ->
    receive
        {take, From} ->
            From ! {log, lists:reverse(Entries)},
            log(Sent, [])
    after ?LOG_MS ->
        log(Sent, [counts(Sent) | Entries])
    end.

counts(Sent) ->
    {Switches, 0} = erlang:statistics(context_switches),
    {Collections, Words, 0} = erlang:statistics(garbage_collection),
    [os:system_time(nanosecond), Switches, Collections, Words, counters:get(Sent, 1)].

begin_work(mixed, Sent) ->
    [begin_work(What, Sent) || What <- [paced, batch, timers]];
begin_work(What, Sent) when What =:= paced; What =:= pauses; What =:= bursts ->
    Serve = request:serve_one(),
    [spawn_link(?MODULE, client, [What, Serve, Sent]) || _ <- lists:seq(1, 8)];
begin_work(pipeline, Sent) ->
    Last = spawn_link(?MODULE, stage, [fun lists:sum/1, none, Sent]),
    Sorted = spawn_link(?MODULE, stage, [fun lists:usort/1, Last, Sent]),
    First = spawn_link(?MODULE, stage, [fun doubled/1, Sorted, Sent]),
    spawn_link(fun() -> feed(First, Sent) end);
begin_work(batch, Sent) ->
    spawn_link(?MODULE, job, [#{}, Sent]);
begin_work(timers, Sent) ->
    [spawn_link(?MODULE, ticker, [N, Sent]) || N <- lists:seq(1, 500)];
begin_work(publish, Sent) ->
    Subscribers = [spawn_link(?MODULE, subscriber, [[]]) || _ <- lists:seq(1, 200)],
    spawn_link(?MODULE, publisher, [0, Subscribers, Sent]).

%% ---- requests ----

client(What, Serve, Sent) ->
    [request(Serve, Sent) || _ <- lists:seq(1, at_once(What))],
    rest(pause(What)),
    client(What, Serve, Sent).

%% A call is a request and a reply. One request of eight makes a second call.
request(Serve, Sent) ->
    N = rand:uniform(1 bsl 20),
    Serve(N),
    counters:add(Sent, 1, case N rem 8 of 0 -> 4; _ -> 2 end).

at_once(paced) -> 1;
at_once(pauses) -> 1;
at_once(bursts) -> rand:uniform(300).

pause(paced) -> 5;
pause(bursts) -> 10 + rand:uniform(400);
pause(pauses) ->
    case rand:uniform(300) of
        1 -> rand:uniform(1000);
        _ -> 2
    end.

rest(Milliseconds) ->
    receive
    after Milliseconds -> ok
    end.

send(To, Message, Sent) ->
    To ! Message,
    counters:add(Sent, 1, 1).

%% ---- lists from process to process ----

feed(First, Sent) ->
    [send(First, {list, [rand:uniform(1000) || _ <- lists:seq(1, 50)]}, Sent) || _ <- lists:seq(1, 5)],
    rest(1 + rand:uniform(8)),
    feed(First, Sent).

doubled(List) -> [2 * N || N <- List].

stage(Work, Next, Sent) ->
    receive
        {list, List} ->
            pass(Next, Work(List), Sent),
            stage(Work, Next, Sent)
    end.

pass(none, _, _) -> ok;
pass(Next, List, Sent) -> send(Next, {list, List}, Sent).

%% ---- a job now and then ----

job(Kept, Sent) ->
    rest(500 + rand:uniform(1500)),
    Rows = [{rand:uniform(5000), integer_to_binary(N)} || N <- lists:seq(1, 100000)],
    Sums = lists:foldl(
        fun({Key, Text}, Map) -> maps:update_with(Key, fun(S) -> S + byte_size(Text) end, 0, Map) end,
        #{},
        lists:sort(Rows)
    ),
    job(maps:merge(Kept, Sums), Sent).

%% ---- many that do little ----

ticker(N, Sent) ->
    _ = lists:sort([erlang:phash2({N, I}) || I <- lists:seq(1, 100)]),
    rest(50 + rand:uniform(100)),
    ticker(N, Sent).

%% ---- from one to many ----

publisher(N, Subscribers, Sent) ->
    Payload = {event, N, [{K, rand:uniform(1000)} || K <- lists:seq(1, 20)]},
    [send(S, Payload, Sent) || S <- Subscribers],
    rest(20 + rand:uniform(60)),
    publisher(N + 1, Subscribers, Sent).

subscriber(Seen) ->
    receive
        {event, N, Fields} ->
            subscriber(lists:sublist([{N, maps:from_list(Fields)} | Seen], 20))
    end.
