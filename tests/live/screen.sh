#!/bin/bash
# SPDX-License-Identifier: MIT
# The view of mely-top in a terminal: its contents at several sizes, the keys, and how it ends. tmux
# provides the terminal; without tmux the test is skipped. Waits patiently for expected contents.
set -u
build=${top_builddir:?}
top=$build/mely-top/mely-top
[ -x "$top" ] || { echo "no $top"; exit 2; }
# It is right to skip: no other test needs tmux, and ./check, which CI runs, installs it.
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
scratch=$(mktemp -d) || exit 1
# Otherwise the library would report the handlers that do not return on stderr.
export XDG_RUNTIME_DIR=$scratch MELY_SOCKET=1 MELY_STALL_MS=0 MELY_AGE_MS=0
failures=0
# A server of its own, and a session that keeps it alive between two views. Its log is for failures.
export TMUX_TMPDIR=$scratch
unset TMUX

cleanup()
{
	tmux kill-server 2>/dev/null
	exec 7>&- 8>&-
	wait
	rm -rf "$scratch"
}
trap cleanup EXIT

screen()
{
	tmux capture-pane -p -t top
}

complain()
{
	echo "FAIL: $*"
	screen || tail -n 30 "$scratch"/tmux-server-*.log
	failures=$((failures + 1))
}

# shows PATTERN: wait until the screen shows it; false after a long time.
shows()
{
	local i
	for ((i = 0; i < 600; i++)); do
		screen | grep -qE -- "$1" && return 0
		sleep 0.05
	done
	return 1
}

# start FD ARGUMENT...: start a program to watch, whose standard input ends with FD. Sets pid.
start()
{
	local fd=$1
	shift
	# The last program's line, too, must not be read again.
	rm -f "$scratch/fifo" "$scratch/ready"
	mkfifo "$scratch/fifo"
	"$build/tests/live/busy" "$@" <"$scratch/fifo" >"$scratch/ready" 7>&- 8>&- &
	eval "exec $fd>\"$scratch/fifo\""
	until grep -qs ready "$scratch/ready"; do sleep 0.02; done
	pid=$(awk '{ print $2 }' "$scratch/ready")
}

# view WIDTH HEIGHT PID
view()
{
	# tmux must not inherit the descriptors whose end the programs wait for.
	tmux new-session -d -s top -x "$1" -y "$2" \
	    "TERM=screen-256color $top --interval 0.2 $3; echo status \$?; exec sleep 1000" \
	    7>&- 8>&-
}

leave()
{
	tmux send-keys -t top q
	shows '^status 0' || complain "q does not end it with 0"
	tmux kill-session -t top
}

keys()
{
	tmux send-keys -t top "$@"
}

(cd "$scratch" && tmux -v -f /dev/null new-session -d -s keep "exec sleep 10000") || exit 1

# ---- every core in a handler --------------------------------------------------------------------

start 7 --cores 2
view 80 24 "$pid"
shows '^  0 \[#+ *\] *(9[0-9]|100)%' || complain "core 0 is not busy"
shows '^  1 \[#+ *\] *(9[0-9]|100)%' || complain "core 1 is not busy"
shows '^HANDLER .*EVENTS/S .*CORE%' || complain "no handlers"
shows '^2000 waiting 0 +[01] +3 ' || complain "no waiting color"
shows "process $pid " || complain "no title"
[ "$(screen | awk '{ if (length($0) > 80) n++ } END { print n + 0 }')" = 0 ] || complain "too wide"
shows '^q quit' || complain "no line of keys"
keys h
shows 'order of the handlers' || complain "no help"
keys h
keys p
shows '^PAUSED' || complain "no pause"
keys p
keys i
shows 'since the start' || complain "no averages since the start"
keys i
shows ' in 0\.[0-9]+ s' || complain "no interval"
keys c
shows 'longest colors first' || complain "no other order of colors"
keys n
shows 'handlers by name' || complain "no other order of handlers"
# The view follows the size of the terminal.
tmux resize-window -t top -x 30 -y 8
shows '^CORES' || complain "nothing in a small terminal"
tmux resize-window -t top -x 200 -y 60
shows '^  1 .* 3 +[0-9.]+m?s .*|^2004 waiting 4' || complain "nothing in a large terminal"
shows '5 waiting$|waiting 4 ' || complain "not all colors in a large terminal"
leave

# The view ends with the program, and reports that.
view 80 24 "$pid"
shows '^CORES' || complain "no second view"
exec 7>&-
shows "process $pid has ended" || complain "the program's end is not reported"
shows '^status 0' || complain "the program's end is an error"
tmux kill-session -t top

# ---- more cores than lines ----------------------------------------------------------------------

start 8 --cores 256 --idle
view 80 24 "$pid"
shows '^CORES .* 1-[0-9]+ of 256' || complain "no part of 256 cores"
shows '^  0 \[.*  1 \[.*  2 \[.*  3 \[' || complain "cores are not side by side"
keys End
shows '255 \[' || complain "the last core cannot be seen"
keys Home
shows '^  0 \[' || complain "the first core cannot be seen again"
tmux resize-window -t top -x 320 -y 80
shows '255 \[' || complain "not all of 256 cores in a large terminal"
leave
exec 8>&-

[ "$failures" -eq 0 ] && echo "screen: fine"
[ "$failures" -eq 0 ]
