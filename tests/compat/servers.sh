# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For proxy.sh and sws.sh, which source it: servers of compat/examples on 1, 2 and 8 workers.

# test_servers TEST PROGRAM...: TEST, in Python, gets a server. The test's exit.
test_servers()
{
	local test=$top_srcdir/tests/compat/$1 status=0 cores program
	shift
	# Right to skip: a plain make check needs no python3; ./check installs it.
	if ! command -v python3 >/dev/null; then
		echo "python3 not found: install python3" >&2
		exit 77
	fi
	export PYTHONDONTWRITEBYTECODE=1 MELY_PIN=no
	# They end by exit in a callback: then nobody joins the threads of the runtime, which are
	# parked.
	export TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0"
	for cores in 1 2 8; do
		for program; do
			MELY_CORES=$cores timeout 240 python3 "$test" \
			    "${top_builddir:-$(pwd)}/compat/examples/$program" || status=1
			echo "done: $program on $cores"
		done
	done
	exit $status
}
