#!/bin/bash
# SPDX-License-Identifier: MIT
# The end-to-end tests of sws: sws.sh [PATH-TO-SWS]. Skipped without python3 or curl.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
sws=${1:-${SWS:-${top_builddir:-$top_srcdir/build}/webserver/sws}}
for tool in python3 curl; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool not found: install $tool" >&2
		exit 77
	fi
done
export PYTHONDONTWRITEBYTECODE=1
status=0
for test in sws_http_test.py sws_conn_test.py sws_config_test.py; do
	echo "== $test"
	python3 "$top_srcdir/tests/webserver/$test" "$sws" || status=1
done
exit $status
