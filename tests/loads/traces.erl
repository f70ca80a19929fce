%% SPDX-License-Identifier: Apache-2.0
%% Processes that work for traces. It writes the terms that opentelemetry_api writes (otel_ctx.erl,
%% otel_tracer.erl and opentelemetry.hrl of v1.4.1 and v1.5.0), without that library. The report has
%% the ids, in hexadecimal, by the function that works for the span.
-module(traces).
-export([start/0]).
-export([first/1, second/1, parent/1, child/1, small/1, baggage/1, waiting/1, none/1, undefined/1, no_op/1,
         negative/1, long/1, other/1, tree/1]).

-define(CURRENT_CTX, '$__current_otel_ctx').
-define(SPAN_CTX, {otel_tracer, span_ctx}).

start() ->
    load:start(?MODULE, fun main/1).

%% opentelemetry_api 1.4.1: #span_ctx{}.
old(Trace, Span) ->
    {span_ctx, Trace, Span, 1, [], true, false, true, {otel_span_ets, #{}}}.

%% opentelemetry_api 1.5.0: #span_ctx{}.
new(Trace, Span) ->
    {span_ctx, Trace, hex(Trace, 32), Span, hex(Span, 16), 1, {tracestate, []}, true, false, true,
     {otel_span_ets, #{}}}.

hex(Number, Digits) ->
    iolist_to_binary(io_lib:format("~*.16.0b", [Digits, Number])).

main(_Options) ->
    Random = fun(Bits) -> (1 bsl (Bits - 1)) bor rand:uniform(1 bsl (Bits - 1) - 1) end,
    Ids = maps:from_list([{F, {Random(128), Random(64)}} ||
                             F <- [first, second, parent, child, baggage, waiting]]),
    Spans = maps:merge(Ids, #{small => {1, 2}}),
    Kinds = [[first, second], [second, first], [parent], [small, baggage], [none], [waiting, none],
             [undefined, no_op, negative, long, other, tree, first]],
    [spawn_link(fun() -> begin_worker(Spans, Kind) end) || Kind <- Kinds],
    Report = maps:map(fun(_, {Trace, Span}) -> [hex(Trace, 32), hex(Span, 16)] end, Spans),
    fun() -> #{spans => Report} end.

begin_worker(Spans, Kind) ->
    [put({filler, N}, N) || N <- lists:seq(1, rand:uniform(40))],
    put('$ancestors', [parent]),
    worker(Spans, Kind, 0).

worker(Spans, Kinds, N) ->
    [turn(Spans, Kind) || Kind <- Kinds],
    put({more, N rem 50}, N), % the dictionary grows and shrinks
    erase({more, (N * 7) rem 50}),
    N rem 10 =:= 0 andalso receive after 1 -> ok end,
    worker(Spans, Kinds, N + 1).

turn(_, none) -> none(fun work/0);
turn(_, undefined) -> with_value(undefined, fun undefined/1);
turn(_, no_op) -> with_context(#{?SPAN_CTX => new(0, 0)}, fun no_op/1);
turn(_, negative) -> with_context(#{?SPAN_CTX => old(-(1 bsl 100), 5)}, fun negative/1);
turn(_, long) -> with_context(#{?SPAN_CTX => old(1 bsl 130, 5)}, fun long/1);
turn(_, other) ->
    with_context(#{?SPAN_CTX => {span_ctx, 1 bsl 100, 1 bsl 60, other}}, fun other/1);
turn(_, tree) ->
    Keys = maps:from_list([{N, N} || N <- lists:seq(1, 40)]),
    with_context(Keys#{?SPAN_CTX => new(1 bsl 100, 1 bsl 60)}, fun tree/1);
turn(Spans, parent) ->
    Child = fun() -> with_span(Spans, child, fun new/2, fun child/1), work() end,
    with_span(Spans, parent, fun new/2, fun(_) -> parent(Child) end);
turn(Spans, baggage) ->
    {Trace, Span} = maps:get(baggage, Spans),
    with_context(#{'$__otel_baggage_ctx_key' => #{<<"user">> => {<<"7">>, []}},
                   {otel_tracer, external_span_ctx} => new(7, 9),
                   ?SPAN_CTX => new(Trace, Span), other => 1}, fun baggage/1);
turn(Spans, first) -> with_span(Spans, first, fun old/2, fun first/1);
turn(Spans, second) -> with_span(Spans, second, fun new/2, fun second/1);
turn(Spans, waiting) -> with_span(Spans, waiting, fun new/2, fun waiting/1);
turn(Spans, small) -> with_span(Spans, small, fun old/2, fun small/1).

with_span(Spans, Name, Form, Function) ->
    {Trace, Span} = maps:get(Name, Spans),
    Context = case get(?CURRENT_CTX) of
        Map when is_map(Map) -> Map;
        _ -> #{}
    end,
    with_context(Context#{?SPAN_CTX => Form(Trace, Span)}, Function).

with_context(Context, Function) ->
    with_value(Context, Function).

with_value(Value, Function) ->
    Before = put(?CURRENT_CTX, Value),
    Function(fun work/0),
    put(?CURRENT_CTX, Before).

%% Each stays on the stack while it works.
first(Work) -> [Work()].
second(Work) -> [Work()].
parent(Work) -> [Work()].
child(Work) -> [Work()].
small(Work) -> [Work()].
baggage(Work) -> [Work()].
waiting(Work) -> [Work(), receive after 20 -> ok end].
none(Work) -> [Work()].
undefined(Work) -> [Work()].
no_op(Work) -> [Work()].
negative(Work) -> [Work()].
long(Work) -> [Work()].
other(Work) -> [Work()].
tree(Work) -> [Work()].

%% Compute, allocate and collect, send and receive.
work() ->
    Self = self(),
    Self ! {work, lists:sum(lists:map(fun(N) -> N * N rem 7 end, lists:seq(1, 3000)))},
    receive {work, Sum} -> Sum end,
    erlang:yield(),
    lists:foldl(fun(N, Sum1) -> (Sum1 * 31 + N) rem 65521 end, Sum, lists:seq(1, 1000)).
