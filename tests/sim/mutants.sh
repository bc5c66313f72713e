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
  --unit           instead: see to it that the unit tests notice none of them
  --list           print the faults, one a line
  --help           this text
  --version

Without an option in "make check": every sixth fault; with MELY_TEST_LONG=1 in the environment all
of them, and --unit as well. Faults whose head ends in "(rare)" are looked for with --schedules
1000000 or more only.

Exit status: 0 all are found (--unit: none is), 1 not, 2 wrong use, or no simulation is built.
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
mode=hunt

wrong()
{
	echo "mutants.sh: $* (try --help)" >&2
	exit 2
}

if [ $# -eq 0 ] && [ -n "${top_srcdir:-}" ]; then
	if [ -n "${MELY_TEST_LONG:-}" ]; then
		bash "$0" --unit || exit
		set -- --schedules 1000000
	else
		sample=6
	fi
fi
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage; exit 0 ;;
	--version) echo "mutants.sh of $(sed -n 's/^AC_INIT(\[mely\], \[\([^]]*\).*/mely \1/p' \
	    "$src/configure.ac")"; exit 0 ;;
	--unit) mode=unit; shift; continue ;;
	--list) mode=list; shift; continue ;;
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
if [ "$mode" = list ]; then
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

# plant FAULT DIRECTORY: make a copy of the library's sources with the fault. In the fault, a line
# that begins with a blank only finds the place, "-" removes a line, "+" adds one; together they
# must match exactly one place.
plant()
{
	local file
	file=$(sed -n '1s/: .*//p' "$1")
	mkdir -p "$2" && cp -R "$src/mely/." "$2" || return 1
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
		}' "$1" "$src/mely/$file" >"$2/$file.new" || return 1
	mv "$2/$file.new" "$2/$file"
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
	if ! plant "$1" "$dir"; then
		echo "FAIL: $what: does not fit"
		return
	fi
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

# unit FAULT: do the unit tests notice the fault? They should not.
unit()
{
	local dir=${1%.fault} what file object test noticed=
	local -a changed
	what=$(head -n 1 "$1")
	if ! plant "$1" "$dir"; then
		echo "FAIL: $what: does not fit"
		return
	fi
	cp "$build/mely/.libs/libmely.a" "$dir/libmely.a"
	for file in "${changed[@]}"; do
		object=$(ar t "$dir/libmely.a" | grep -E "(^|-)$(basename "$file" .c)\.o\$")
		# The flags are a command line: split them.
		# shellcheck disable=SC2086
		[ -z "$object" ] || { $unit_flags -c "$file" -o "$dir/$object" &&
		    ar r "$dir/libmely.a" "$dir/$object"; } >>"$dir/log" 2>&1 || {
			cat "$dir/log"
			echo "FAIL: $what: does not compile"
			return
		}
	done
	mkdir "$dir/bin" # a test may know its name
	for test in $unit_tests; do
		object=$scratch/$test.o
		case ${changed[*]} in
		*' '*) object=$src/tests/unit/$test.c ;; # a header: the copy of it comes first
		esac
		# shellcheck disable=SC2086
		if ! ${unit_flags%% *} -I"$dir" ${unit_flags#* } -o "$dir/bin/$test" "$object" \
		    "$dir/libmely.a" $unit_libs >"$dir/log" 2>&1; then
			cat "$dir/log"
			echo "FAIL: $what: tests/unit/$test does not build"
			return
		fi
		timeout 120 "$dir/bin/$test" >"$dir/log" 2>&1 || noticed="$noticed $test"
	done
	if [ -z "$noticed" ]; then
		echo "unnoticed $what"
	else
		echo "FAIL: $what: noticed by the unit tests:$noticed"
	fi
	rm -rf "$dir"
}

unit_prepare()
{
	local all
	# fifo tests the other scheduler, chrome a tool.
	unit_tests=$(cd "$src/tests/unit" && ls ./*.c |
	    sed 's/^\.\///; s/\.c$//; /^fifo$/d; /^chrome$/d')
	unit_flags=$(cd "$build" && make -s -f - mutants-flags <<'END'
include Makefile
mutants-flags:
	@echo '$(CC) $(DEFS) $(AM_CPPFLAGS) $(MODE_CPPFLAGS) -I$(abs_top_srcdir)/mely' \
	    '-I$(abs_top_srcdir)/include $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)'
END
	) || exit 1
	unit_libs=$(cd "$build" && make -s -f - mutants-libs <<'END'
include Makefile
mutants-libs:
	@echo '$(HWLOC_LIBS) $(LIBEV_LIBS) $(CMOCKA_LIBS) -lpthread -lm'
END
	) || exit 1
	(cd "$build" && make -s mely/libmely.la) >"$scratch/log" 2>&1 ||
		{ cat "$scratch/log"; exit 1; }
	cd "$build" || exit 1
	mkdir "$scratch/bin"
	# Without a fault they must pass.
	for all in $unit_tests; do
		# shellcheck disable=SC2086
		if ! $unit_flags -c -o "$scratch/$all.o" "$src/tests/unit/$all.c" \
		    >"$scratch/log" 2>&1 ||
		    ! $unit_flags -o "$scratch/bin/$all" "$scratch/$all.o" \
		    mely/.libs/libmely.a $unit_libs >"$scratch/log" 2>&1 ||
		    ! "$scratch/bin/$all" >"$scratch/log" 2>&1; then
			cat "$scratch/log"
			echo "FAIL: tests/unit/$all fails without a fault"
			exit 1
		fi
	done
	export unit_tests unit_flags unit_libs
}

export -f plant hunt unit
export src build scratch schedules seed
[ "$mode" = hunt ] || unit_prepare

count=$(cat "$scratch/count")
: >"$scratch/chosen"
for ((i = 1; i <= count; i++)); do
	[ $(((i - 1) % sample)) -eq 0 ] || continue
	[ -z "$only" ] || head -n 1 "$scratch/$i.fault" | grep -qE -- "$only" || continue
	if [ "$mode" = hunt ] && [ "$schedules" -lt 1000000 ] &&
	    head -n 1 "$scratch/$i.fault" | grep -q '(rare)$'; then
		continue
	fi
	echo "$scratch/$i.fault" >>"$scratch/chosen"
done
total=$(wc -l <"$scratch/chosen")
[ "$total" -gt 0 ] || wrong "no fault of the list is chosen"
echo "$total of $count faults"
xargs -P "$jobs" -n 1 bash -c "$mode "'"$1"' "$mode" <"$scratch/chosen" | tee "$scratch/result"
bad=$(grep -c '^FAIL: ' "$scratch/result")
good=$(grep -cE '^(killed|unnoticed) ' "$scratch/result")
if [ "$mode" = hunt ]; then
	echo "mutants: $good of $total killed"
else
	echo "mutants: $good of $total go unnoticed by the unit tests"
fi
[ "$bad" -eq 0 ] && [ "$good" -eq "$total" ]
