#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Public headers: each compiles alone as C11 and as C++17 without a warning; with its usual flags a
# program cannot include the library's internal headers.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${top_builddir:-$top}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
cc=${CC:-cc}
cxx=${CXX:-c++}
flags="-I$top/include -I$build/config -Wall -Wextra -Wshadow -Werror -fsyntax-only"

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

for header in "$top"/include/mely/*.h; do
	name=${header##*/}
	printf '#include <mely/%s>\n#include <mely/%s>\nint x;\n' "$name" "$name" >"$scratch/x.c"
	cp "$scratch/x.c" "$scratch/x.cc"
	$cc -std=c11 -pedantic $flags -Wstrict-prototypes -Wmissing-prototypes "$scratch/x.c" ||
	    complain "<mely/$name> alone, as C11"
	if command -v "${cxx%% *}" >/dev/null 2>&1; then
		$cxx -std=c++17 -pedantic $flags "$scratch/x.cc" ||
		    complain "<mely/$name> alone, as C++17"
	fi
	grep -q "include/mely/$name" "$top/Makefile.am" || complain "Makefile.am lacks $name"
done

# The C++ interface compiles alone, with the oldest and the newest standard that it supports.
if command -v "${cxx%% *}" >/dev/null 2>&1; then
	printf '#include <mely/mely.hpp>\n#include <mely/mely.hpp>\nint x;\n' >"$scratch/x.cc"
	for standard in c++17 c++20; do
		$cxx -std=$standard -pedantic $flags "$scratch/x.cc" ||
		    complain "<mely/mely.hpp> alone, as $standard"
	done
fi

# The canary of the loop above: a header that needs another header is refused.
mkdir -p "$scratch/mely"
printf 'struct mely_canary { size_t size; };\n' >"$scratch/mely/canary.h"
printf '#include <mely/canary.h>\nint x;\n' >"$scratch/x.c"
if $cc -std=c11 -I"$scratch" $flags "$scratch/x.c" 2>/dev/null; then
	complain "a header that does not compile alone is accepted"
fi

# A program may include public headers ...
printf '#include <mely/mely.h>\nint x;\n' >"$scratch/x.c"
$cc -std=gnu11 $flags "$scratch/x.c" || complain "<mely/mely.h> does not compile"
# ... and no others, however it spells their names.
internal=0
for header in "$top"/mely/*/*.h "$top"/mely/*/*/*.h; do
	name=${header#"$top/mely/"}
	[ -e "$top/include/mely/${name##*/}" ] &&
	    complain "${name##*/} is the name of a public header and of an internal one"
	internal=$((internal + 1))
	for spelt in "<mely/$name>" "\"mely/$name\"" "\"$name\""; do
		printf '#include %s\nint x;\n' "$spelt" >"$scratch/x.c"
		if (cd "$scratch" && $cc -std=gnu11 $flags x.c) 2>/dev/null; then
			complain "a program can include $spelt"
		fi
	done
done
[ "$internal" -gt 0 ] || complain "no internal header was tried"

[ "$failures" -eq 0 ] && echo "headers: fine"
[ "$failures" -eq 0 ]
