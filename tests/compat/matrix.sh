#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of a compat dialect compile without a warning with g++ and clang++ from C++98 to C++20,
# and behave the same. In a plain build alone: other builds run the programs of their own compiler.
set -u
src=${top_srcdir:?} build=${top_builddir:?}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

libs="-L$build/compat/.libs -lmely-compat -L$build/mely/.libs -lmely -pthread"
if [ ! -e "$build/compat/.libs/libmely-compat.so" ]; then
	# Right to skip: its programs run with the shared libraries, as those of users do.
	echo "skipped: configured with --disable-shared"
	exit 77
fi
export LD_LIBRARY_PATH=$build/compat/.libs:$build/mely/.libs
# What a program outside of the tree is compiled with, and more warnings than most.
flags="-O1 -Wall -Wextra -Wshadow -Werror -I$src/compat/include/mely
	-I$src/tests/compat"

# A case that fails must be seen.
printf '#include "mely.h"\n#include "facts.h"\nstatic void canary() { FACT(0); }
static const struct fact facts[] = {CASE_ON(1, canary)};\nFACTS_MAIN(facts)\n' \
    >"$scratch/canary.cc"
# shellcheck disable=SC2086 # flags are words
if ${CXX:-c++} $flags "$scratch/canary.cc" -o "$scratch/canary" $libs; then
	"$scratch/canary" >/dev/null && { echo "FAIL: the canary passes"; failures=1; }
else
	echo "FAIL: the canary does not compile"
	failures=1
fi

# try COMPILER STANDARD SOURCE
try()
{
	local compiler=$1 standard=$2 name
	name=$(basename "$3" .cc)
	# shellcheck disable=SC2086 # flags are words
	if ! $compiler -std="$standard" $flags "$3" -o "$scratch/$name" $libs; then
		echo "FAIL: $compiler -std=$standard $name"
		failures=$((failures + 1))
		return
	fi
	if "$scratch/$name" >"$scratch/log" 2>&1; then
		echo "ok $compiler -std=$standard $name"
	else
		cat "$scratch/log"
		echo "FAIL: $name of $compiler -std=$standard"
		failures=$((failures + 1))
	fi
}

compilers=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
	compilers=$((compilers + 1))
	for standard in gnu++98 gnu++17 gnu++20; do
		# The header itself bears more: it is a system header to the compiler.
		printf '#include "mely.h"\nint x;\n' >"$scratch/alone.cc"
		# shellcheck disable=SC2086 # flags are words
		$compiler -std=$standard $flags -Wpedantic -fsyntax-only "$scratch/alone.cc" ||
		    { echo "FAIL: mely.h alone"; failures=$((failures + 1)); }
		for source in "$src"/tests/compat/mely_*.cc; do
			try $compiler $standard "$source"
		done
	done
done
[ "$compilers" -gt 0 ] || { echo "FAIL: no compiler"; failures=$((failures + 1)); }
[ "$failures" -eq 0 ]
