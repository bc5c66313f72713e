#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The programs with a seeded coloring fault: the checker finds each fault and names the two handlers
# and the object in the program's line "expect:"; it reports nothing for the twin. Runs each program
# on one, two and four cores; with MELY_TEST_LONG=1 ten times.
#
#     faults.sh [FILE...]
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build/color-check}"
export src=$top_srcdir/tests/check build=$top_builddir
export cc=${CC:-clang} cxx=${CXX:-clang++} include=$top_srcdir/include
export instrument=${INSTRUMENT_FLAGS:--fsanitize=thread}
# The archive of libmely-check, and the libraries it needs.
export library=$build/mely/.libs/libmely-check.a libs='-lhwloc -lev -lpthread'
export check=$build/mely-check/mely-check
export ldflags=${LDFLAGS:-}
export runs=1
[ -n "${MELY_TEST_LONG:-}" ] && runs=10
scratch=$(mktemp -d) || exit 1
export scratch
trap 'rm -rf "$scratch"' EXIT
unset MELY_CORES TSAN_OPTIONS

[ -e "$library" ] || { echo "no $library: configure with --enable-color-check"; exit 2; }

# try TWIN: run the program with name, cores and run as set in one(); sets status and log.
try()
{
	log=$scratch/$name-$1-$cores-$run
	MELY_CORES=$cores timeout 60 "$check" "$scratch/$name-$1" >"$log" 2>&1 </dev/null
	status=$?
}

# bad WHAT: report a failure; always false.
bad()
{
	cat "$log"
	echo "FAIL $name on $cores cores, run $run: $1 (status $status)"
	return 1
}

# one FILE: build and run the program and its twin; prints a line for each failed run, or "ok".
one()
{
	local name=${1%.*} compile="$cc -std=gnu11" a b object wanted
	local twin cores run status log bad=0
	[ "${1##*.}" = c ] || compile="$cxx -std=gnu++17"
	read -r a b object < <(sed -n 's/^ \* expect: //p' "$src/$1")
	if [ -z "${object:-}" ]; then
		echo "FAIL $name: its comment has no complete line expect:"
		return
	fi
	case $object in
	heap) object="a heap block" ;;
	stack*) object="a variable on the ${object//[()]/.}\$" ;;
	*) object="global '$object'" ;;
	esac
	wanted="^ +[0-9]+\. ($a and $b|$b and $a) touch $object"
	for twin in FAULT FIXED; do
		# shellcheck disable=SC2086 # flags are words
		$compile -g -O1 -Wall -Wextra $instrument $ldflags -D$twin -I"$include" \
		    -o "$scratch/$name-$twin" "$src/$1" "$library" $libs \
		    2>"$scratch/$name.log" ||
			{ cat "$scratch/$name.log"; echo "FAIL $name: does not build"; return; }
	done
	for cores in 1 2 4; do
		for run in $(seq "$runs"); do
			{ try FAULT; [ $status -eq 1 ] && grep -qE "$wanted" "$log"; } ||
				bad "the fault is not found" || bad=1
			{ try FIXED; [ $status -eq 0 ] && grep -q 'status 0$' "$log"; } ||
				bad "its twin fails or is reported" || bad=1
		done
	done
	[ $bad -eq 0 ] && echo "ok $name: found, and its twin is silent"
}
export -f one try bad

if [ $# -eq 0 ]; then
	set -- "$src"/*.c "$src"/*.cc
fi
for file in "$@"; do
	basename "$file"
done | xargs -P "$(nproc)" -n 1 bash -c 'one "$0"' >"$scratch/all"
cat "$scratch/all"
found=$(grep -c '^ok ' "$scratch/all")
echo "$found of $# faults found on 1, 2 and 4 cores, $runs times, with no twin reported"
[ "$found" -eq $# ] && [ $# -gt 0 ]
