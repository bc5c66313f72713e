#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# figures.sh: what compare and http say of figures that are known: programs that print them replace
# the benchmarks. The median and the spread, the better of a peer's programs, the ratio to the best
# peer, a goal that is missed and one that is not, and peers that are missing.
set -u
here=${top_srcdir:-.}/microbench
# It is right to skip: a plain make check needs no python3, and ./check, which CI runs, installs it.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# program NAME "M/s..." [KEYS]: prints these figures, one at each call, for any options.
program() {
	mkdir -p "$(dirname "$scratch/$1")"
	cat >"$scratch/$1" <<-END
		#!/usr/bin/env bash
		figures=($2)
		calls=$scratch/$1.calls
		printf x >>"\$calls"
		n=\$((\$(wc -c <"\$calls") - 1))
		echo '{"median": '"\${figures[n % \${#figures[@]}]}"'e6, "unit": "x/s"${3:-}}'
	END
	chmod +x "$scratch/$1"
}

compare() {
	python3 "$here/compare" --builddir "$scratch" --seconds 1 "$@" >"$scratch/out" \
		2>"$scratch/err" </dev/null && return
	echo "FAIL: compare $*: $(tail -n 1 "$scratch/err")"
	failed=1
}

# says TEXT: a line of the output has the text.
says() {
	grep -qF -- "$1" "$scratch/out" && return
	echo "FAIL: not said: $1"
	cat "$scratch/out"
	failed=1
}

silent() {
	grep -qF -- "$1" "$scratch/out" || return
	echo "FAIL: said: $1"
	cat "$scratch/out"
	failed=1
}

program chain 1 # compare wants one

# Two rows of pingpong, so two calls in each round.
program pingpong "30 30 60 60 45 45"
program peers/asio-strand 20
program peers/asio-iostrand-defer 25
program peers/go-channel 4

compare --runs 3 --only pingpong --markdown
says 'compare --builddir'
says '3 interleaved runs of 1 s'
says '| work | Mely | spread | Boost.Asio strands | oneTBB actors, missing | Go | Erlang, missing |'
says '| `pingpong`, 1 pair | 45 | 30 to 60 | 25 | - | 4.0 | - | - | - | 1.80x | 2x **missed** |'
says '| `pingpong`, 64 pairs | 45 | 30 to 60 | 25 | - | 4.0 | - | - | (34) | 1.80x | 1.5x |'
says 'Missing on this machine: oneTBB actors, Erlang, libdispatch, Pony.'

compare --runs 3 --only pingpong
says 'no pony'
says '(34)'
says '1.80  2.00  NO'
says '1.80  1.50  yes'
compare --runs 3 --only pingpong --json
says '"last_known": {"pony": 34}'

# Mely starves a color, then not.
program chain 100 ', "fairness": 0.5'
program peers/asio-strand 20 ', "fairness": 0.125'
compare --runs 1 --quick --only chain --markdown
says '| `chain`, 64 colors | 100 | 100 to 100 | 25 |'
says '2x, fairness 0.50 of 0.9 **missed**'
says '| `chain`, 64 colors, fixed work |'
says 'Mely 0.50'
says '| `chain`, 64 colors, objects | 100 M/s (100 to 100) | 1.00x `chain` | 0.97x, f'
program chain 100 ', "fairness": 0.95'
compare --runs 1 --quick --only chain --markdown
silent missed

# The share of the ideal, and no peers: nothing to compare with, and so no goal that is missed.
program fan 10 ', "ideal_pct": 61'
rm -r "$scratch/peers"
compare --runs 1 --only fan --markdown
says 'share of the ideal | 61 % | 61 to 61 % | - | - | - | - | - | (42 %) | - | 1.25x, 60 %'

# http's table, from rows.
PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 python3 - >"$scratch/out" <<'END' || failed=1
import types
import markdown

def rows(**figures):
    return [{"peer": name, "median": m, "min": m - 0.5, "max": m + 0.5}
            for name, m in figures.items()]

markdown.print_http({"keep-alive": rows(mely=10.5, bare=9.5, h2o=12, nginx=11),
                     "150": rows(mely=10.5, bare=10, h2o=9)},
                    types.SimpleNamespace(bytes=1024, connections=64, runs=5, seconds=1))
END
says '| load | sws | spread | bare | to bare | h2o | lighttpd, missing | nginx | apache, missing |'
says 'alive | 10.5 | 10.0 to 11.0 | 9.5 | 1.11x | 12.0 | - | 11.0 | - | 1.05x bare **missed**'
says 'a connection | 10.5 | 10.0 to 11.0 | 10.0 | 1.05x | 9.0 | - | - | - | below all *'

[ $failed = 0 ] && echo "figures: medians, spreads, ratios, goals, missing peers: fine"
exit $failed
