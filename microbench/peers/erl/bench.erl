%% SPDX-License-Identifier: MIT
%%
%% bench.erl: the work of ../bench.cpp in Erlang: an entity is a process, an event is a message that
%% it receives. erlang_process.c starts it, once for each run:
%%
%%     erl ... -run bench main BENCH COLORS EVENTS TICKS FD
%%
%% EVENTS is 0, or the events of each color after which the VM ends; TICKS is the work of an event
%% of fan; FD is the counters' memory. A process counts its events itself and publishes the number
%% once a burst, so that the count costs little beside the message.
%%
%% The processes are those of a plain spawn: with message_queue_data set to off_heap, an event takes
%% longer, up to four times as long in compat-chain. The producer of fan has a high priority: with it
%% the others wait less for it, and the work gets done nearly twice as fast.
-module(bench).
-export([main/1]).
-nifs([start/2, count/2, work/2, fixed/1]).
-on_load(load/0).

-define(BURST, 16). % events
-define(ROUNDS_OUT, 8).

load() ->
    erlang:load_nif(filename:join(filename:dirname(code:which(?MODULE)), "bench_nif"), 0).

%% These are in bench_nif.c.
start(_Ticks, _Fd) -> erlang:nif_error(not_loaded).
count(_I, _N) -> erlang:nif_error(not_loaded).
work(_I, _N) -> erlang:nif_error(not_loaded).
fixed(_Ns) -> erlang:nif_error(not_loaded).

main([Bench | Numbers]) ->
    [Colors, Events, Ticks, Fd] = [list_to_integer(N) || N <- Numbers],
    ok = start(Ticks, Fd),
    % Otherwise those that have their go would run before the others get theirs.
    process_flag(priority, high),
    bench(Bench, Colors, Events).

%% entities(K, Fun): the processes 0 to K - 1. Fun(I) runs in process I after its go.
entities(K, Fun) ->
    [spawn(fun() -> receive go -> Fun(I) end end) || I <- lists:seq(0, K - 1)].

go(Entities) ->
    lists:foreach(fun(E) -> E ! go end, Entities).

bench("chain", K, Events) -> chain(K, Events, fun posts/1);
bench("compat-chain", K, Events) -> chain(K, Events, fun posts_new/1);
bench("pingpong", Pairs, 0) ->
    match([spawn(fun() -> receive {other, P} -> paddle(I, P, 0) end end)
           || I <- lists:seq(0, 2 * Pairs - 1)]);
bench("fan", K, 0) ->
    Producer = spawn_opt(fun() -> receive {blades, Blades} -> producer(Blades) end end,
                         [{priority, high}]),
    Blades = entities(K, fun(I) -> blade(I, 0, I =:= K - 1, Producer) end),
    go(Blades),
    Producer ! {blades, Blades},
    [Producer ! credit || _ <- lists:seq(1, ?ROUNDS_OUT)].

%% ---- chain ----

chain(K, 0, Posts) ->
    go(entities(K, fun(I) -> forever(I, 0, Posts) end));
chain(K, Events, Posts) ->
    Main = self(),
    Links = entities(K, fun(_) -> Posts(Events), Main ! done end),
    Begin = erlang:monotonic_time(nanosecond),
    go(Links),
    lists:foreach(fun(_) -> receive done -> ok end end, Links),
    fixed(erlang:monotonic_time(nanosecond) - Begin),
    halt(0).

forever(I, N, Posts) ->
    Posts(?BURST),
    count(I, N + ?BURST),
    forever(I, N + ?BURST, Posts).

posts(0) -> ok;
posts(Left) ->
    self() ! event,
    receive event -> posts(Left - 1) end.

%% compat-chain: each message is a new term.
posts_new(0) -> ok;
posts_new(Left) ->
    self() ! {callback, Left},
    receive {callback, N} -> posts_new(N - 1) end.

%% ---- pingpong ----

match([]) -> ok;
match([A, B | Rest]) ->
    A ! {other, B},
    B ! {other, A},
    A ! ball,
    match(Rest).

paddle(I, Other, N) ->
    hits(Other, ?BURST),
    count(I, N + ?BURST),
    paddle(I, Other, N + ?BURST).

hits(_, 0) -> ok;
hits(Other, Left) ->
    receive ball -> Other ! ball, hits(Other, Left - 1) end.

%% ---- fan ----

producer(Blades) ->
    receive credit -> send_work(Blades) end,
    producer(Blades).

send_work([]) -> ok;
send_work([Blade | Rest]) ->
    Blade ! work,
    send_work(Rest).

blade(I, N, Last, Producer) ->
    receive work -> work(I, N + 1) end,
    case Last of
        true -> Producer ! credit;
        false -> ok
    end,
    blade(I, N + 1, Last, Producer).
