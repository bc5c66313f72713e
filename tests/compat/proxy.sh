#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The web proxies of compat/examples on 1, 2 and 8 workers: proxy_test.py.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
if ! command -v python3 >/dev/null; then
	echo "python3 not found: install python3" >&2
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 MELY_PIN=no
# They end by exit in a callback: then nobody joins the threads of the runtime, which are parked.
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0"
status=0
for cores in 1 2 8; do
	for program in webproxy webproxy_colored; do
		MELY_CORES=$cores timeout 240 python3 "$top_srcdir/tests/compat/proxy_test.py" \
		    "${top_builddir:-$(pwd)}/compat/examples/$program" || status=1
		echo "done: $program on $cores"
	done
done
exit $status
