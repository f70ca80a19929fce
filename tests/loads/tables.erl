%% SPDX-License-Identifier: Apache-2.0
%% ETS tables of every type, with every kind of counter and lock, filled and then left at rest. Process
%% `keeper` owns one half, a process without a name the other. Each report is what ets:info/1 says of
%% every table of the node. `told` takes: grow, which fills the table `big`; drop, which deletes a
%% table `brief` that grow has filled, too; churn, which begins a storm of tables that are made and
%% deleted.
-module(tables).
-export([start/0, keep/1, churn/0]).

start() ->
    load:start(?MODULE, fun(_) ->
        Keeper = spawn(?MODULE, keep, [self()]),
        register(keeper, Keeper),
        [receive {Pid, ready} -> ok end || Pid <- [Keeper, spawn(?MODULE, keep, [self()])]],
        register(told, spawn(fun() -> obey([]) end)),
        fun report/0
    end).

keep(Parent) ->
    Named = whereis(keeper) =:= self(),
    Tables = [make(Type, Options) || Type <- types(), Options <- variants()],
    [Deleted | _] = Tables,
    ets:delete(Deleted),
    Named andalso ets:new(big, [named_table, public]),
    Named andalso ets:safe_fixtable(big, true),
    Parent ! {self(), ready},
    receive never -> Tables end.

types() -> [set, ordered_set, bag, duplicate_bag].

variants() ->
    [
        [private],
        [public, {write_concurrency, true}],
        [public, {write_concurrency, true}, {decentralized_counters, true}, {keypos, 2}],
        [public, {write_concurrency, true}, {decentralized_counters, false}],
        [protected, {read_concurrency, true}, compressed]
    ] ++ [[public, {write_concurrency, auto}] || list_to_integer(erlang:system_info(otp_release)) >= 25].

%% A table of its own name. Each has another number of objects, some with binaries outside of the
%% table.
make(Type, Options) ->
    Objects = 10 * length(Options) + length(atom_to_list(Type)),
    Table = ets:new(list_to_atom(lists:concat(["t ", Type, Objects])), [Type | Options]),
    [
        ets:insert(Table, {N, -N, lists:duplicate(N, $a), binary:copy(<<N>>, 100)})
     || N <- lists:seq(1, Objects)
    ],
    [ets:delete(Table, N) || N <- lists:seq(1, 3)],
    Table.

obey(Churning) ->
    receive
        grow ->
            ets:new(brief, [named_table]),
            [ets:insert(brief, {N, N}) || N <- lists:seq(1, 10000)],
            [ets:insert(big, {N, binary:copy(<<N:32>>, 10)}) || N <- lists:seq(1, 100000)],
            obey(Churning);
        drop ->
            ets:delete(brief),
            obey(Churning);
        churn ->
            obey([spawn_link(?MODULE, churn, []) || _ <- lists:seq(1, 4)] ++ Churning)
    end.

churn() ->
    Tables = [ets:new(churned, [public, {write_concurrency, true}]) || _ <- lists:seq(1, 50)],
    lists:foreach(fun ets:delete/1, Tables),
    churn().

report() ->
    #{tables => [Described || Table <- ets:all(), Described <- describe(Table)]}.

describe(Table) ->
    case ets:info(Table) of
        undefined ->
            [];
        Info ->
            Facts = maps:from_list(Info),
            [
                (maps:with([type, protection, keypos, compressed, named_table, read_concurrency,
                            write_concurrency], Facts))#{
                    name => atom_to_binary(maps:get(name, Facts), utf8),
                    id => list_to_binary(ref_to_list(maps:get(id, Facts))),
                    owner => list_to_binary(pid_to_list(maps:get(owner, Facts))),
                    size => ets:info(Table, size),
                    memory => 8 * ets:info(Table, memory),
                    fixed => ets:info(Table, fixed)
                }
            ]
    end.
