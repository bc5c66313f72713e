#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every example and compares its output. The echo server gets many connections at the same
# time; it ends after a number of connections, or by SIGTERM.
set -u
dir=${top_builddir:-$(pwd)}/examples
scratch=$(mktemp -d) || exit 1
server=
finish()
{
	[ -n "$server" ] && kill -9 "$server" 2>/dev/null
	rm -rf "$scratch"
}
trap finish EXIT
failures=0

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# compare NAME EXPECTED ACTUAL
compare()
{
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		fail "$1 printed:"
		diff <(printf '%s\n' "$2") <(printf '%s\n' "$3")
	fi
}

# A comparison that cannot fail would prove nothing.
if [ "$(failures=0; compare canary a b >/dev/null; echo $failures)" != 1 ]; then
	fail "the comparison does not see a difference"
fi

run()
{
	timeout 600 "$dir/$@" || fail "$1 ended with status $?"
}

for cores in 1 2 8; do
	export MELY_CORES=$cores
	compare "hello on $cores" "$(printf 'hello %d\n' 1 2 3 4 5 6 7 8 9 10)" "$(run hello)"
	wanted="one millisecond has passed
tick 1
tick 2
tick 3
nothing has happened for 30 ms: stop"
	# If the machine stalls a core for 30 ms, the program stops early: then try again.
	for _ in {1..50}; do
		got=$(run timers)
		[ "$got" = "$wanted" ] && break
	done
	compare "timers on $cores" "$wanted" "$got"
	compare "two_colors on $cores" "500000 + 500000 = 1000000" "$(run two_colors)"
	for colors in 0 2; do
		compare "coloring $colors on $cores" "192 pages, 3764 bytes" \
		    "$(run coloring $colors)"
	done
	compare "embed-poll on $cores" "3 ticks, 5 lines, 10 posts" "$(run embed-poll)"
	if [ -x "$dir/embed-glib" ]; then
		compare "embed-glib on $cores" "5 ticks, 5 posts" "$(run embed-glib)"
	fi
	compare "embedded on $cores" "100 parcels were seen 100000 times" "$(run embedded)"
	# Correctly colored; tests/check/example.sh runs the other variant.
	compare "missing-color on $cores" "5 guests said 50 lines" "$(run missing-color --colored)"
	printf 'abc' > "$scratch/three"
	: > "$scratch/none"
	head -c 100000 /dev/zero > "$scratch/many"
	compare "blocking on $cores" "$scratch/gone: cannot be read
$scratch/many: 100000 bytes
$scratch/none: 0 bytes
$scratch/three: 3 bytes" \
	    "$(run blocking "$scratch"/{three,none,many,gone} | sort)"
done
unset MELY_CORES

# ---- echo --------------------------------------------------------------------------------------

# start_echo OUT ARGUMENTS: sets server and port
start_echo()
{
	local out=$1 i
	shift
	: > "$out"
	"$dir/echo" "$@" > "$out" 2>&1 &
	server=$!
	for i in $(seq 600); do
		port=$(sed -n 's/^echo on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$out")
		[ -n "$port" ] && return 0
		sleep 0.1
	done
	fail "echo does not start: $(cat "$out")"
	exit 1
}

# talk N: one connection; each of three lines must come back before the next is sent.
talk()
{
	local line i
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	for i in 1 2 3; do
		printf 'connection %s line %s\n' "$1" "$i" >&3
		IFS= read -r -t 60 line <&3 || return 1
		[ "$line" = "connection $1 line $i" ] || return 1
	done
	exec 3>&-
}

connections=50
start_echo "$scratch/echo" 0 $((connections + 1))
pids=
for i in $(seq $connections); do
	( talk "$i" ) &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || fail "a connection did not get its lines back"
done
# Write more than fits into a socket's buffers before reading any of it.
head -c 3000000 /dev/urandom > "$scratch/sent"
exec 3<>"/dev/tcp/127.0.0.1/$port"
cat "$scratch/sent" >&3 &
writer=$!
sleep 0.2
head -c 3000000 <&3 > "$scratch/received"
wait "$writer"
exec 3>&-
if cmp -s "$scratch/sent" "$scratch/received"; then
	echo "ok echo of 3 MB"
else
	fail "echo of 3 MB came back changed"
fi
wait "$server" || fail "echo ended with status $?"
server=
compare "echo of $connections connections" "echo on 127.0.0.1:$port
$((connections + 1)) connections" "$(cat "$scratch/echo")"

# With no descriptor left the server closes new connections; it does not leave them to wait.
many=()
before=$(ulimit -S -n)
ulimit -S -n 40
MELY_CORES=2 start_echo "$scratch/echo" 0
ulimit -S -n "$before"
for i in $(seq 60); do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port" || fail "connection $i of 60"
	many+=("$fd")
done
IFS= read -r -t 60 line <&"$fd"
[ $? -eq 1 ] || fail "the last of 60 connections was not closed"
for fd in "${many[@]}"; do
	exec {fd}>&-
done
for i in $(seq 100); do # the server has yet to see that they are closed
	( talk 1 ) 2>/dev/null && break
	sleep 0.1
done
( talk 1 ) || fail "no connection is served after 60"
kill -TERM "$server"
wait "$server" || fail "echo ended with status $?"
server=

start_echo "$scratch/echo" 0
( talk 1 ) || fail "a connection did not get its lines back"
# One connection is idle when the drain begins: the server closes it.
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'idle\n' >&3
IFS= read -r -t 60 line <&3
kill -TERM "$server"
if IFS= read -r -t 60 line <&3 || [ $? -gt 128 ]; then
	fail "echo did not close an idle connection"
fi
exec 3>&-
wait "$server" || fail "echo ended with status $? on SIGTERM"
server=
compare "echo and SIGTERM" "echo on 127.0.0.1:$port
2 connections" "$(cat "$scratch/echo")"

[ "$failures" = 0 ]
