%% SPDX-License-Identifier: Apache-2.0
%% Calls each function of nop_nif a hundred times for each report. The report has the number of
%% calls, and how many words the leaf function found changed.
-module(nops).
-export([start/0]).

start() ->
    load:start(?MODULE, fun(_Options) -> fun work/0 end).

work() ->
    Calls = lists:seq(1, 100),
    [N = nop_nif:straight(N) || N <- Calls],
    [N = nop_nif:looped(N) || N <- Calls],
    #{calls => length(Calls), changed => lists:sum([nop_nif:leaf(N) || N <- Calls])}.
