#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# smoke.sh: every microbenchmark runs, prints JSON with the keys that others read, and takes and
# refuses options as it should. Nothing is said about speed.
set -u

dir=${top_builddir:-.}/microbench
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

bad() {
	echo "FAIL: $*"
	failed=1
}

# status WANT PROGRAM ARGS: the exit status is WANT
status() {
	local want=$1 got
	shift
	timeout 300 "$dir/$@" >"$scratch/out" 2>"$scratch/err"
	got=$?
	[ "$got" = "$want" ] || bad "$*: exit $got, not $want: $(head -c 300 "$scratch/err")"
}

# json LINES "KEY..." PROGRAM ARGS: so many lines, each an object with the common keys and these
# in place, with numbers where numbers belong, and a median above nought (idle: not below).
json() {
	local lines=$1 keys=$2
	shift 2
	status 0 "$@"
	if command -v python3 >/dev/null; then
		while IFS= read -r line; do
			printf '%s' "$line" | python3 -m json.tool >/dev/null ||
				bad "$*: no JSON: $line"
		done <"$scratch/out"
	fi
	keys="bench peer cores colors unit median min max runs $keys"
	awk -v lines="$lines" -v keys="$keys" -v bench="$1" '
	function wrong(why) {
		print why ": " $0
		exit 1
	}
	function number(key,   text) {
		text = $0
		if (!sub(".*\"" key "\":", "", text)) return "none"
		sub("[,}].*", "", text)
		return text
	}
	{
		if ($0 !~ /^\{.*\}$/) wrong("not an object")
		n = split(keys, key, " ")
		for (i = 1; i <= n; i++)
			if (index($0, "\"" key[i] "\":") == 0) wrong("no key " key[i])
		if (index($0, "\"bench\":\"" bench "\"") == 0) wrong("another bench")
		if (number("median") !~ /^[0-9.e+-]+$/) wrong("median")
		median = number("median") + 0
		if (median < 0 || (bench != "idle" && median == 0)) wrong("nothing measured")
		if (number("min") + 0 > median || number("max") + 0 < median) wrong("median")
		if (number("runs") + 0 < 1 || number("cores") + 0 < 1) wrong("runs, cores")
	}
	END { if (NR != lines) { print NR " lines, not " lines; exit 1 } }
	' "$scratch/out" >"$scratch/why" || bad "$*: $(head -n 1 "$scratch/why")"
}

quick="--seconds 0.1 --runs 1 --json"
json 1 "events" chain $quick --colors 1
json 2 "events fairness" chain $quick --cores 2 --colors 3,64
json 1 "events fairness variant" chain $quick --cores 2 --objects
json 1 "events fairness variant" chain $quick --cores 2 --embedded
json 1 "events fairness variant" chain $quick --cores 2 --scattered
json 1 "events fairness variant" chain $quick --cores 2 --skewed
json 1 "events fairness variant" chain $quick --cores 2 --skewed --objects
json 1 "events variant" chain --runs 1 --json --cores 2 --colors 64 --events 20000
json 1 "events" pingpong $quick --cores 2
json 1 "events fairness variant" pingpong $quick --cores 2 --colors 8 --objects
json 1 "events ideal_pct" fan $quick --cores 2
json 1 "events ideal_pct variant" fan $quick --cores 2 --objects --colors 100
json 4 "events method" memory --runs 2 --json --colors 5000
json 1 "syscalls method" idle $quick --cores 2

# From processor to processor only where there are two.
lines=3
[ "$(nproc)" -gt 1 ] && lines=6
json $lines "events p99 variant" wake $quick
grep -q '"peer":"mely".*"ratio":' "$scratch/out" || bad "wake: no ratio to the bare wake-up"

for program in chain pingpong fan wake memory idle; do
	status 0 $program --help
	grep -q -- '--colors' "$scratch/out" || bad "$program --help says nothing of --colors"
	status 0 $program --version
	grep -q "^$program (mely) [0-9]" "$scratch/out" || bad "$program --version: odd"
	for args in "--no-such" "--cores" "--cores 0" "--cores x" "--colors 1,,2" "--colors -1" \
		"--seconds 0" "--seconds nan" "--runs 1x" "stray"; do
		# shellcheck disable=SC2086
		status 2 $program $args
		[ -s "$scratch/err" ] || bad "$program $args: not a word on stderr"
	done
done
exit $failed
