#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checker of traces refuses broken traces, mely-gantt draws the contents of a trace, and its
# picture and its JSON agree on traces of real programs.
set -eu
here=$top_srcdir/tests/trace
gantt=$top_builddir/mely-gantt/mely-gantt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 "$here/check.py" --canaries "$here/example.json"
python3 "$here/gantt_test.py" "$gantt"

# traced NAME PROGRAM...: the JSON of a program's trace obeys all rules, and the pictures made from
# the trace and from the JSON have the same events and steals.
traced()
{
	local file=$scratch/$1 counts text
	shift
	MELY_TRACE=$file "$@" >"$scratch/out"
	"$gantt" --chrome "$file" >"$file.json"
	counts=$(python3 "$here/check.py" --summary "$file.json") || {
		echo "$counts"
		return 1
	}
	text=$(echo "$counts" | python3 -c 'import json, sys
print("{cores} cores?, [0-9.]+ [^ ]+, {events:,} events?, {steals:,} steals?".format(
    **json.load(sys.stdin)))')
	"$gantt" -o "$scratch/picture.svg" "$file"
	grep -qE ">$text[<;]" "$scratch/picture.svg" || {
		echo "FAIL: $*: no '$text' in the picture"
		return 1
	}
	"$gantt" -o "$scratch/again.svg" "$file.json"
	cmp "$scratch/picture.svg" "$scratch/again.svg"
	echo "$*: $counts"
}

all="0 2"
# With a sanitizer, one of them.
[ -z "${INSTRUMENT_FLAGS:-}" ] || [ "${MELY_TEST_LONG:-0}" = 1 ] || all=2
for colors in $all; do
	[ "$all" = 2 ] || traced "coloring-$colors" "$top_builddir/examples/coloring" "$colors"
	MELY_CORES=4 traced "coloring-$colors-4" "$top_builddir/examples/coloring" "$colors"
done
traced embedded "$top_builddir/examples/embedded"
