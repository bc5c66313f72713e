#!/bin/bash
# SPDX-License-Identifier: MIT
# sws under slow clients: slow.sh [PATH-TO-SWS]. Skipped without python3 or slowhttptest.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
sws=${1:-${SWS:-${top_builddir:-$top_srcdir/build}/webserver/sws}}
if ! command -v python3 >/dev/null; then
	echo "python3 not found: install python3" >&2
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$top_srcdir/tests/webserver/slow_test.py" "$sws"
