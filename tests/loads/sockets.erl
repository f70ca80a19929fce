%% SPDX-License-Identifier: Apache-2.0
%% Ports and sockets at rest, some with data that nobody reads. The report has what the VM says of
%% each.
-module(sockets).
-export([start/0]).

-define(LOCAL, {127, 0, 0, 1}).
-define(WATERMARK, 1000000).

start() ->
    load:start(?MODULE, fun main/1).

main(_Options) ->
    register(sockets_main, self()),
    Ports = tcp() ++ tcp6() ++ udp() ++ local() ++ programs(),
    Sockets = sockets(),
    receive
    after 500 -> ok
    end,
    fun() ->
        #{
            all => [text(Port) || Port <- erlang:ports()],
            ports => [port(Kind, Port) || {Kind, Port} <- Ports],
            sockets => [socket(Kind, Socket) || {Kind, Socket} <- Sockets]
        }
    end.

%% A listener with a connection that waits to be accepted, a connection whose sender is suspended,
%% because its receiver does not read, and a connection that has sent all.
tcp() ->
    {ok, Listener} = gen_tcp:listen(0, [{ip, ?LOCAL}, {active, false}, binary]),
    {Full, Unread} = pair(Listener, [{high_watermark, ?WATERMARK}]),
    spawn(fun() ->
        register(sockets_sender, self()),
        ok = gen_tcp:send(Full, binary:copy(<<"x">>, 1 bsl 23)),
        gen_tcp:send(Full, <<"suspends">>)
    end),
    {Sent, Read} = pair(Listener, []),
    ok = gen_tcp:send(Sent, binary:copy(<<"y">>, 1234)),
    {ok, _} = gen_tcp:recv(Read, 1234),
    {ok, Port} = inet:port(Listener),
    {ok, Waits} = gen_tcp:connect(?LOCAL, Port, [{active, false}]),
    [
        {listener, Listener},
        {full, Full},
        {unread, Unread},
        {sent, Sent},
        {read, Read},
        {waits, Waits}
    ].

pair(Listener, Options) ->
    {ok, Port} = inet:port(Listener),
    {ok, Client} = gen_tcp:connect(?LOCAL, Port, [{active, false}, binary | Options]),
    {ok, Server} = gen_tcp:accept(Listener),
    {Client, Server}.

%% Nothing on a host without IPv6.
tcp6() ->
    case gen_tcp:listen(0, [inet6, {ip, {0, 0, 0, 0, 0, 0, 0, 1}}]) of
        {ok, Listener} -> [{listener6, Listener}];
        {error, _} -> []
    end.

udp() ->
    {ok, Receiver} = gen_udp:open(0, [{ip, ?LOCAL}, {active, false}]),
    {ok, Sender} = gen_udp:open(0, [{ip, ?LOCAL}]),
    {ok, Port} = inet:port(Receiver),
    ok = gen_udp:send(Sender, ?LOCAL, Port, <<"not read">>),
    [{udp_receiver, Receiver}, {udp_sender, Sender}].

%% A path in the namespace of abstract paths.
local() ->
    Path = iolist_to_binary([0, "beamflame-", os:getpid()]),
    {ok, Listener} = gen_tcp:listen(0, [{ifaddr, {local, Path}}]),
    [{local, Listener}].

programs() ->
    Cat = open_port({spawn, "cat -u"}, [binary]),
    register(sockets_cat, Cat),
    Cat ! {self(), {command, <<"hello">>}},
    receive
        {Cat, {data, <<"hello">>}} -> ok
    end,
    [{program, Cat}].

%% Sockets of the module `socket` have no port.
sockets() ->
    {ok, Listener} = socket:open(inet, stream, tcp),
    ok = socket:bind(Listener, #{family => inet, addr => ?LOCAL, port => 0}),
    ok = socket:listen(Listener),
    {ok, Address} = socket:sockname(Listener),
    {ok, Client} = socket:open(inet, stream, tcp),
    ok = socket:connect(Client, Address),
    {ok, Server} = socket:accept(Listener),
    ok = socket:send(Client, binary:copy(<<"z">>, 5000)),
    [{listener, Listener}, {client, Client}, {server, Server}].

%% ---- the report ----

port(Kind, Port) ->
    Info = maps:from_list(erlang:port_info(Port)),
    {registered_name, Name} =
        case erlang:port_info(Port, registered_name) of
            [] -> {registered_name, null};
            Registered -> Registered
        end,
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    {queue_size, Queue} = erlang:port_info(Port, queue_size),
    inet(Port, #{
        kind => Kind,
        id => text(Port),
        name => list_to_binary(maps:get(name, Info)),
        owner => text(maps:get(connected, Info)),
        input => maps:get(input, Info),
        output => maps:get(output, Info),
        queue_size => Queue,
        registered_name => Name,
        os_pid => OsPid
    }).

inet(Port, Report) ->
    case inet:getstat(Port, [recv_oct, send_oct]) of
        {ok, Counts} ->
            maps:merge(Report#{local => name(inet:sockname(Port)), peer => name(inet:peername(Port))},
                       maps:from_list(Counts));
        {error, _} ->
            Report
    end.

socket(Kind, Socket) ->
    #{kind => Kind, local => name(socket:sockname(Socket)), peer => name(socket:peername(Socket))}.

name({ok, {local, Path}}) ->
    binary:replace(Path, <<0>>, <<"@">>);
name({ok, {Address, Port}}) when tuple_size(Address) =:= 4 ->
    iolist_to_binary([inet:ntoa(Address), $:, integer_to_binary(Port)]);
name({ok, {Address, Port}}) ->
    iolist_to_binary([$[, inet:ntoa(Address), "]:", integer_to_binary(Port)]);
name({ok, #{addr := Address, port := Port}}) ->
    name({ok, {Address, Port}});
name(_) ->
    null.

text(Port) when is_port(Port) -> list_to_binary(erlang:port_to_list(Port));
text(Pid) -> list_to_binary(pid_to_list(Pid)).
