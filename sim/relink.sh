#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A simulation with other versions of some of the library's sources, for trying a change without
# touching the tree:
#     sim/relink.sh BUILD OUTPUT [-I DIRECTORY] FILE.c...
# BUILD is a build tree with sim/mely-sim and sim/flags made (make sim/mely-sim sim/flags). Each
# FILE.c takes the place of the source of that name in mely/. When it is in a copy of mely/, the
# headers of the copy come before the tree's, and so do those in DIRECTORY. A changed header needs
# all sources that see it.
set -eu

if [ $# -lt 3 ]; then
	sed -n '4,9s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
build=$1
output=$2
shift 2
include=()
if [ "$1" = -I ]; then
	include=(-I "$2")
	shift 2
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
output=$(realpath -m "$output")
files=()
for file; do
	files+=("$(realpath "$file")")
done
cd "$build"
flags=$(cat sim/flags)
objects=()
for file in "${files[@]}"; do
	object=$scratch/$(basename "$file" .c).o
	# The copy of mely/ that the file is in begins where its rooms are.
	root=$(dirname "$file")
	while [ "$root" != / ] && [ ! -e "$root/base/atomic.h" ]; do
		root=$(dirname "$root")
	done
	# The flags are a command line, and are to be split.
	# shellcheck disable=SC2086
	${flags%% *} -iquote "$root" "${include[@]}" ${flags#* } -c "$file" \
	    -o "$object"
	objects+=("$object")
done
# The instruments of the sources are the simulation's own: none is linked.
${flags%% *} -o "$output" sim/*mely_sim-*.o "${objects[@]}" sim/libsim.a -lhwloc
