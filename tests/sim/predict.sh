#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Predictions: the same seed gives the same figures, at any addresses; another seed gives others;
# the rows of the paper's tables are in the paper's order as far as docs/internals/prediction.md
# says so. Time is virtual: the load of the machine does not matter.
set -u
predict="${top_builddir:-.}/sim/mely-sim predict"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# run BENCHMARK CONFIGS OPTION...: writes one JSON object on each line of $scratch/out.
run()
{
	local benchmark=$1 configs=$2
	shift 2
	$predict --benchmark "$benchmark" --config "$configs" --json "$@" >"$scratch/out" ||
	    complain "$benchmark $configs: exit $?"
}

# value CONFIG KEY: a value of the last run.
value()
{
	sed -n "s/.*\"config\": \"$1\",.*\"$2\": \([0-9.e+-]*\)[,}].*/\1/p" "$scratch/out"
}

# more A FACTOR B KEY: configuration A has more than FACTOR times the value of B.
more()
{
	local a b
	a=$(value "$1" "$4")
	b=$(value "$3" "$4")
	awk -v a="$a" -v f="$2" -v b="$b" 'BEGIN { exit !(a != "" && b != "" && a > f * b) }' ||
	    complain "$4: $1 has $a, not more than $2 times the $b of $3"
}

# Two runs are identical, byte for byte.
run unbalanced mely-base-ws,libasync-ws --colors 3000 --seed 7
cp "$scratch/out" "$scratch/first"
PADDING=$(printf '%2000s' '') run unbalanced mely-base-ws,libasync-ws --colors 3000 --seed 7
cmp -s "$scratch/out" "$scratch/first" || complain "the same seed, other figures"
run unbalanced mely-base-ws,libasync-ws --colors 3000 --seed 8
cmp -s "$scratch/out" "$scratch/first" && complain "another seed, the same figures"

# Tables 3 and 4; the order of the rows does not depend on the number of colors
colors=8000
[ "${MELY_TEST_LONG:-0}" = 1 ] && colors=20000
run unbalanced libasync,libasync-ws-full,mely,mely-base-ws,time-left --colors $colors
more libasync 1 mely events_s
more mely 1 mely-base-ws events_s
more mely-base-ws 0.9 mely events_s
more mely-base-ws 4 libasync-ws-full events_s
more libasync-ws-full 5 mely-base-ws steal_cycles
more libasync-ws-full 5 mely-base-ws lock_pct
more time-left 1.2 mely-base-ws events_s
more time-left 5 mely-base-ws stolen_cycles

# Table 5
run penalty libasync,mely-base-ws --rounds 1
more mely-base-ws 1.2 libasync events_s

# Table 6
run cache-efficient libasync,mely-base-ws,locality --rounds 4
more locality 0.9 mely-base-ws events_s
more mely-base-ws 4 libasync cache_misses

# Invalid command lines.
for bad in "--benchmark none" "--config none" "--topology none" "--cores 9" "--cores 0" "--seed x" \
    "--set none=1" "--machine none" "--rounds 0" "extra"; do
	# shellcheck disable=SC2086
	$predict $bad >/dev/null 2>"$scratch/err"
	status=$?
	[ $status -eq 2 ] || complain "$bad: exit $status, not 2"
	[ "$(wc -l <"$scratch/err")" -eq 1 ] || complain "$bad: not one line of error message"
done
$predict --help | grep -q -- --producers || complain "--help"

[ $failures -eq 0 ] && echo "predictions: the same figures for the same seed, rows in order"
exit $((failures > 0))
