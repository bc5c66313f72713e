#!/bin/bash
# SPDX-License-Identifier: MIT
# The live socket and mely-top: live_test.py.
# It is right to skip, as in tests/webserver/sws.sh: ./check, which CI runs, installs python3.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$top_srcdir/tests/live/live_test.py"
