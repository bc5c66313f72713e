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
output=$(mktemp -d) || exit 1
trap 'rm -rf "$output"' EXIT
tests=()

# begin NAME ARGUMENT...: they wait most of the time, so all run at once.
begin()
{
	local name=$1
	shift
	tests+=("$name")
	(
		"$@" >"$output/$name" 2>&1
		echo $? >"$output/$name.status"
	) &
}

python=$top_srcdir/tests/webserver
begin http python3 "$python/sws_http_test.py" "$sws"
begin conn python3 "$python/sws_conn_test.py" "$sws"
begin config python3 "$python/sws_config_test.py" "$sws"
begin listen python3 "$python/sws_listen_test.py" "$sws"
begin limits python3 "$python/sws_limits_test.py" "$sws"
begin scarce python3 "$python/sws_scarce_test.py" "$sws"
begin safe python3 "$python/sws_safe_test.py" "$sws"
begin log python3 "$python/sws_log_test.py" "$sws"
begin metrics python3 "$python/sws_metrics_test.py" "$sws"
begin proxy python3 "$python/sws_proxy_test.py" "$sws"
begin tls python3 "$python/sws_tls_test.py" "$sws"
begin life python3 "$python/sws_life_test.py" "$sws"
begin h2 python3 "$python/h2_test.py" "$sws"
begin h2-frames python3 "$python/h2_frames_test.py" "$sws"
begin h2-floods python3 "$python/h2_floods_test.py" "$sws"
begin many python3 "$python/sws_many_test.py" "$sws"
begin content python3 "$python/sws_content_test.py" "$sws"
# The same requests with TLS.
if ! "$sws" --tls-certificate none "$output" 2>&1 | grep -q 'without OpenSSL' &&
    command -v openssl >/dev/null; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
	    -keyout "$output/key" -out "$output/cert" 2>/dev/null || exit 1
	for test in sws_http conformance; do
		begin "$test-tls" env SWS_TLS="$output/cert,$output/key" \
		    python3 "$python/${test}_test.py" "$sws"
	done
fi
for coloring in paper file; do
	begin "coloring-$coloring" env SWS_ARGS="--coloring $coloring" \
	    python3 "$python/sws_http_test.py" "$sws"
done
wait
status=0
for test in "${tests[@]}"; do
	echo "== $test"
	cat "$output/$test"
	case $(cat "$output/$test.status") in
	0 | 77) ;; # 77: a tool is missing, as it says
	*) status=1 ;;
	esac
done
exit $status
