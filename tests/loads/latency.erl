%% SPDX-License-Identifier: Apache-2.0
%% Serves requests as load `request` does, but at a fixed rate, and measures the wall-clock time of
%% each from its due time, whatever happened to earlier requests.
%%
%% Options: rate (requests a second, default 1000). The report has `requests`, and `histogram`:
%% bucket N counts requests of 2^(N/4) microseconds or more, and less than the next bucket's.
-module(latency).
-export([start/0, client/4]).

-define(BUCKETS, 128).

start() ->
    load:start(?MODULE, fun main/1).

main(Options) ->
    Clients = 2 * erlang:system_info(schedulers_online),
    Rate = load:option(rate, Options, 1000),
    Interval = erlang:convert_time_unit(Clients * 1000000 div Rate, microsecond, native),
    Histogram = counters:new(?BUCKETS, [write_concurrency]),
    Request = request:serve_one(),
    [spawn_link(?MODULE, client, [Request, N, Interval, Histogram]) || N <- lists:seq(1, Clients)],
    fun() ->
        Counts = [counters:get(Histogram, N) || N <- lists:seq(1, ?BUCKETS)],
        #{
            requests => lists:sum(Counts),
            histogram => Counts,
            cpu_ns => load:cpu_ns(),
            time_ns => erlang:monotonic_time(nanosecond)
        }
    end.

client(Request, N, Interval, Histogram) ->
    Due = erlang:monotonic_time() + N * Interval div 4,
    client(Request, N * 7919, Due, Interval, Histogram).

client(Request, N, Due, Interval, Histogram) ->
    sleep_until(Due),
    Request(N),
    Took = erlang:convert_time_unit(erlang:monotonic_time() - Due, native, microsecond),
    counters:add(Histogram, bucket(max(Took, 1)), 1),
    client(Request, N + 1, Due + Interval, Interval, Histogram).

sleep_until(Due) ->
    case erlang:convert_time_unit(Due - erlang:monotonic_time(), native, millisecond) of
        Ms when Ms > 0 -> timer:sleep(Ms);
        _ -> ok
    end.

bucket(Us) ->
    min(trunc(4 * math:log2(Us)) + 1, ?BUCKETS).
