#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of a compat dialect compile without a warning with g++ and clang++ from C++98 to C++20,
# and behave the same. In a plain build alone: other builds run the programs of their own compiler.
# The environment says which dialect; matrix_async.sh is this one for "async".
set -u
src=${top_srcdir:?} build=${top_builddir:?}
dialect=${dialect:-mely}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

case $dialect in
mely) library=mely-compat header=mely.h includes="-I$src/compat/include/mely" ;;
async) library=mely-compat-async header=async.h
	includes="-I$src/compat/include/async -I$build/compat/include/async" ;;
esac
libs="-L$build/compat/.libs -l$library -L$build/mely/.libs -lmely -pthread"
if [ ! -e "$build/compat/.libs/lib$library.so" ]; then
	# Right to skip: its programs run with the shared libraries, as those of users do.
	echo "skipped: configured with --disable-shared"
	exit 77
fi
export LD_LIBRARY_PATH=$build/compat/.libs:$build/mely/.libs
# What a program outside of the tree is compiled with, and more warnings than most.
flags="-O1 -Wall -Wextra -Wshadow -Werror $includes -I$src/tests/compat"

# A case that fails must be seen.
printf '#include "%s"\n#include "facts.h"\nstatic void canary() { FACT(0); }
static const struct fact facts[] = {CASE_ON(1, canary)};\nFACTS_MAIN(facts)\n' "$header" \
    >"$scratch/canary.cc"
# shellcheck disable=SC2086 # flags are words
if ${CXX:-c++} $flags "$scratch/canary.cc" -o "$scratch/canary" $libs; then
	"$scratch/canary" >/dev/null && { echo "FAIL: the canary passes"; failures=1; }
else
	echo "FAIL: the canary does not compile"
	failures=1
fi

# Of the many programs of "async" some combinations are run, all are compiled; how many workers
# there are is not what this test is about.
runs()
{
	case $dialect,$1,$2 in
	async,g++,gnu++20 | async,clang++,gnu++98) export FACTS_WORKERS=2 ;;
	async,*) return 1 ;;
	esac
}

# try COMPILER STANDARD SOURCE
try()
{
	local compiler=$1 standard=$2 name program
	name=$(basename "$3" .cc)
	program=$scratch/$compiler.$name
	if ! runs "$compiler" "$standard"; then
		# shellcheck disable=SC2086 # flags are words
		$compiler -std="$standard" $flags -fsyntax-only "$3" ||
		    echo "FAIL: $compiler -std=$standard $name"
		return
	fi
	# shellcheck disable=SC2086
	if ! $compiler -std="$standard" $flags "$3" -o "$program" $libs; then
		echo "FAIL: $compiler -std=$standard $name"
	elif "$program" >"$program.log" 2>&1; then
		echo "ok $compiler -std=$standard $name"
	else
		cat "$program.log"
		echo "FAIL: $name of $compiler -std=$standard"
	fi
	rm -f "$program"
}

# all_of COMPILER
all_of()
{
	local standard source
	for standard in gnu++98 gnu++17 gnu++20; do
		# The header itself bears more: it is a system header to the compiler.
		printf '#include "%s"\nint x;\n' "$header" >"$scratch/$1.alone.cc"
		# shellcheck disable=SC2086 # flags are words
		$1 -std=$standard $flags -Wpedantic -fsyntax-only "$scratch/$1.alone.cc" ||
		    echo "FAIL: $header alone, $1 -std=$standard"
		for source in "$src/tests/compat/$dialect"_*.cc; do
			try "$1" $standard "$source"
		done
	done
}

compilers=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
	compilers=$((compilers + 1))
	all_of $compiler >"$scratch/$compiler.out" 2>&1 &
done
wait
[ "$compilers" -gt 0 ] || { echo "FAIL: no compiler"; failures=$((failures + 1)); }
cat "$scratch"/*.out
failures=$((failures + $(cat "$scratch"/*.out | grep -c '^FAIL')))
[ "$failures" -eq 0 ]
