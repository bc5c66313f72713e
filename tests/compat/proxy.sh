#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The web proxy of compat/examples on 1, 2 and 8 workers, with colors and in one color:
# proxy_test.py.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
proxy=${top_builddir:-$(pwd)}/compat/examples/webproxy/webproxy
# Right to skip: a plain make check needs no python3; ./check installs it.
if ! command -v python3 >/dev/null; then
	echo "python3 not found: install python3" >&2
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 MELY_PIN=no
# The proxy calls exit in a callback, which parks the runtime's threads without joining them.
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0"
status=0
runs="1: 1:--one-color 2: 2:--one-color 8: 8:--one-color"
# With a sanitizer, half of them.
[ -z "${INSTRUMENT_FLAGS:-}" ] || [ "${MELY_TEST_LONG:-0}" = 1 ] || runs="1:--one-color 2: 8:"
for run in $runs; do
	cores=${run%:*} option=${run#*:}
	MELY_CORES=$cores timeout 240 python3 "$top_srcdir/tests/compat/proxy_test.py" \
	    "$proxy" ${option:+"$option"} || status=1
	echo "done: webproxy $option on $cores"
done
exit $status
