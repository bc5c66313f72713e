# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For refuse.sh and refuse_async.sh, which source it: what must not compile in a program of a
# compat dialect. Each line that is to be refused stands next to one like it that is not, so that
# no line is refused for another reason. They set includes, and write $scratch/declared.h.
# shellcheck disable=SC2034 # for who sources this
src=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck disable=SC2034
build=${top_builddir:-.}
cxx=${CXX:-c++}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0 refused=0

# compiles STANDARD STATEMENT
compiles()
{
	printf '#include "%s/declared.h"\nvoid f()\n{\n\t%s\n}\n' "$scratch" "$2" >"$scratch/x.cc"
	# shellcheck disable=SC2086,SC2154 # words, and set by who sources it
	$cxx -std="$1" -fsyntax-only $includes "$scratch/x.cc" 2>"$scratch/errors"
}

# pair STANDARD GOOD BAD
pair()
{
	compiles "$1" "$2" || { echo "FAIL: refused by $1: $2"; head -5 "$scratch/errors"
		failures=$((failures + 1)); }
	if compiles "$1" "$3"; then
		echo "FAIL: accepted by $1: $3"
		failures=$((failures + 1))
	fi
	refused=$((refused + 1))
}

pairs_end()
{
	echo "$refused pairs, $failures wrong"
	[ "$refused" -gt 0 ] && [ "$failures" -eq 0 ]
}
