#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checker names the missing color of examples/missing-color on any number of cores, and reports
# nothing when the color is present. Tried for every way in which a program can use the checker:
# linked with its archive, or with a shared libmely that mely-check replaces; by clang and by gcc.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build/color-check}"
libdir=$top_builddir/mely/.libs
check=$top_builddir/mely-check/mely-check
if [ ! -e "$libdir/libmely-check.a" ]; then
	echo "no $libdir/libmely-check.a: configure with --enable-color-check"
	exit 2
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset MELY_CORES TSAN_OPTIONS
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failures=0

fail()
{
	[ -e "$scratch/out" ] && cat "$scratch/out"
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# verdict STATUS WHAT PROGRAM ARGUMENT...: compare the checker's status and the program's output.
verdict()
{
	local wanted=$1 what=$2 status
	shift 2
	"$check" "$@" >"$scratch/out" 2>&1 </dev/null
	status=$?
	[ $status -eq "$wanted" ] || { fail "$what: status $status, not $wanted"; return; }
	grep -q 'ended with status 0$' "$scratch/out" ||
		{ fail "$what: the program failed"; return; }
	grep -q '^5 guests said 50 lines$' "$scratch/out" ||
		fail "$what: the program's output differs"
}

# both WHAT PROGRAM: run without the color, and with it.
both()
{
	local cores before=$failures
	for cores in 1 2 4; do
		export MELY_CORES=$cores
		verdict 1 "$1, $cores cores" "$2"
		grep -E '^ +[0-9]+\. (on_line and on_leave|on_leave and on_line) touch' \
		    "$scratch/out" | grep -q "global 'room'" ||
			fail "$1, $cores cores: does not name handlers and object"
		grep -qE 'on_leave writes .* in color 10[0-4] \(guest [0-4]\)$' "$scratch/out" ||
			fail "$1, $cores cores: does not name the guest"
		grep -qE 'on_line reads .* in color 1 \(room\)$' "$scratch/out" ||
			fail "$1, $cores cores: does not name the room"
		verdict 0 "$1 colored, $cores cores" "$2" --colored
	done
	unset MELY_CORES
	[ $failures -eq "$before" ] && echo "ok $1"
}

both "the example as built" "$top_builddir/examples/missing-color"

for cc in clang gcc; do
	command -v $cc >/dev/null || { echo "$cc not found: skipped"; continue; }
	for how in check shared; do
		library=-lmely
		[ $how = check ] && library=-lmely-check
		$cc -std=gnu11 -g -O1 -fsanitize=thread -I"$top_srcdir/include" \
		    -o "$scratch/$cc-$how" "$top_srcdir/examples/missing-color.c" \
		    -L"$libdir" $library -pthread ||
			{ fail "$cc, $how: does not build"; continue; }
		both "$cc, $library" "$scratch/$cc-$how"
	done
done
# Plain libmely reports nothing about colors: the reports above come from the checker.
TSAN_OPTIONS=exitcode=66 MELY_CORES=1 "$scratch/clang-shared" >"$scratch/out" 2>&1 ||
	fail "one core without the checker: ThreadSanitizer reports a race"

[ "$failures" -eq 0 ]
