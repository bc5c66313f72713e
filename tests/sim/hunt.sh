#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The hunt: runs a number of schedules of each scheduler, always the same ones, none of which may
# fail; and a seed always gives the same trace, wherever the program and its memory lie. With
# MELY_TEST_LONG=1 a hundred times as many.
set -u
build=${top_builddir:?}
failures=0
many=$([ "${MELY_TEST_LONG:-0}" = 1 ] && echo 00 || echo)

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# trace PROGRAM SEED [PREFIX...]: the last two lines of a replay.
trace()
{
	local program=$1 seed=$2
	shift 2
	"$@" "$build/sim/$program" replay --seed "$seed" --quiet | tail -n 2
}

for program in mely-sim mely-sim-libasync; do
	for seed in 1 2 0x123456789abcdef 18446744073709551615; do
		first=$(trace "$program" "$seed")
		second=$(trace "$program" "$seed" env EXTRA="$(head -c 5000 /dev/zero | tr '\0' x)")
		[ -n "$first" ] && [ "$first" = "$second" ] ||
			complain "$program: seed $seed: $first; then $second"
	done
done

# The result does not depend on earlier runs in the same process.
digest()
{
	"$build/sim/mely-sim" hunt --seed 1 --schedules 500 --jobs "$1" |
		sed -n 's/.*sum of all: //p'
}
first=$(digest 1)
second=$(digest 3)
[ -n "$first" ] && [ "$first" = "$second" ] ||
	complain "500 seeds are $first in one process and $second in three"

# hunt PROGRAM SCHEDULES LEAST: the median number of shared accesses must be at least LEAST.
hunt()
{
	local program=$1 schedules=$2 least=$3 report median
	report=$("$build/sim/$program" hunt --seed 1 --schedules "$schedules" --jobs 2) ||
		complain "$program: a hunt of $schedules schedules"
	echo "$program:"
	echo "$report"
	median=$(sed -n 's/.*median \([0-9]*\),.*/\1/p' <<<"$report")
	[ "${median:-0}" -ge "$least" ] || complain "$program: a median of $median accesses"
}

hunt mely-sim "40000$many" 300
hunt mely-sim-libasync "5000$many" 300

# An invalid argument gives exit status 2.
"$build/sim/mely-sim" hunt --schedules many 2>/dev/null
[ $? -eq 2 ] || complain "an invalid number is accepted"
"$build/sim/mely-sim" replay 2>/dev/null
[ $? -eq 2 ] || complain "a replay without a seed is accepted"

# The faults of the mutation check are listed, not hunted.
listed=$(timeout 60 bash "$(dirname "$0")/mutants.sh" --list | wc -l)
[ "$listed" -gt 50 ] || complain "mutants.sh --list: $listed"

[ "$failures" -eq 0 ]
