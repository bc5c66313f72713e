#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mely-check itself, in every configuration: how it summarizes saved reports of clang's and gcc's
# ThreadSanitizer, what it refuses, and that it passes on a program's status, signals and reports.
# The programs here are scripts; faults.sh runs real programs under the checker.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build}"
check=$top_builddir/mely-check/mely-check
saved=$top_srcdir/tests/check/reports
[ -x "$check" ] || { echo "FAIL: no $check"; exit 1; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export TMPDIR=$scratch
failures=0

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENT...: mely-check ends with STATUS and prints a line like PATTERN.
expect()
{
	local wanted=$1 pattern=$2 status
	shift 2
	"$check" "$@" >out 2>&1 </dev/null
	status=$?
	if [ $status -eq "$wanted" ] && grep -qE -- "$pattern" out; then
		echo "ok $*"
	else
		cat out
		fail "mely-check $*: status $status, not $wanted; or no line like $pattern"
	fi
}

# script NAME TEXT: write a program
script()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# A comparison that cannot fail would prove nothing.
if [ "$(failures=0; expect 0 'no such line' --version >/dev/null; echo $failures)" != 1 ]; then
	fail "the comparison does not see a difference"
fi

# ---- usage and refusals ------------------------------------------------------------------------

expect 0 '^usage: mely-check' --help
expect 0 '^mely-check [0-9.]+$' --version
expect 2 'try --help' --nonsense
expect 2 'no program named'
expect 2 'no file named' --reports
expect 2 'No such file' ./nowhere
expect 2 'No such file' --reports ./nowhere
expect 2 'without -fsanitize=thread' sh -c 'exit 0'
expect 2 'ermission denied' "$scratch"
script fine 'exit 0'
expect 2 'No such file' --output "$scratch/no/such" ./fine
expect 2 'No such file' --log "$scratch/no/such" ./fine
TMPDIR=$scratch/no/such expect 2 '/no/such: No such file' ./fine
printf '#!/no/such/interpreter\n' >broken
chmod +x broken
expect 2 'No such file' ./broken

# ---- the program's status and signals ----------------------------------------------------------

script three 'exit 3'
script killed 'kill -9 $$'
expect 0 'ended with status 3$' ./three
expect 3 'ended with status 3$' --status ./three
expect 0 'ended by signal 9' ./killed
expect 137 'ended by signal 9' --status ./killed
expect 0 'ended with status 4$' --children sh -c 'exit 4'
# An argument after the program's name belongs to the program, even if it looks like an option.
script args 'echo "$*"; exit 0'
expect 0 '^--json -x$' ./args --json -x

# SIGTERM reaches the program, and mely-check reports how the program ended.
script waiting 'trap "exit 5" TERM; echo up; while :; do sleep 0.1; done'
"$check" ./waiting >out 2>&1 &
tool=$!
until grep -q up out || ! kill -0 $tool 2>/dev/null; do
	sleep 0.1
done
kill -TERM $tool
wait $tool
grep -q 'ended with status 5$' out || { cat out; fail "SIGTERM is not passed on"; }

# ---- saved reports -----------------------------------------------------------------------------

for summary in "$saved"/*.summary; do
	name=$(basename "$summary" .summary)
	"$check" --reports "$saved/$name.report" >out 2>&1
	[ $? -eq 1 ] || fail "$name: status"
	if diff "$summary" out; then
		echo "ok $name"
	else
		fail "$name: the summary differs"
	fi
	if command -v python3 >/dev/null; then
		"$check" --json --output out.json --reports "$saved/$name.report"
		python3 - out.json "$(grep -cE '^ +[0-9]+\. ' "$summary")" <<'EOF' ||
import json, sys
summary = json.load(open(sys.argv[1]))
assert summary["form"] == 1
assert len(summary["faults"]) == int(sys.argv[2]) > 0
for fault in summary["faults"]:
    assert len(fault["sides"]) == 2 and fault["times"] > 0 and fault["try"]
    for side in fault["sides"]:
        assert side["handler"] and side["verb"] and side["stack"]
EOF
			fail "$name: the JSON differs from the summary"
	fi
done

# A truncated report of any length, and noise, do not make it fail.
report=$(ls "$saved"/*.report | head -n 1)
for length in $(seq 1 97 "$(wc -c <"$report")"); do
	head -c "$length" "$report" >half
	"$check" --json --reports half >out 2>&1
	[ $? -le 1 ] || { cat out; fail "a report of $length bytes"; }
done
# The JSON is valid even if names are not UTF-8.
LC_ALL=C sed 's/room/r\xff\xc0m/g' "$saved/gcc-room.report" >bytes
"$check" --json --output out.json --reports bytes
python3 -c 'import json; assert "r\ufffd\ufffdm" in json.dumps(json.load(open("out.json",
    encoding="utf-8")), ensure_ascii=False)' || fail "names that are not UTF-8"
head -c 100000 /dev/urandom >noise
"$check" --reports noise >out 2>&1 || fail "noise is accepted as a report"

# mely-check finds a program's report at the path it gives to the sanitizer; --log keeps the report.
script racy 'at=$(printf %s "$TSAN_OPTIONS" | sed "s/.*log_path='\''\([^'\'']*\)'\''.*/\1/")
cp "'"$report"'" "$at.$$"; exit 6'
expect 1 'ended with status 6$' --status ./racy
expect 1 '^ +1\. ' --log kept ./racy
cmp -s kept "$report" || fail "--log keeps another text"
left=$(find "$scratch" -name 'mely-check.*')
[ -z "$left" ] || fail "left behind: $left"

[ "$failures" -eq 0 ]
