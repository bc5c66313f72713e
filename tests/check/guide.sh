#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the guide's commands for the color checker against the libraries of the build.
# tests/docs-run.sh, which uses an installed library, skips them where the checker is not built.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
libraries=$top_builddir/mely/.libs
compat=$top_builddir/compat/.libs
ran=0
mkdir "$scratch/bin" "$scratch/blocks"
cp -r "$top_srcdir/examples" "$scratch/examples"
cp -r "$top_srcdir/compat/examples" "$scratch/compat"
printf '#!/bin/sh\necho %s\n' "-I$top_srcdir/compat/include/mely -L$compat -L$libraries \
-Wl,-rpath,$compat:$libraries -lmely-compat -lmely -pthread" >"$scratch/bin/mely-compat-config"
chmod +x "$scratch/bin/mely-compat-config"
printf '#!/bin/sh\necho %s\n' \
    "-I$top_srcdir/include -L$libraries -Wl,-rpath,$libraries -lmely" >"$scratch/bin/pkg-config"
chmod +x "$scratch/bin/pkg-config"
awk -v dir="$scratch/blocks" '
	/^```sh run if .*mely-check/ { name = sprintf("%s/%d", dir, ++n); next }
	/^```/ { name = "" }
	name { print >name }' "$top_srcdir/docs/coloring.md" "$top_srcdir/docs/porting.md"
for block in "$scratch"/blocks/*; do
	ran=$((ran + 1))
	(cd "$scratch" && PATH=$scratch/bin:$top_builddir/mely-check:$PATH \
	    MELY_CHECK_LIBRARY=$libraries/libmely-check.so bash -eu "$block") || {
		echo "FAIL: the commands"
		cat "$block"
		exit 1
	}
done
[ "$ran" -ge 3 ] || {
	echo "FAIL: $ran blocks about mely-check in the guide"
	exit 1
}
echo "$ran blocks: fine"
