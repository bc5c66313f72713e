#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The checker of traces refuses what it must, and mely-gantt draws what is in a trace.
set -eu
here=$top_srcdir/tests/trace
python3 "$here/check.py" --canaries "$here/example.json"
exec python3 "$here/gantt_test.py" "$top_builddir/mely-gantt/mely-gantt"
