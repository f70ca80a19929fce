%% SPDX-License-Identifier: Apache-2.0
%% Known numbers of messages and other signals, most of them from a process registered as NAME_from
%% to one registered as NAME_to. Does nothing until told a NAME:
%%
%%      plain        small tuples, slowly
%%      burst        20,000 integers, many at once
%%      resting      terms of all kinds, to a process that waits for each
%%      running      the same, to a process that runs meanwhile
%%      off_heap     the same, to a process that keeps its messages off its heap
%%      literal      a literal, which is not copied
%%      strings      lists so long that their words are counted in part
%%      self         to itself
%%      selective    messages that wait in the queue for another one, half a second or more
%%      call         calls of a gen_server
%%      signals      exits, links, monitors and others
%%      nif          sent by a NIF
%%      timer, port  not sent by a process
%%      traced       like plain, with the node's own trace
%%      dist         from another node; this node needs the flags that other_node() gives the other
%%
%% The report has for each finished NAME: for messages between processes, by "sender -> receiver",
%% their number, their words (flat size) and nanoseconds in the queue, in total; for other signals,
%% the number of each kind.
-module(messages).
-behaviour(gen_server).
-export([start/0, echo/1, init/1, handle_call/3, handle_cast/2]).

-define(LITERAL, {this, is, ["a", <<"literal">>], #{map => 9}}).

start() ->
    load:start(?MODULE, fun main/1).

main(_) ->
    ok = code:ensure_modules_loaded([erts_debug, timer]), %% now, because loading uses messages
    Results = ets:new(results, [public]),
    Done = counters:new(1, []),
    register(told, spawn_link(fun() -> serve(Results, Done) end)),
    fun() ->
        #{done => counters:get(Done, 1), results => maps:from_list(ets:tab2list(Results))}
    end.

serve(Results, Done) ->
    receive
        Name ->
            Worker = worker(fun() -> work(Name) end),
            ets:insert(Results, {Name, result(Worker)}),
            counters:add(Done, 1, 1)
    end,
    serve(Results, Done).

%% ---- requests ----

work(plain) ->
    pair(plain_from, plain_to, 200, fun(I) -> [I, I + 1, {I}] end);
work(burst) ->
    To = worker(burst_to, fun() -> [receive I -> I end || I <- lists:seq(1, 20000)] end),
    From = worker(burst_from, fun() ->
        repeat(500, fun(N) -> [To ! I || I <- lists:seq(40 * (N - 1) + 1, 40 * N)] end)
    end),
    result(From),
    result(To),
    #{count => 20000};
work(resting) ->
    pair(resting_from, resting_to, 400, fun term/1);
work(running) ->
    To = worker(running_to, fun() ->
        receive go -> spin_nif:spin(1000000) end,
        receive all_sent -> take_slowly(400) end
    end),
    To ! go,
    From = worker(running_from, fun() -> send_slowly(To, 400, fun term/1) end),
    result(From),
    To ! all_sent, %% many received at once would reduce the sampling of the others
    #{<<"running_from -> running_to">> => result(To)};
work(off_heap) ->
    pair(off_heap_from, off_heap_to, [{message_queue_data, off_heap}], 400, fun term/1);
work(literal) ->
    without_words(pair(literal_from, literal_to, 100, fun(_) -> ?LITERAL end));
work(strings) ->
    pair(strings_from, strings_to, 50, fun(I) -> lists:seq(I, I + 150) end);
work(self) ->
    From = worker(self_from, fun() ->
        send_slowly(self(), 50, fun(I) -> {I, [I]} end),
        take(50)
    end),
    without_words(#{<<"self_from -> self_from">> => result(From)});
work(selective) ->
    To = worker(selective_to, fun() ->
        receive go -> take_sent(300, #{count => 0, delay => 0}) end
    end),
    From = worker(selective_from, fun() ->
        send_slowly(To, 300, fun(_) -> {sent, erlang:monotonic_time(nanosecond)} end)
    end),
    result(From),
    timer:sleep(500),
    To ! go,
    #{<<"selective_from -> selective_to">> => result(To)};
work(call) ->
    {ok, Server} = gen_server:start_link({local, call_to}, ?MODULE, [], []),
    From = worker(call_from, fun() ->
        repeat(200, fun(I) -> {ok, [I]} = gen_server:call(Server, {get, I}) end)
    end),
    result(From),
    {Requests, Replies} = gen_server:call(Server, words),
    #{
        <<"call_from -> call_to">> => #{count => 200, words => Requests},
        <<"call_to -> call_from">> => #{count => 200, words => Replies}
    };
work(signals) ->
    To = worker(signals_to, fun() ->
        process_flag(trap_exit, true),
        receive stop -> ok end,
        [receive {'EXIT', _, {bye, I}} -> I end || I <- lists:seq(1, 30)]
    end),
    Counts = #{
        exit => 30, link => 40, monitor => 50, info => 70
    },
    From = worker(signals_from, fun() ->
        maps:foreach(fun(What, Count) -> repeat(Count, fun(I) -> signal(What, I, To) end) end,
                     Counts)
    end),
    result(From),
    To ! stop,
    result(To),
    Counts;
work(nif) ->
    To = worker(nif_to, fun() -> take(50) end),
    From = worker(nif_from, fun() ->
        repeat(50, fun(I) -> 1 = spin_nif:send(To, {I, [I]}) end)
    end),
    result(From),
    #{<<"nif_from -> nif_to">> => result(To)};
work(timer) ->
    To = worker(timer_to, fun() ->
        repeat(40, fun(I) -> erlang:send_after(1, self(), {I, [I]}) end),
        take(40)
    end),
    result(To);
work(port) ->
    To = worker(port_to, fun() ->
        Port = open_port({spawn, "cat"}, [{packet, 2}, binary]),
        repeat(40, fun(I) ->
            port_command(Port, <<I:64>>),
            receive {Port, {data, <<I:64>>}} -> ok end
        end)
    end),
    result(To),
    #{count => 40};
work(traced) ->
    Tracer = worker(fun() -> trace(#{sent => 0, received => 0}) end),
    erlang:trace(new_processes, true, [send, 'receive', {tracer, Tracer}]),
    Result = pair(traced_from, traced_to, 100, fun(I) -> timer:sleep(5), {I, [I]} end),
    erlang:trace(all, false, [all]),
    Tracer ! stop,
    Result#{trace => result(Tracer)};
work(dist) ->
    {ok, _} = net_kernel:start(['messages@127.0.0.1', longnames]),
    Port = other_node(),
    To = worker(dist_to, fun() -> take(50) end),
    From = worker(dist_from, fun() ->
        repeat(40, fun(I) ->
            Alias = erlang:alias([reply]),
            {echo, 'other@127.0.0.1'} ! {call, Alias, I},
            receive {Alias, I} -> ok end
        end)
    end),
    {echo, 'other@127.0.0.1'} ! {send, 50, To},
    result(To),
    result(From),
    port_close(Port),
    #{to => 50, from => 40}.

%% Send `Count` messages from one process to another.
pair(From, To, Count, Make) ->
    pair(From, To, [], Count, Make).

pair(From, To, Options, Count, Make) ->
    Receiver = worker(To, Options, fun() -> take(Count) end),
    Sender = worker(From, fun() -> send_slowly(Receiver, Count, Make) end),
    result(Sender),
    #{iolist_to_binary(io_lib:format("~s -> ~s", [From, To])) => result(Receiver)}.

without_words(Results) ->
    maps:map(fun(_, Result) -> Result#{words := 0} end, Results).

%% Slow enough that each message is sampled.
repeat(Count, Fun) ->
    lists:foreach(fun(I) -> timer:sleep(1), Fun(I) end, lists:seq(1, Count)).

send_slowly(To, Count, Make) ->
    repeat(Count, fun(I) -> To ! Make(I) end).

take_slowly(Count) ->
    Taken = [begin timer:sleep(1), take(1) end || _ <- lists:seq(1, Count)],
    #{count => Count, words => lists:sum([Words || #{words := Words} <- Taken])}.

take(Count) ->
    take(Count, #{count => 0, words => 0}).

take(0, Sum) ->
    Sum;
take(Left, #{count := Count, words := Words}) ->
    receive
        Message ->
            Size = erts_debug:flat_size(Message),
            take(Left - 1, #{count => Count + 1, words => Words + Size})
    end.

take_sent(0, Sum) ->
    Sum;
take_sent(Left, #{count := Count, delay := Delay}) ->
    receive
        {sent, Sent} ->
            Took = erlang:monotonic_time(nanosecond) - Sent,
            take_sent(Left - 1, #{count => Count + 1, delay => Delay + Took})
    end.

%% ---- processes ----

worker(Work) ->
    worker(undefined, Work).

worker(Name, Work) ->
    worker(Name, [], Work).

%% Start a process, which is registered when this returns; result(Pid) waits for the result of its
%% work.
worker(Name, Options, Work) ->
    Parent = self(),
    Pid = spawn_opt(
        fun() ->
            Name =:= undefined orelse register(Name, self()),
            Parent ! {started, self()},
            Parent ! {result, self(), Work()},
            timer:sleep(3000) %% until its samples are named
        end,
        Options
    ),
    receive {started, Pid} -> Pid end.

result(Pid) ->
    receive {result, Pid, Result} -> Result end.

%% ---- terms of all kinds, without literals ----

term(I) ->
    make(I rem 20, I).

make(0, I) -> {I, [I], {I}};
make(1, I) -> [I, I, I];
make(2, I) -> [{I}, I, {I}];
make(3, I) -> [I, {I}, I, {I}];
make(4, I) -> [I, I | {I, I}];
make(5, I) -> [I | float(I)];
make(6, I) -> float(I);
make(7, I) -> I + (1 bsl 70);
make(8, I) -> <<I:64, I:64>>;
make(9, I) -> binary:copy(<<I:64>>, 100);
make(10, I) -> binary:part(binary:copy(<<I:64>>, 100), 3, 70);
make(11, I) -> <<Bits:13/bitstring, _/bitstring>> = <<I:64>>, Bits;
make(12, _) -> make_ref();
make(13, I) -> <<1:1, I:64>>;
make(14, I) -> #{I => I, {I} => [I]};
make(15, I) -> maps:from_list([{N, I} || N <- lists:seq(1, 50)]);
make(16, I) -> lists:seq(I, I + 100);
make(17, I) -> [lists:seq(I, I + 10), {float(I)}];
make(18, I) -> I;
make(19, I) -> [I, I, [I, {I}], <<I:16>> | [I, I]].

%% ---- other signals ----

signal(exit, I, To) -> exit(To, {bye, I});
signal(link, _, To) -> link(To), unlink(To);
signal(monitor, _, To) -> demonitor(monitor(process, To));
signal(info, _, To) -> {_, _} = process_info(To, dictionary).

trace(#{sent := Sent, received := Received} = Counts) ->
    receive
        {trace, _, send, {I, [I]}, _} -> trace(Counts#{sent := Sent + 1});
        {trace, _, 'receive', {I, [I]}} -> trace(Counts#{received := Received + 1});
        {trace, _, send, _, _} -> trace(Counts);
        {trace, _, 'receive', _} -> trace(Counts);
        stop -> Counts
    end.

%% ---- a gen_server, which counts the words of requests and replies ----

init([]) ->
    {ok, {0, 0}}.

handle_call({get, I} = Request, {_, Tag} = From, {Requests, Replies}) ->
    Reply = {ok, [I]},
    {reply, Reply, {
        Requests + erts_debug:flat_size({'$gen_call', From, Request}),
        Replies + erts_debug:flat_size({Tag, Reply})
    }};
handle_call(words, _, State) ->
    {reply, State, State}.

handle_cast(_, State) ->
    {noreply, State}.

%% ---- another node ----

%% Needs no epmd: this node listens at the port of its flag -erl_epmd_port, the other one does not
%% listen.
other_node() ->
    {ok, [[Port]]} = init:get_argument(erl_epmd_port),
    register(dist_starter, self()),
    Erl = open_port({spawn_executable, filename:join([code:root_dir(), "bin", "erl"])}, [
        {args, [
            "-noshell", "-name", "other@127.0.0.1", "-setcookie", atom_to_list(erlang:get_cookie()),
            "-start_epmd", "false", "-erl_epmd_port", Port, "-dist_listen", "false",
            "-pa", filename:dirname(code:which(?MODULE)),
            "-s", "messages", "echo", atom_to_list(node())
        ]}
    ]),
    receive ready -> unregister(dist_starter) end,
    Erl.

echo([Node]) ->
    true = net_kernel:connect_node(Node),
    register(echo, spawn(fun echo/0)),
    {dist_starter, Node} ! ready,
    io:get_line(""), %% until the port is closed
    halt().

echo() ->
    receive
        {send, Count, To} -> send_slowly(To, Count, fun(I) -> {I, [I]} end);
        {call, Alias, I} -> Alias ! {Alias, I}
    end,
    echo().
