#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libmely-check: each public function is either called on the runtime's fiber (renamed in
# mely/check/names.h and defined in mely/check/calls.c), or listed in the comment of names.h as a
# function that only reads.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# functions HEADER...: the names of the functions marked MELY_API.
functions()
{
	cat "$@" | tr '\n\t' '  ' |
	    grep -oE 'MELY_API [^;(]*[ *](mely_[a-z0-9_]+)\(' |
	    sed -E 's/.*[ *](mely_[a-z0-9_]+)\($/\1/' | sort -u
}

# missing A B: prints lines of A that are not in B; false if there are any.
missing()
{
	! comm -23 "$1" "$2" | grep .
}

names=$top/mely/check/names.h
functions "$top"/include/mely/*.h >"$scratch/api"
[ "$(wc -l <"$scratch/api")" -ge 60 ] || complain "only $(wc -l <"$scratch/api") functions found"
sed -nE 's/^#define (mely_[a-z0-9_]+) melyint_plain_.*/\1/p' "$names" | sort >"$scratch/renamed"
sed -nE '/^\/\*/,/\*\//p' "$names" | grep -oE '\bmely_[a-z0-9_]+' | sort -u >"$scratch/looking"
tr '\n' ' ' <"$top/mely/check/calls.c" |
    grep -oE 'CALL(_VOID\(|\([^,(]*, )[a-z0-9_]+, \(' |
    sed -E 's/.*[( ]([a-z0-9_]+), \($/mely_\1/' | grep -v '^mely_name$' | sort -u >"$scratch/called"
sort -u "$scratch/renamed" "$scratch/looking" >"$scratch/known"

missing "$scratch/api" "$scratch/known" ||
    complain "functions above: neither renamed nor listed as reading only, in ${names##*/}"
missing "$scratch/known" "$scratch/api" || complain "names above: not public functions"
missing "$scratch/renamed" "$scratch/called" || complain "functions above: renamed but not defined"
missing "$scratch/called" "$scratch/renamed" || complain "functions above: defined but not renamed"

# Canary: a new function is found.
printf '/** x */\nMELY_API int mely_canary(void);\n' >"$scratch/canary.h"
functions "$top"/include/mely/*.h "$scratch/canary.h" >"$scratch/with-canary"
if missing "$scratch/with-canary" "$scratch/known" >/dev/null; then
	complain "a new function that is neither renamed nor listed is not noticed"
fi

[ "$failures" -eq 0 ] && echo "color check: $(wc -l <"$scratch/renamed") calls: fine"
[ "$failures" -eq 0 ]
