#!/bin/bash
# SPDX-License-Identifier: MIT
# The end-to-end tests of sws-load against sws: load.sh [PATH-TO-SWS-LOAD PATH-TO-SWS]. Skipped
# without python3.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build}"
load=${1:-$top_builddir/webserver/sws-load}
sws=${2:-$top_builddir/webserver/sws}
if ! command -v python3 >/dev/null; then
	echo "python3 not found: install python3" >&2
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$top_srcdir/tests/webserver/load/load_test.py" "$load" "$sws"
