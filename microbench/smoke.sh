#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# smoke.sh: every microbenchmark runs, prints JSON with the keys that others read, and takes and
# refuses options as it should. Nothing is said about speed.
set -u
# A program of compat calls exit in a callback, so its threads are parked and never joined.
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0"

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

# json LINES "KEY..." PROGRAM ARGS: the output has LINES lines. Each is an object with the common
# keys and these, with numbers where numbers belong, and a median above 0 (idle: at least 0).
# The program of a peer takes the name of the benchmark as its first argument.
json() {
	local lines=$1 keys=$2 bench=$3
	shift 2
	[ "${1#peers/}" = "$1" ] || bench=$2
	status 0 "$@"
	cat "$scratch/out" >>"$scratch/lines"
	keys="bench peer cores colors unit median min max runs $keys"
	awk -v lines="$lines" -v keys="$keys" -v bench="$bench" '
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

quick="--seconds 0.03 --runs 1 --json"
json 1 "events" chain $quick --colors 1
json 2 "events fairness" chain $quick --cores 2 --colors 3,64
json 1 "events fairness variant" chain $quick --cores 2 --objects
json 1 "events fairness variant" chain $quick --cores 2 --embedded
json 1 "events fairness variant" chain $quick --cores 2 --scattered
json 1 "events fairness variant" chain $quick --cores 2 --skewed
json 1 "events fairness variant" chain $quick --cores 2 --skewed --objects
json 1 "events variant" chain --runs 1 --json --cores 2 --colors 64 --events 20000
compat=
if [ -x "$dir/compat-chain" ]; then
	compat="compat-chain compat-echo"
	json 2 "events requests" compat-echo $quick --cores 2 --colors 8
	json 2 "events fairness" compat-chain $quick --cores 2 --colors 3,64
	json 1 "events variant" compat-chain --runs 1 --json --cores 2 --colors 64 --events 20000
fi
json 1 "events" pingpong $quick --cores 2
json 1 "events fairness variant" pingpong $quick --cores 2 --colors 8 --objects
json 1 "events ideal_pct" fan $quick --cores 2
json 1 "events ideal_pct variant" fan $quick --cores 2 --objects --colors 100
json 2 "events requests fairness" echo $quick --cores 2 --colors 8
grep -q '"peer":"mely".*"ratio":' "$scratch/out" || bad "echo: no ratio to the bare loop"
json 2 "events requests variant" echo --runs 1 --json --cores 2 --colors 3 --events 100
json 1 "requests variant" echo $quick --cores 2 --colors 3 --skewed --alone
json 1 "events" pingpong --runs 1 --json --cores 2 --colors 3 --events 2000
json 1 "events ideal_pct" fan --runs 1 --json --cores 2 --colors 10 --events 2000
json 4 "events method" memory --runs 2 --json --colors 5000
json 1 "syscalls method" idle $quick --cores 2

json 8 "events variant" stuck $quick --cores 2
status 2 stuck --cores 1

# From processor to processor only where there are two.
lines=3
[ "$(nproc)" -gt 1 ] && lines=6
json $lines "events p99 variant" wake $quick
grep -q '"peer":"mely".*"ratio":' "$scratch/out" || bad "wake: no ratio to the bare wake-up"

# The paper's. What is printed is their own check: of every event, and of the data.
small="$quick --cores 2 --colors"
for config in mely mely-base-ws time-left penalty locality all auto; do
	keys="events variant steals"
	json 1 "$keys ideal_pct lock_pct" unbalanced $small 2000 --config $config
	grep -q "\"variant\":\"$config\"" "$scratch/out" || bad "unbalanced: not $config"
	json 1 "$keys" penalty $small 20 --config $config
	json 1 "$keys" cache-efficient $small 20 --config $config
done
json 1 "$keys" cache-efficient $quick --cores 5 --colors 10
json 1 "$keys" penalty $quick --cores 1 --colors 1
# libasync-smp's scheduler where it is built. A sanitizer runtime must itself be loaded first.
for program in unbalanced penalty cache-efficient; do
	if [ -n "${INSTRUMENT_FLAGS:-}" ]; then
		continue
	elif [ -e "$dir/../mely/.libs/libmely-libasync.so" ]; then
		json 1 "$keys" $program $small 100 --config libasync
		json 1 "$keys" $program $small 100 --config libasync-ws
		grep -q '"peer":"libasync"' "$scratch/out" || bad "$program: another scheduler"
	else
		status 77 $program $small 100 --config libasync
		grep -q 'left out' "$scratch/err" || bad "$program: left out without a word"
	fi
	status 2 $program --config nothing
done

# The peers that are built (make peers).
for program in "$dir"/peers/*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	peer=peers/${program##*/}
	json 2 "events fairness" $peer chain $quick --cores 2 --colors 3,64
	json 1 "events" $peer chain $quick --cores 1 --colors 1
	json 1 "events variant" $peer chain --runs 1 --json --cores 2 --colors 64 --events 20000
	json 1 "events fairness" $peer compat-chain $quick --cores 2 --colors 3
	json 1 "events variant" $peer compat-chain --runs 1 --json --cores 2 --colors 3 \
		--events 2000
	json 1 "events fairness" $peer pingpong $quick --cores 2 --colors 8
	json 1 "events fairness ideal_pct" $peer fan $quick --cores 2 --colors 100
	grep -q "\"peer\":\"${peer#peers/}\"" "$scratch/out" || bad "$peer: under another name"
	status 0 $peer --help
	status 0 $peer chain --help
	for args in "" nothing "chain --no-such" "chain --cores 0" "chain --colors 0" \
		"chain stray"; do
		# shellcheck disable=SC2086
		status 2 $peer $args
		[ -s "$scratch/err" ] || bad "$peer $args: not a word on stderr"
	done
done

# One start of python3 for all lines.
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys
for line in sys.stdin:
    json.loads(line)' <"$scratch/lines" 2>"$scratch/err" ||
		bad "no JSON: $(tail -n 1 "$scratch/err")"
fi

# The rest tests scripts and options: a sanitizer adds nothing to it, but it takes as long again.
if [ -n "${INSTRUMENT_FLAGS:-}" ] && [ "${MELY_TEST_LONG:-0}" != 1 ]; then
	exit $failed
fi

# The driver's tables, files and pictures.
if command -v python3 >/dev/null; then
	here=${top_srcdir:-.}/microbench
	# As above: no other library where a sanitizer is.
	configs=mely,mely-base-ws,all
	[ -n "${INSTRUMENT_FLAGS:-}" ] || configs=libasync,libasync-ws,$configs
	timeout 120 python3 "$here/paper" --configs $configs --builddir "$dir" --cores 2 \
		--runs 1 --seconds 0.02 --no-simulation \
		--out "$scratch/paper" >"$scratch/out" 2>"$scratch/err" ||
		bad "paper: $(tail -n 1 "$scratch/err")"
	for want in 'Table 3' 'Table 4' 'Table 5' 'Table 6' '2 cores'; do
		grep -q "$want" "$scratch/out" || bad "paper: no $want"
	done
	for want in runs.csv tables.csv; do
		[ -s "$scratch/paper/$want" ] || bad "paper: no $want"
	done
	if command -v gnuplot >/dev/null; then
		[ -s "$scratch/paper/paper.svg" ] || bad "paper: no SVG"
		[ -s "$scratch/paper/paper.png" ] || bad "paper: no PNG"
	fi
	# With the simulated machine, where that is built: one program, for the time it takes.
	if [ -x "$dir/../sim/mely-sim-predict" ]; then
		timeout 120 python3 "$here/paper" --only penalty --configs mely,mely-base-ws \
			--builddir "$dir" --cores 2 --runs 1 --seconds 0.02 \
			--out "$scratch/paper" >"$scratch/out" 2>"$scratch/err" ||
			bad "paper, simulated: $(tail -n 1 "$scratch/err")"
		grep -q "^simul.: the paper's machine" "$scratch/out" ||
			bad "paper: nothing simulated"
	fi
fi

# Stealing on against off, measured and counted.
if command -v python3 >/dev/null; then
	onoff() {
		timeout 300 python3 "$here/onoff" --builddir "$dir" --rounds 1 --only chain,echo \
			"$@" >"$scratch/out" 2>"$scratch/err" ||
			bad "onoff $*: $(tail -n 1 "$scratch/err")"
	}
	onoff --seconds 0.05 --out "$scratch/onoff"
	grep -q '^chain .* of 1  ' "$scratch/out" || bad "onoff: no row of chain"
	for want in onoff.csv onoff.json; do
		[ -s "$scratch/onoff/$want" ] || bad "onoff: no $want"
	done
	# With equal settings on both sides, one core runs nearly the same instructions. On two,
	# the load of the machine decides how often they steal.
	if command -v valgrind >/dev/null && [ -z "${INSTRUMENT_FLAGS:-}" ]; then
		onoff --instructions --cores 1 --only chain --b MELY_STEAL=1
		grep -q '^chain .*no difference' "$scratch/out" ||
			bad "onoff: two counts differ: $(grep '^chain' "$scratch/out")"
	fi
	if [ "${MELY_TEST_LONG:-0}" = 1 ] && command -v valgrind >/dev/null &&
	    [ -z "${INSTRUMENT_FLAGS:-}" ]; then
		timeout 300 python3 "$here/lines" --builddir "$dir/.." --connections 2 --rounds 4 \
		    --json >"$scratch/out" 2>"$scratch/err"
		for server in sws bare; do
			grep "\"server\": \"$server\"" "$scratch/out" |
			    grep -q '"instructions": [1-9].*"data_lines": [1-9]' ||
				bad "lines: $(cat "$scratch/out" "$scratch/err")"
		done
	fi
	for args in "--rounds 0" "--only nothing" "--a MELY_STEAL" "--no-such"; do
		# shellcheck disable=SC2086
		python3 "$here/onoff" $args >/dev/null 2>"$scratch/err"
		[ $? = 2 ] && [ -s "$scratch/err" ] || bad "onoff $args: taken"
	done
fi

for program in chain $compat echo pingpong fan wake memory idle stuck unbalanced penalty \
	cache-efficient; do
	status 0 $program --help
	grep -q -- '--colors' "$scratch/out" || bad "$program --help does not mention --colors"
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
