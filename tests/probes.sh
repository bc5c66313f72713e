#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every probe that docs/probes.md lists has an example there, and exists in the library with the
# same number of arguments and a semaphore; the page lists every probe of the library. Skipped where
# the library has no probes.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${top_builddir:-$PWD}
page=$top/docs/probes.md
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

complain()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# documented PAGE: a line "NAME ARGUMENTS" for each probe of the table.
documented()
{
	sed -n 's/^| `mely:\([a-z_]*\)` | \([^|]*\) |.*/\1|\2/p' "$1" |
	    awk -F '|' '{ print $1, split($2, words, ",") }' | sort
}

# compiled LIBRARY: the same lines for the probes in it. A probe may have several places. The
# arguments are like 8@%rax -4@16(%rsp,%rbx,8).
compiled()
{
	readelf -n "$1" 2>/dev/null | awk '
	    /Provider:/ { ours = $2 == "mely" }
	    /Name:/ { name = $2 }
	    /Semaphore:/ && ours && $NF ~ /^0x0*$/ { print name, "without-semaphore" }
	    /Arguments:/ && ours { print name, gsub(/-?[1248]@/, "") }' | sort -u
}

# Without a shared library, look at a program that links the archive: in the archive itself the
# addresses of semaphores are not filled in.
library=
for file in "$build"/mely/.libs/libmely.so "$build"/examples/hello; do
	[ -e "$file" ] && { library=$file; break; }
done
[ -n "$library" ] || { echo "no library below $build/mely/.libs"; exit 1; }
# The compiler's package depends on binutils.
command -v readelf >/dev/null || { echo "no readelf (Debian package binutils)"; exit 2; }

compiled "$library" >"$scratch/compiled"
documented "$page" >"$scratch/documented"
[ "$(wc -l <"$scratch/documented")" -ge 7 ] || complain "probes.md lists too few probes"
if [ ! -s "$scratch/compiled" ]; then
	echo "FAIL: $library has no probes"
	exit 1
fi
diff "$scratch/documented" "$scratch/compiled" ||
    complain "name and number of arguments differ (< docs/probes.md, > $library)"
while read -r name _; do
	grep -q "^    bpftrace -e .*libmely.so:mely:$name " "$page" ||
	    complain "no example of $name"
done <"$scratch/documented"

# Canary: a missing argument is noticed.
sed 's/^| `mely:wake` | core, by/| `mely:wake` | core/' "$page" >"$scratch/page"
documented "$scratch/page" | diff -q - "$scratch/compiled" >/dev/null &&
    complain "a missing argument is not noticed"

[ "$failures" -eq 0 ] && echo "probes: $(wc -l <"$scratch/compiled"): as documented"
[ "$failures" -eq 0 ]
