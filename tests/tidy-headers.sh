#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Public headers: each compiles alone as C11 and as C++17 without a warning; with its usual flags a
# program cannot include the library's internal headers. tests/prop/nulls.def has every pointer that
# a public function takes.
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

# pointers HEADER...: "function parameter" for each pointer that a public function takes, but for
# arg, which is passed on untouched.
pointers()
{
	cat "$@" | tr '\n\t' '  ' | grep -oE 'MELY_API [^;]*;' |
	    sed -E 's/\(\*([a-z_]+)\)\([^()]*\)/*\1/g' |
	    sed -E 's/^MELY_API [^(]*[ *]mely_([a-z0-9_]+)\(/\1,/' |
	    awk -F'[,)]' '{ for (i = 2; i <= NF; i++) if ($i ~ /\*/) {
		sub(/.*[ *]/, "", $i); if ($i != "arg") print $1, $i } }' | sort -u
}

# Each pointer has a row that passes NULL.
pointers "$top"/include/mely/*.h >"$scratch/pointers"
[ "$(wc -l <"$scratch/pointers")" -ge 100 ] || complain "not all pointers were found"
sed -nE 's/^(ROW|VOID|ENDS|MAY)\(([a-z0-9_]+), ([a-z_]+)[,)].*/\2 \3/p' \
    "$top/tests/prop/nulls.def" | sort -u >"$scratch/nulls"
if comm -3 "$scratch/pointers" "$scratch/nulls" | grep .; then
	complain "above: in the headers or in tests/prop/nulls.def alone (function, pointer)"
fi
# Canary: a new function is found.
printf 'MELY_API int mely_canary(uint32_t id,\n\tvoid (*fn)(void *a, int b), void *arg);\n' \
    >"$scratch/canary.h"
[ "$(pointers "$scratch/canary.h")" = "canary fn" ] || complain "a new pointer is not noticed"

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
