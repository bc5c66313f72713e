#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The protocols that cross cores, as models small enough to be searched whole (spin). Each must
# hold, and must fail when one of its faults is put in: FAULT_1, FAULT_2... as its head lists them.
set -u

usage()
{
	cat <<'END'
usage: model.sh [--record] [MODEL...]

Verify the models of this directory (all of them: lock owner park outbox row heads
cancel monitor colortab slots search moved domains), and that each of their faults is
found. A search is not repeated if the file "verified" has its digest: nothing it
depends on has changed since it succeeded. The searches of the model lock are always
repeated, and MELY_TEST_LONG=1 repeats all.

  --record   repeat all searches and write their digests to "verified"
  --help     print this text
  --version  print the version of spin

Exit status: 0 all is as it must be, 1 not, 2 a wrong argument, 77 spin is not installed.
END
}

# The models: name, number of faults, and the least number of states, so that a model that stops
# early does not pass.
models="lock:3:100000 owner:6:100000 park:5:20000 outbox:7:20000 row:2:1000
	heads:5:10000 cancel:8:20000 monitor:5:100000 colortab:6:100000 slots:5:10000
	search:4:100000 moved:7:100000 domains:5:100000"

here=$(cd "$(dirname "$0")" && pwd)
wanted=
record=no
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage; exit 0 ;;
	--version) exec spin -V ;;
	--record) record=yes; shift ;;
	*)
		case $(echo $models) in
		*"$1:"*) wanted="$wanted $1"; shift ;;
		*) echo "model.sh: no model $1 (try --help)" >&2; exit 2 ;;
		esac ;;
	esac
done
if [ "$record" = yes ] && [ -n "$wanted" ]; then
	echo "model.sh: --record takes no model (try --help)" >&2
	exit 2
fi
if ! command -v spin >/dev/null 2>&1; then
	# Right to skip: no other test needs spin, and ./check, which CI runs, installs it.
	echo "skipped: spin is not installed (Debian package spin)"
	exit 77
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# A digest covers all that a search depends on.
verified=$here/verified
version=$(spin -V)
digest()
{
	{ cat "$here/$1.pml" "$here/memory.h" "$here/model.sh"; echo "$version $*"; } | sha256sum |
	    cut -d ' ' -f 1
}

# unchanged NAME FAULT FLOOR: did this search succeed before?
unchanged()
{
	[ "$record" = no ] && [ "${MELY_TEST_LONG:-0}" != 1 ] && [ "$1" != lock ] &&
	    grep -qx "$1 $2 $(digest "$@")" "$verified"
}

# verify NAME FAULT FLOOR: one search; prints what is wrong, or "ok ...".
verify()
{
	if unchanged "$@"; then
		echo "ok $1: fault $2: unchanged since it was verified"
		return
	fi
	search "$@" >"$scratch/$1.$2.out"
	cat "$scratch/$1.$2.out"
	! grep -q '^ok ' "$scratch/$1.$2.out" ||
	    echo "$1 $2 $(digest "$@")" >>"$scratch/digests"
}

# search NAME FAULT FLOOR: verify in a directory of its own, without the digests.
search()
{
	local name=$1 fault=$2 floor=$3 dir states what= flags="-O1 -DCOLLAPSE"
	dir=$scratch/$name.$fault
	mkdir "$dir" && cd "$dir" || return 1
	# A fault is found soon: what counts is how long the compiler takes.
	[ "$fault" = 0 ] || { what=-DFAULT_$fault; flags=-O0; }
	if ! spin -a $what "$here/$name.pml" >spin.out 2>&1 ||
	    ! cc $flags -w -DSAFETY -DVECTORSZ=2048 -o pan pan.c >cc.out 2>&1; then
		cat spin.out cc.out
		echo "FAIL: $name: no verifier could be made${what:+ with $what}"
		return 1
	fi
	./pan -m1000000 -w20 >pan.out 2>&1
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.out)
	if grep -qE 'max search depth too small|violated \(last\[[0-9]+\]<' pan.out ||
	    [ -z "$states" ]; then
		cat pan.out
		echo "FAIL: $name: not searched whole${what:+ with $what}"
	elif [ "$fault" != 0 ] && grep -q 'errors: 1$' pan.out; then
		echo "ok $name: FAULT_$fault is found: $(sed -n 's/^pan:1: //p' pan.out)"
	elif [ "$fault" != 0 ]; then
		echo "FAIL: $name: FAULT_$fault is not found"
	elif ! grep -q 'errors: 0$' pan.out; then
		cat pan.out
		spin -k "$name.pml.trail" -p -g "$here/$name.pml" 2>/dev/null | tail -n 60
		echo "FAIL: $name does not hold"
	elif [ "$states" -lt "$floor" ]; then
		cat pan.out
		echo "FAIL: $name: only $states states, there should be $floor"
	else
		echo "ok $name: $states states, no error"
	fi
	cd "$scratch" && rm -rf "$dir"
}
export -f verify unchanged search digest
export here scratch verified version record

for model in $models; do
	IFS=: read -r name faults floor <<<"$model"
	case " ${wanted:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	listed=$(grep -cE '^ \*   FAULT_[0-9]+ ' "$here/$name.pml")
	if [ "$listed" -ne "$faults" ]; then
		echo "FAIL: $name.pml lists $listed faults, here it is $faults"
		exit 1
	fi
	for fault in $(seq 0 "$faults"); do
		echo "$name $fault $floor"
	done
done >"$scratch/list" || { cat "$scratch/list"; exit 1; }
total=$(wc -l <"$scratch/list")

xargs -P "$(nproc)" -L 1 bash -c 'verify "$@"' verify <"$scratch/list" | tee "$scratch/log"
well=$(grep -c '^ok ' "$scratch/log")
echo "models: $well of $total searches as they must be"
[ "$well" -eq "$total" ] || exit 1
[ "$record" = no ] || sort "$scratch/digests" >"$verified"
