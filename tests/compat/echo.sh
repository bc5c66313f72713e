#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The echo servers of compat/examples, or those of $ECHO_PROGRAMS, on 1, 2 and 8 workers: many
# connections at once, more data than fits into the buffers of a socket, and, in dialect "mely",
# connections that make no progress.
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

# start PROGRAM CONNECTIONS [SECONDS]: sets server and port
start()
{
	local i program=$1
	shift
	: >"$scratch/out"
	"$dir/$program" 0 "$@" >"$scratch/out" 2>&1 &
	server=$!
	for i in $(seq 600); do
		port=$(sed -n 's/^echo on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$scratch/out")
		[ -n "$port" ] && return 0
		sleep 0.05
	done
	fail "$program does not start: $(cat "$scratch/out")"
	exit 1
}

# talk NUMBER: one connection; waits for the echo of each line before it sends the next
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

# bulk: read nothing until everything has been sent
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

# ended PROGRAM CONNECTIONS: the server ends by itself and has counted right
ended()
{
	wait "$server" || fail "$1 ended with status $?"
	server=
	[ "$(tail -n 1 "$scratch/out")" = "$2 connections" ] ||
	    fail "$1 printed: $(cat "$scratch/out")"
}

# stalled KIND: a connection to a server with a timeout of one second, which must close it, but not
# earlier. "silent" sends nothing. "lines" sends a line every 0.3 s, ten times, then nothing; each
# line restarts the second. "deaf" sends more than it reads.
stalled()
{
	local i line before now
	before=$EPOCHREALTIME
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	case $1 in
	deaf)
		# Ends with an error when the server closes the connection.
		timeout 60 head -c 100000000 /dev/zero 2>/dev/null >&3
		[ $? -ne 124 ]
		return ;;
	lines)
		for i in 1 2 3 4 5 6 7 8 9 10; do
			now=$EPOCHREALTIME
			{ printf 'line %s\n' "$i" >&3; } 2>/dev/null &&
			    IFS= read -r -t 60 line <&3 && [ "$line" = "line $i" ] ||
				break # closed: right if this test has not run for a second
			before=$now
			sleep 0.3
		done ;;
	esac
	IFS= read -r -t 60 line <&3
	[ $? -le 128 ] && now=$EPOCHREALTIME && [ "$((${now/[.,]/} - ${before/[.,]/}))" -ge 990000 ]
}

patience()
{
	local pids= pid kind kinds="silent silent lines lines deaf deaf"
	start "$1" 6 1
	for kind in $kinds; do
		( trap '' PIPE; stalled "$kind" ) &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || fail "$1: ${kinds%% *}: closed too early, or not at all"
		kinds=${kinds#* }
	done
	ended "$1" 6
}

serve()
{
	local pids= pid i
	start "$1" $((connections + 1))
	for i in $(seq $connections); do
		( talk "$i" ) &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || fail "$1: a connection did not get its lines back"
	done
	bulk || fail "$1: 3 MB came back changed"
	ended "$1" $((connections + 1))
}

# refuses PROGRAM: one line on standard error, and status 1
refuses()
{
	local port said
	for port in x '' 1x 65536 99999999999999999999; do
		said=$("$dir/$1" "$port" 1 2>&1)
		[ "$? ${said#*: }" = "1 PORT: '$port' is not a number between 0 and 65535" ] ||
		    fail "$1 says of port $port: $said"
	done
}

head -c 3000000 /dev/urandom >"$scratch/sent"
export MELY_PIN=no
# The servers call exit in a callback, which parks the runtime's threads without joining them.
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0"
for program in ${ECHO_PROGRAMS:-echo echo_colored}; do
	refuses $program
done
for cores in 1 2 8; do
	export MELY_CORES=$cores
	for program in ${ECHO_PROGRAMS:-echo echo_colored}; do
		serve $program
		case $program in echo*) patience $program ;; esac
		echo "done: $program on $cores"
	done
done
[ "$failures" -eq 0 ]
