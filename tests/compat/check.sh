#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compat programs under the color checker, on 1, 2 and 8 cores: an example server in which every
# color touches a shared count, which the checker must report; and the unchanged server, for which
# it must not report anything.
# These programs use the shared libraries, like a user's programs; echo.sh runs those of the tree,
# which use the archives.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build/color-check}"
examples=$top_srcdir/compat/examples
check=$top_builddir/mely-check/mely-check
compat=$top_builddir/compat/.libs
mely=$top_builddir/mely/.libs
if [ ! -e "$mely/libmely-check.so" ] || [ ! -e "$compat/libmely-compat.so" ]; then
	echo "no libmely-check or libmely-compat: configure with --enable-color-check"
	exit 2
fi
command -v python3 >/dev/null || { echo "python3 not found: install python3" >&2; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset TSAN_OPTIONS
export LD_LIBRARY_PATH=$compat:$mely${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export MELY_PIN=no MELY_STALL_MS=0
failures=0

fail()
{
	[ -e "$scratch/out" ] && cat "$scratch/out"
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# without NAME SED: a copy of the example, changed by the substitution
without()
{
	cp "$examples"/*.h "$scratch"
	sed "$2" "$examples/$1.cc" >"$scratch/$1.cc"
	cmp -s "$examples/$1.cc" "$scratch/$1.cc" && fail "$1.cc: nothing to substitute: $2"
}

# build COMPILER SOURCE PROGRAM
build()
{
	"$1" -std=gnu++98 -g -O1 -fsanitize=thread -I"$top_srcdir/compat/include/mely" \
	    "$2" -o "$scratch/$3" -L"$compat" -L"$mely" -lmely-compat -lmely -pthread ||
		fail "$3 does not build"
}

# verdict STATUS PROGRAM ARGUMENT...: check the exit status after five connections. A server that
# counts in all colors may count wrong and not end by itself, so it gets a signal.
verdict()
{
	local wanted=$1 status
	shift
	PATIENCE=$((wanted == 0 ? 100 : 20)) timeout 120 \
	    python3 "$top_srcdir/tests/compat/five_clients.py" "$check" "$@" \
	    >"$scratch/out" 2>&1
	status=$?
	[ $status -eq "$wanted" ] || fail "$*, $MELY_CORES cores: status $status, not $wanted"
	[ "$wanted" -ne 0 ] || grep -q 'ended with status 0$' "$scratch/out" ||
		fail "$*: the program failed"
}

# named GLOBAL FUNCTION: the checker reports a pair that touches it, one of them this function
named()
{
	grep -E "^ +[0-9]+\. .*touch" "$scratch/out" | grep "$1" | grep -q "$2" ||
		fail "$MELY_CORES cores: no report that $2 touches $1"
}

without echo_colored 's/cpucb_tail(wrap(count_closed));/count_closed();/'
for cxx in clang++ g++; do
	command -v $cxx >/dev/null || { echo "no $cxx: left out"; continue; }
	build $cxx "$scratch/echo_colored.cc" "echo-$cxx"
	[ $failures -eq 0 ] || break
	for cores in 1 2 8; do
		export MELY_CORES=$cores
		verdict 1 "$scratch/echo-$cxx" 0 5
		named connection::closed connection::readable
	done
	echo "named: $cxx"
	build $cxx "$examples/echo_colored.cc" "echo-$cxx"
	for cores in 1 2 8; do
		export MELY_CORES=$cores
		# With timers, which are armed and removed for each line.
		verdict 0 "$scratch/echo-$cxx" 0 5 60
	done
	echo "silent: $cxx"
done
[ "$failures" -eq 0 ]
