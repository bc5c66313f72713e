#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The echo servers of compat/examples, or those of $ECHO_PROGRAMS, on 1, 2 and 8 workers: many
# connections at once, and more data than fits into the buffers of a socket.
set -u
dir=${top_builddir:-$(pwd)}/compat/examples
scratch=$(mktemp -d) || exit 1
server=
finish()
{
	[ -n "$server" ] && kill -9 "$server" 2>/dev/null
	rm -rf "$scratch"
}
trap finish EXIT
failures=0
connections=20

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# start PROGRAM: sets server and port
start()
{
	local i
	: >"$scratch/out"
	"$dir/$1" 0 $((connections + 1)) >"$scratch/out" 2>&1 &
	server=$!
	for i in $(seq 600); do
		port=$(sed -n 's/^echo on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$scratch/out")
		[ -n "$port" ] && return 0
		sleep 0.05
	done
	fail "$1 does not start: $(cat "$scratch/out")"
	exit 1
}

# A connection: a line comes back, then another.
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

# bulk: what is sent is not read before all of it has been written
bulk()
{
	local writer
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	cat "$scratch/sent" >&3 &
	writer=$!
	sleep 0.1
	head -c 3000000 <&3 >"$scratch/received"
	wait "$writer"
	exec 3>&-
	cmp -s "$scratch/sent" "$scratch/received"
}

serve()
{
	local pids= pid i
	start "$1"
	for i in $(seq $connections); do
		( talk "$i" ) &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || fail "$1: a connection did not get its lines back"
	done
	bulk || fail "$1: 3 MB came back changed"
	wait "$server" || fail "$1 ended with status $?"
	server=
	[ "$(tail -n 1 "$scratch/out")" = "$((connections + 1)) connections" ] ||
	    fail "$1 printed: $(cat "$scratch/out")"
}

# A line on standard error, and status 1
refuses()
{
	local port said
	for port in x '' 1x 65536 99999999999999999999; do
		said=$("$dir/$1" "$port" 1 2>&1)
		[ "$? ${said#*: }" = "1 PORT is not a number from 0 to 65535: $port" ] ||
		    fail "$1 says of port $port: $said"
	done
}

head -c 3000000 /dev/urandom >"$scratch/sent"
export MELY_PIN=no
# They end by exit in a callback: then nobody joins the threads of the runtime, which are parked.
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0"
for program in ${ECHO_PROGRAMS:-echo echo_colored}; do
	refuses $program
done
for cores in 1 2 8; do
	export MELY_CORES=$cores
	for program in ${ECHO_PROGRAMS:-echo echo_colored}; do
		serve $program
		echo "done: $program on $cores"
	done
done
[ "$failures" -eq 0 ]
