#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The libasync-smp scheduler keeps the same invariants: the test programs run linked with
# libmely-libasync instead of libmely. Cases that it cannot keep by its nature are left out.
set -u
src=${top_srcdir:?} build=${top_builddir:?}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
libdir=$build/mely/.libs
cc=${CC:-cc}

# The programs link the shared library, or its archive where configure built no shared one.
if grep -q "^library_names=''" "$build/mely/libmely-libasync.la"; then
	shared=no
	dependencies=$(sed -n "s/^dependency_libs='\(.*\)'/\1/p" "$build/mely/libmely-libasync.la")
	library="$libdir/libmely-libasync.a $dependencies"
else
	shared=yes
	library="-L$libdir -lmely-libasync"
fi
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

programs="prop/aged prop/cancel prop/embedded prop/ids prop/life prop/matrix prop/order
	prop/stats prop/steal prop/stop prop/wake io/fd io/stuck
	io/timer io/work stress/mix stress/reuse"

# With a sanitizer, only what exercises the scheduler's own code. MELY_TEST_LONG=1 runs all, also
# those that see little of the scheduler.
if [ "${MELY_TEST_LONG:-0}" = 1 ]; then
	programs="$programs prop/canary prop/env prop/live prop/memory prop/misuse prop/process
		prop/spare prop/stall prop/stats_colors prop/stats_text prop/trace io/duplex
		io/pollers io/signal"
elif [ -n "${INSTRUMENT_FLAGS:-}" ]; then
	programs="prop/cancel prop/embedded prop/life prop/order prop/steal prop/stop prop/wake
		io/fd io/stuck stress/mix stress/reuse"
fi

# prop/fair is not among them: batches, ageing and priorities, invariant 5, are what a FIFO of
# events does not have; nor io/relieved, whose colors are adopted or pulled from a core that is
# stuck. Of the rest:
exempt()
{
	case $1 in
	# A color with half of the victim's events or more is never stolen (figure 2 of the paper),
	# so neither is the last one behind a handler that waits for it.
	prop/order:ids_are_exact) ;;
	prop/steal:others_take_over | prop/steal:producer_is_helped | prop/steal:none_when_off) ;;
	prop/wake:sleepers_are_woken) ;;
	io/stuck:descriptors | io/stuck:timers | io/stuck:children) ;;
	# Relief adopts no color there: the Epoll event waits behind the handler.
	io/stuck:without_stealing) ;;
	io/stuck:waiting_colors | io/stuck:some_must_wait | io/stuck:several) ;;
	# The drained event goes behind all that waits in the FIFO: invariants 5 and 10.
	prop/memory:drained_at_half) ;;
	*) return 1 ;;
	esac
}

# run PROGRAM [CASE]
run()
{
	timeout -k 10 800 "$scratch/program" ${2:+"$2"} >"$scratch/log" 2>&1
	case $? in
	0) echo "ok $1${2:+ $2}" ;;
	77) echo "skipped $1" ;;
	*) cat "$scratch/log"; echo "FAIL: $1${2:+ $2}"; failures=$((failures + 1)) ;;
	esac
}

for program in $programs; do
	name=${program#*/}
	objects=("$build/tests/${program%/*}"/*-"$name".o)
	# shellcheck disable=SC2086 # flags are words
	$cc $INSTRUMENT_FLAGS ${LDFLAGS:-} -rdynamic -o "$scratch/program" "${objects[0]}" \
	    "$build/tests/lib/libtest.a" $library -pthread ||
		{ echo "FAIL: $program does not link"; failures=$((failures + 1)); continue; }
	cases=$(sed -n 's/^\tTEST_CASE(\(.*\));$/\1/p' "$src/tests/$program.c")
	left=
	for case in $cases; do
		exempt "$program:$case" || left="$left $case"
	done
	if [ "$(echo $left)" = "$(echo $cases)" ]; then
		run "$program"
	else
		for case in $left; do
			run "$program" "$case"
		done
	fi
done

if [ "$shared" = no ]; then
	[ "$failures" -eq 0 ]
	exit
fi

# A program that is linked with libmely gets the other library by LD_PRELOAD. Only that library
# reads this variable and complains about its value.
export MELY_LIBASYNC_SCAN=nonsense
# shellcheck disable=SC2086 # flags are words
$cc $INSTRUMENT_FLAGS ${LDFLAGS:-} -I"$src/include" -o "$scratch/hello" "$src/examples/hello.c" \
    -L"$libdir" -lmely -pthread || { echo "FAIL: hello does not link"; failures=$((failures + 1)); }
"$scratch/hello" >"$scratch/plain" 2>"$scratch/plain.err"
LD_PRELOAD=libmely-libasync.so.0 "$scratch/hello" >"$scratch/other" 2>"$scratch/other.err"
if [ -n "$INSTRUMENT_FLAGS" ]; then
	: # a sanitizer must be loaded first
elif cmp "$scratch/plain" "$scratch/other" && [ -s "$scratch/other" ] &&
    ! grep -q MELY_LIBASYNC_SCAN "$scratch/plain.err" &&
    grep -q MELY_LIBASYNC_SCAN "$scratch/other.err"; then
	echo "ok LD_PRELOAD"
else
	cat "$scratch"/{plain,other}*
	echo "FAIL: LD_PRELOAD"
	failures=$((failures + 1))
fi

# What they export is the same.
for lib in libmely libmely-libasync; do
	nm -D --defined-only "$libdir/$lib.so" | awk '$NF ~ /^mely_/ { print $NF }' | sort \
	    >"$scratch/$lib"
done
cmp "$scratch/libmely" "$scratch/libmely-libasync" ||
	{ echo "FAIL: the two do not export the same"; failures=$((failures + 1)); }

[ "$failures" -eq 0 ]
