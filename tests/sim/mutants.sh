#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The mutation check of the hunt: puts faults of one line, one at a time, into a copy of the
# library. The simulation must find each within a bounded number of schedules.
set -u

usage()
{
	cat <<'END'
usage: mutants.sh [OPTION]...

Put each fault of mutants.list into a copy of mely/, build the simulation with it and let it hunt.
A fault that survives is a failure; so is a line of the list that fits the sources no more.

  --build DIR      a build tree (default: $top_builddir, else .)
  --schedules N    for each fault (default 60000)
  --seed SEED      the first (default 1)
  --sample N       every N-th fault only, beginning with the first
  --only PATTERN   faults whose head matches
  --jobs N         at a time (default: the processors)
  --list           print the faults, one a line
  --help           this text
  --version

Without an option in "make check": every tenth fault; with MELY_TEST_LONG=1 in the environment all
of them. Faults whose head ends in "(rare)" are looked for with --schedules
1000000 or more only.

Exit status: 0 all are found, 1 not, 2 wrong use, or no simulation is built.
END
}

here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$here/../.." && pwd)
build=${top_builddir:-.}
schedules=60000
seed=1
sample=1
only=
jobs=$(nproc)
only_list=no

wrong()
{
	echo "mutants.sh: $* (try --help)" >&2
	exit 2
}

if [ $# -eq 0 ] && [ -n "${top_srcdir:-}" ]; then
	if [ -n "${MELY_TEST_LONG:-}" ]; then
		set -- --schedules 1000000
	else
		sample=10
	fi
fi
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage; exit 0 ;;
	--version) echo "mutants.sh of $(sed -n 's/^AC_INIT(\[mely\], \[\([^]]*\).*/mely \1/p' \
	    "$src/configure.ac")"; exit 0 ;;
	--list) only_list=yes; shift; continue ;;
	--build | --schedules | --seed | --sample | --only | --jobs)
		[ $# -ge 2 ] || wrong "$1 needs an argument" ;;
	*) wrong "unknown argument $1" ;;
	esac
	case $1 in
	--build) build=$2 ;;
	--only) only=$2 ;;
	--schedules | --seed | --sample | --jobs)
		case $2 in
		'' | *[!0-9]*) wrong "$1 wants a number, not $2" ;;
		esac
		declare "${1#--}=$2" ;;
	esac
	shift 2
done
[ "$sample" -gt 0 ] && [ "$jobs" -gt 0 ] || wrong "--sample and --jobs begin at 1"

list=$here/mutants.list
if [ "$only_list" = yes ]; then
	grep -E '^[a-z_/]+\.[ch]: ' "$list"
	exit 0
fi
build=$(cd "$build" && pwd) || exit 2
[ -x "$build/sim/mely-sim" ] && [ -e "$build/sim/flags" ] ||
	wrong "no simulation in $build: make sim/mely-sim sim/flags"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Cut the list into one file for each fault, $scratch/N.fault, N from 1 up.
awk -v dir="$scratch" '
	/^#/ { next }
	/^[a-z_\/]+\.[ch]: / { n++; out = dir "/" n ".fault" }
	/^$/ { out = "" }
	out != "" { print > out }
	END { print n + 0 > (dir "/count") }' "$list"

# planted FAULT: print the file with the fault. In the fault, a line that begins with a blank only
# finds the place, "-" removes a line, "+" adds one; together they must match exactly one place.
planted()
{
	local file
	file=$(sed -n '1s/: .*//p' "$1")
	awk -v file="$file" '
		FNR == NR && FNR == 1 { next }
		FNR == NR { kind[++k] = substr($0, 1, 1); text[k] = substr($0, 2); next }
		{ line[++n] = $0 }
		function fits(at, i, j) {
			j = at
			for (i = 1; i <= k; i++) {
				if (kind[i] == "+") continue
				if (line[j++] != text[i]) return 0
			}
			return 1
		}
		END {
			for (i = 1; i <= k; i++) {
				old += kind[i] != "+"
				if (kind[i] == "-") gone++
			}
			for (at = 1; at <= n; at++) if (fits(at)) { found++; place = at }
			if (found != 1 || gone < 1) {
				print file ": the lines of the fault are there " found + 0 \
				    " times, once is asked" > "/dev/stderr"
				exit 1
			}
			for (i = 1; i < place; i++) print line[i]
			for (i = 1; i <= k; i++) if (kind[i] != "-") print text[i]
			for (i = place + old; i <= n; i++) print line[i]
		}' "$1" "$src/mely/$file"
}

# plant FAULT DIRECTORY: make a copy of the library's sources with the fault.
plant()
{
	local file
	file=$(sed -n '1s/: .*//p' "$1")
	mkdir -p "$2" && cp -R "$src/mely/." "$2" && planted "$1" >"$2/$file" || return 1
	# A header affects all sources.
	case $file in
	*.h) mapfile -t changed < <(find "$2" -name '*.c' -not -path "$2/fifo/*" \
	    -not -path "$2/check/*") ;;
	*) changed=("$2/$file") ;;
	esac
}

# hunt FAULT: does the hunt find it?
hunt()
{
	local dir=${1%.fault} what at text status=0
	local -a changed
	what=$(head -n 1 "$1")
	plant "$1" "$dir" || return
	if ! bash "$src/sim/relink.sh" "$build" "$dir/mely-sim" "${changed[@]}" \
	    >"$dir/log" 2>&1; then
		cat "$dir/log"
		echo "FAIL: $what: does not compile"
		return
	fi
	timeout 3000 "$dir/mely-sim" hunt --schedules "$schedules" --seed "$seed" --no-shrink \
	    >"$dir/log" 2>&1 || status=$?
	at=$(sed -n 's/^FAILURE: seed \(0x[0-9a-f]*\): .*/\1/p' "$dir/log")
	text=$(sed -n 's/^FAILURE: seed 0x[0-9a-f]*: //p' "$dir/log")
	if [ -n "$at" ] &&
	    ! "$build/sim/mely-sim" hunt --schedules 1 --seed "$at" >"$dir/control" 2>&1; then
		cat "$dir/control"
		echo "FAIL: $what: the same seed $at fails without the fault"
	elif [ "$status" -eq 1 ] && [ -n "$at" ]; then
		echo "killed $what: after $((at - seed + 1)) schedules, seed $at: ${text:0:120}"
	elif [ "$status" -eq 0 ]; then
		echo "FAIL: $what: survived $schedules schedules"
	else
		tail -n 20 "$dir/log"
		echo "FAIL: $what: the hunt ended with status $status"
	fi
	rm -rf "$dir"
}

export -f planted plant hunt
export src build scratch schedules seed

count=$(cat "$scratch/count")
fit=yes
for ((i = 1; i <= count; i++)); do
	planted "$scratch/$i.fault" >/dev/null || fit=no
done
[ "$fit" = yes ] || exit 1
: >"$scratch/chosen"
for ((i = 1; i <= count; i++)); do
	[ $(((i - 1) % sample)) -eq 0 ] || continue
	[ -z "$only" ] || head -n 1 "$scratch/$i.fault" | grep -qE -- "$only" || continue
	if [ "$schedules" -lt 1000000 ] &&
	    head -n 1 "$scratch/$i.fault" | grep -q '(rare)$'; then
		continue
	fi
	echo "$scratch/$i.fault" >>"$scratch/chosen"
done
total=$(wc -l <"$scratch/chosen")
[ "$total" -gt 0 ] || wrong "no fault of the list is chosen"
echo "$total of $count faults"
xargs -P "$jobs" -n 1 bash -c 'hunt "$1"' hunt <"$scratch/chosen" | tee "$scratch/result"
bad=$(grep -c '^FAIL: ' "$scratch/result")
good=$(grep -c '^killed ' "$scratch/result")
echo "mutants: $good of $total killed"
[ "$bad" -eq 0 ] && [ "$good" -eq "$total" ]
