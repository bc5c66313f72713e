#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A handler that waits for the checker's report is not reported as a stall: quiet/quiet.c.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build/color-check}"
library=$top_builddir/mely/.libs/libmely-check.a
[ -e "$library" ] || { echo "no $library: configure with --enable-color-check"; exit 2; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# shellcheck disable=SC2086 # flags are words
${CC:-clang} -std=gnu11 -g -O1 -Wall -Wextra ${INSTRUMENT_FLAGS:--fsanitize=thread} \
    -I"$top_srcdir/include" -I"$top_srcdir/tests/check" -o "$scratch/quiet" \
    "$top_srcdir/tests/check/quiet/quiet.c" "$library" -lhwloc -lev -lpthread ||
    { echo "FAIL: does not build"; exit 1; }
if TSAN_OPTIONS="io_sync=0:exitcode=0:atexit_sleep_ms=0:report_thread_leaks=0" MELY_CORES=2 \
    timeout 120 "$scratch/quiet" </dev/null; then
	echo "ok quiet"
else
	echo "FAIL quiet: status $?"
	exit 1
fi
