#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The test programs of a compat dialect compile without a warning by every compiler and language
# standard, and behave alike. The environment says which dialect; matrix_async.sh is this test for
# "async". Only a plain build runs it: other builds run the programs of their own compiler.
#
# By default $CXX checks the syntax of each program as gnu++17; make check compiles them as gnu++98
# and runs them. MELY_TEST_LONG=1: g++ and clang++, from C++98 to C++20; all programs of "mely" run,
# those of "async" run with the oldest and the newest standard.
set -u
export src=${top_srcdir:?} build=${top_builddir:?} dialect=${dialect:-mely}
scratch=$(mktemp -d) || exit 1
export scratch
trap 'rm -rf "$scratch"' EXIT
failures=0

case $dialect in
mely) library=mely-compat header=mely.h includes="-I$src/compat/include/mely" ;;
async) library=mely-compat-async header=async.h
	includes="-I$src/compat/include/async -I$build/compat/include/async" ;;
esac
export libs="-L$build/compat/.libs -l$library -L$build/mely/.libs -lmely -pthread"
if [ ! -e "$build/compat/.libs/lib$library.so" ]; then
	# Skip: the programs link the shared libraries, like a user's programs.
	echo "skipped: configured with --disable-shared"
	exit 77
fi
export LD_LIBRARY_PATH=$build/compat/.libs:$build/mely/.libs
# The flags of a program outside the tree, with more warnings than most programs enable.
export flags="-O1 -Wall -Wextra -Wshadow -Werror $includes -I$src/tests/compat"

# The canary: a case that fails, and a program with a warning.
printf '#include "%s"\n#include "facts.h"\nstatic void canary() { FACT(0); }
static const struct fact facts[] = {CASE_ON(1, canary)};\nFACTS_MAIN(facts)\n' "$header" \
    >"$scratch/canary.cc"
printf '#include "%s"\nint f(int x) { { int x = 1; (void)x; } return x; }\n' "$header" \
    >"$scratch/warning.cc"

# runs STANDARD COMPILER: does this combination run the programs? This test does not vary the number
# of workers.
runs()
{
	[ "${MELY_TEST_LONG:-0}" = 1 ] || return 1
	case $dialect,$2,$1 in
	async,g++,gnu++20 | async,clang++,gnu++98) export FACTS_WORKERS=2 ;;
	async,*) return 1 ;;
	esac
}

# try STANDARD SOURCE COMPILER...: a line that begins with "FAIL" if the program fails
try()
{
	local standard=$1 source=$2 name program more=
	shift 2
	name=$(basename "$source" .cc)
	program=$scratch/$name.$standard.$1
	# A program that only includes the header gets more warnings.
	[ "$name" = alone ] && more=-Wpedantic
	if [ -n "$more" ] || ! runs "$standard" "$@"; then
		# What is defined before the first header must come before it.
		if [ -n "$precompiled" ] && [ -z "$more" ] &&
		    ! grep -m 1 '^#' "$source" | grep -q '#define'; then
			more="-Winvalid-pch -include $precompiled"
		fi
		# shellcheck disable=SC2086 # flags are words
		"$@" -std="$standard" $flags $more -fsyntax-only "$source" ||
		    echo "FAIL: $* -std=$standard $name"
		return
	fi
	# shellcheck disable=SC2086
	if ! "$@" -std="$standard" $flags "$source" -o "$program" $libs; then
		echo "FAIL: $* -std=$standard $name"
	elif "$program" >"$program.log" 2>&1; then
		echo "ok $* -std=$standard $name"
	else
		cat "$program.log"
		echo "FAIL: $name of $* -std=$standard"
	fi
	rm -f "$program"
}

# all_of COMPILER STANDARD...: one line for each program and standard
all_of()
{
	local compiler=$1 standard
	shift
	for standard; do
		printf "$standard %s $compiler\n" "$scratch/alone.cc" \
		    "$src/tests/compat/$dialect"_*.cc
	done
}

printf '#include "%s"\nint x;\n' "$header" >"$scratch/alone.cc"
# The headers take most of the time: compile them once.
export precompiled=
if [ "${MELY_TEST_LONG:-0}" != 1 ] && [ "$dialect" = async ]; then
	precompiled=$scratch/precompiled.h
	cp "$src/tests/compat/precompiled.h" "$precompiled"
	# shellcheck disable=SC2086
	${CXX:-c++} -std=gnu++17 $flags -x c++-header -o "$precompiled.gch" "$precompiled" ||
		{ echo "FAIL: precompiled.h"; failures=1; }
fi
compilers=0
if [ "${MELY_TEST_LONG:-0}" = 1 ]; then
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
		compilers=$((compilers + 1))
		all_of $compiler gnu++98 gnu++17 gnu++20
	done >"$scratch/todo"
	# shellcheck disable=SC2086
	if ${CXX:-c++} $flags "$scratch/canary.cc" -o "$scratch/canary" $libs; then
		"$scratch/canary" >/dev/null && { echo "FAIL: the canary passes"; failures=1; }
	else
		echo "FAIL: the canary does not compile"
		failures=1
	fi
else
	compilers=1
	{ all_of "${CXX:-c++}" gnu++17
		echo "gnu++98 $scratch/alone.cc ${CXX:-c++}"; } >"$scratch/todo"
fi
[ "$compilers" -gt 0 ] || { echo "FAIL: no compiler"; failures=$((failures + 1)); }
# shellcheck disable=SC2086 # words
try gnu++17 "$scratch/warning.cc" ${CXX:-c++} 2>/dev/null | grep -q '^FAIL' ||
	{ echo "FAIL: a warning passes"; failures=$((failures + 1)); }

export -f runs try
xargs -P 2 -L 1 bash -c 'try "$@" 2>&1' try <"$scratch/todo" >"$scratch/out"
cat "$scratch/out"
echo "$dialect: $(wc -l <"$scratch/todo") programs and standards"
failures=$((failures + $(grep -c '^FAIL' "$scratch/out")))
[ "$failures" -eq 0 ] && [ "$(wc -l <"$scratch/todo")" -gt 7 ]
